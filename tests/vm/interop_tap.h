/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop_tap.h -- a relay between client and server that notes what it carries
 *
 * One connection. The client connects to the tap's port instead of the server's.
 */

#ifndef TESTS_INTEROP_TAP_H
#define TESTS_INTEROP_TAP_H 1

#include <pthread.h>
#include <stdbool.h>

#include "pair_env.h"

#define TAP_SIZE ((size_t)4 << 20)

enum { FROM_CLIENT, FROM_SERVER };

struct tap {
	char port[PORT_LEN];
	char server_port[PORT_LEN];
	int door;
	pthread_t thread;
	struct {
		uint8_t *p;
		size_t len;
		size_t passed; /* on */
	} said[2];
	/* what the server had said when the client said its first FPDU */
	size_t server_first;
};

void tap_open(struct tap *t, const char *server_port);
/* Both sides have closed. */
void tap_finish(struct tap *t);
void tap_free(struct tap *t);

/* The MPA frame at the start: flags, revision, and its length with private data */
struct tap_frame {
	const char *key;
	unsigned flags;
	unsigned revision;
	unsigned ird; /* with the bits above, as on the wire */
	unsigned ord;
	size_t size;
};

struct tap_frame tap_frame(const struct tap *t, int from);
/* All FPDUs behind it have the right CRC; how many. */
int tap_check_crcs(const struct tap *t, int from);

#endif /* TESTS_INTEROP_TAP_H */
