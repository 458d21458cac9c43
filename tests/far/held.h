/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* held.h -- packets that wait for their time; a heap */

#ifndef TESTS_FAR_HELD_H
#define TESTS_FAR_HELD_H 1

#include <stddef.h>
#include <stdint.h>

struct packet {
	int64_t due; /* ns */
	uint64_t number;
	size_t len;
	uint8_t *data;
};

struct held {
	struct packet *heap; /* the first one is due next */
	size_t n;
	size_t room;
	uint64_t number; /* packets due at the same time leave as they came */
};

/* Keeps a copy; without memory, not. */
void held_add(struct held *h, int64_t due, const void *data, size_t len);
/* The next one that is due, whose data is now the caller's; data NULL: there is none. */
struct packet held_take(struct held *h, int64_t now);
/* When that will be; -1: there is none. */
int64_t held_next(const struct held *h);
/* Nothing more is to come: what waits goes nowhere. */
void held_free(struct held *h);

#endif /* TESTS_FAR_HELD_H */
