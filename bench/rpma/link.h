/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * link.h -- connections between the two processes of a benchmark of the library
 *
 * The initiator (the process that the user starts) measures. The target, started by
 * it, offers one region of memory and accepts connections. All is done through
 * librpma.h.
 */

#ifndef BENCH_RPMA_LINK_H
#define BENCH_RPMA_LINK_H 1

#include "common/common.h"
#include "lib/bench.h"

struct link {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dst; /* the target's region */
};

/* What the target's own thread does while the library serves the initiator. */
#define TARGET_POLL "poll"   /* polls the completion queue of the first connection */
#define TARGET_BLOCK "block" /* waits at it */
#define TARGET_IDLE "idle"   /* nothing */

struct target {
	struct helper helper;
	char port[WORD];
};

/* file: a directory, the region is a file in it; or NULL, it is plain memory. Returns
 * when it listens. */
struct target target_start(const char *mode, uint64_t size, unsigned conns, const char *dir);
/* Until the target has all its connections. */
void target_up(struct target *t);
void target_end(struct target *t);
/* The target's side. */
void target_run(char **argv);

struct rpma_peer *peer_open(void);
/* Listens at all addresses, and tells the parent the port. */
struct rpma_ep *listen_and_tell(struct rpma_peer *peer);
/* The i-th connection, with a send queue of depth requests. */
struct link link_open(struct rpma_peer *peer, const char *port, unsigned i, uint32_t depth);
void link_expect(struct rpma_conn *conn, enum rpma_conn_event expected);
/* Takes a completion, which has to be good; false: none is there. */
bool link_done(const struct link *l);
/* Until there is one. */
void link_await(const struct link *l, bool poll);
bool is_poll(const char *word);

#endif /* BENCH_RPMA_LINK_H */
