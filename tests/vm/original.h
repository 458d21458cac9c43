/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original.h -- a program that says what it sees of the library, once with this one and
 * once with the original; guest/original runs it and compares
 *
 * Two processes, a server and a client, go through the same scenarios at the same time,
 * each with the library that it is given. What they see goes to their traces, a line
 * each: KEY = VALUE. In it is nothing that differs from one run to the next.
 *
 * Beside the library they can only wait for each other: meet().
 */

#ifndef TESTS_VM_ORIGINAL_H
#define TESTS_VM_ORIGINAL_H 1

#include <librpma.h>

#include <stdlib.h>

enum role { SERVER, CLIENT };

struct scenario {
	const char *name;
	void (*play)(void); /* on both sides, see role */
	bool not_iwarp;	    /* what comes of it there is a matter of chance */
};

#define SCENARIO(function) .name = #function, .play = (function)

extern const struct scenario conn_scenarios[], ends_scenarios[], data_scenarios[],
	queue_scenarios[], fail_scenarios[], edge_scenarios[];

/* ---- original.c ---------------------------------------------------------- */

extern enum role role;
extern const char *address, *port; /* the server's */

/* Returns when the other side is there too. */
void meet(void);
/* Likewise, and whether it is so on both sides */
bool agree(bool so);

/* ---- original_say.c: the trace -------------------------------------------- */

void say(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_result(const char *key, int ret);
#define TELL(call) say_result(#call, (call))

/* What the scenario needs, and does not look at: told only when it fails, and the end. */
void must(const char *key, int ret);
#define MUST(call) must(#call, (call))

/* Waits for it. */
void say_event(struct rpma_conn *conn);
/* Likewise, but not long: for what may never come */
#define SOON_MS 5000
void say_event_soon(struct rpma_conn *conn);
/* Waits for a completion, not long either. conn: whose it has to be. */
void say_wc(const char *key, struct rpma_cq *cq, struct rpma_conn *conn);
void say_empty(struct rpma_cq *cq);
/* How much of it is a pattern from the start, and what comes then */
void say_data(const char *key, const struct rpma_conn_private_data *data);
void say_memory(const char *key, const char *mem, size_t len, char first);

/* ---- original_end.c: this side of connections ------------------------------ */

#define MEM_SIZE 8192
#define ALL_USAGE 0xff

#define ALWAYS RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR
#define CTX(n) ((const void *)(uintptr_t)(n))

struct end {
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_ep *ep; /* the server's */
	char *mem;	    /* MEM_SIZE, zeros */
	struct rpma_mr_local *mr;

	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_cq *rcq;	    /* of receives; the same unless there is another */
	struct rpma_mr_remote *far; /* the other end's mr */
	struct rpma_peer_cfg *far_cfg;
};

void fill(char *mem, size_t len, char first); /* with a pattern, never 0 */

/* With memory registered for usage. The server listens when this returns, on both sides. */
void end_open(struct end *e, int usage);
void end_close(struct end *e);
bool is_iwarp(struct ibv_context *device);

struct rpma_conn_req *end_request(struct end *e, const struct rpma_conn_cfg *cfg);
/* Until it is established, each with the other's descriptors then. */
void end_start(struct end *e, struct rpma_conn_req *req);
/* Both, with the defaults */
void end_connect(struct end *e);
/* The client disconnects, and both say their events. */
void end_disconnect(struct end *e);
void end_open_connected(struct end *e);
void end_all(struct end *e);
/* As it is */
void end_drop(struct end *e);

#endif /* TESTS_VM_ORIGINAL_H */
