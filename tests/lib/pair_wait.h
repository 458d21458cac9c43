/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_wait.h -- waiting for events and completions, with a deadline
 *
 * Every wait polls the descriptor first, so that a library that forgets to tell
 * fails the test at the deadline and does not hang it.
 */

#ifndef TESTS_PAIR_WAIT_H
#define TESTS_PAIR_WAIT_H 1

#include <stdbool.h>

#include "pair.h"

#define wait_fd(fd) wait_fd_at((fd), HERE)
void wait_fd_at(int fd, const char *where);
/* Something to read, now? */
bool readable(int fd);
void set_nonblock(int fd);

/* From now on this connection's events are taken while others are waited for. */
void attend(struct rpma_conn *conn);

/* ---- events ------------------------------------------------------------- */

#define next_event(conn) next_event_at((conn), HERE)
enum rpma_conn_event next_event_at(struct rpma_conn *conn, const char *where);
#define expect_event(conn, event) expect_event_at((conn), (event), HERE)
void expect_event_at(struct rpma_conn *conn, enum rpma_conn_event event, const char *where);
/* CLOSED or LOST: the end, where nobody says how it came. */
#define expect_end(conn) expect_end_at((conn), HERE)
void expect_end_at(struct rpma_conn *conn, const char *where);
/* The same after an error, which some providers tell only to those who ask for
 * the end. */
#define expect_broken(conn) expect_broken_at((conn), HERE)
void expect_broken_at(struct rpma_conn *conn, const char *where);
/* Nothing is queued. Leaves the descriptor non-blocking. */
#define expect_no_event(conn) expect_no_event_at((conn), HERE)
void expect_no_event_at(struct rpma_conn *conn, const char *where);

/* ---- completions -------------------------------------------------------- */

#define next_wc(side, cq, wc) next_wc_at((side), (cq), (wc), HERE)
void next_wc_at(struct side *side, struct rpma_cq *cq, struct ibv_wc *wc, const char *where);

/* The next completion of requests is this one, with success. */
#define expect_done(side, ctx) expect_done_at((side), (ctx), HERE)
void expect_done_at(struct side *side, const void *ctx, const char *where);
/* ... is this one, with this status. */
#define expect_status(side, ctx, status) expect_status_at((side), (ctx), (status), HERE)
void expect_status_at(
	struct side *side, const void *ctx, enum ibv_wc_status status, const char *where);
/* The next completion of receives is this one, with success; returns it. */
#define expect_recv(side, ctx) expect_recv_at((side), (ctx), HERE)
struct ibv_wc expect_recv_at(struct side *side, const void *ctx, const char *where);
#define expect_recv_status(side, ctx, status) expect_recv_status_at((side), (ctx), (status), HERE)
void expect_recv_status_at(
	struct side *side, const void *ctx, enum ibv_wc_status status, const char *where);
/* The next completion is this one, with this status or, where the provider does not
 * have it exact, any other error. */
#define expect_failed(side, ctx, status) expect_failed_at((side), (side)->cq, (ctx), (status), HERE)
#define expect_recv_failed(side, ctx, status)                                                      \
	expect_failed_at((side), (side)->rcq, (ctx), (status), HERE)
void expect_failed_at(struct side *side, struct rpma_cq *cq, const void *ctx,
	enum ibv_wc_status status, const char *where);
#define expect_no_wc(cq)                                                                           \
	assert_rpma(RPMA_E_NO_COMPLETION, rpma_cq_get_wc((cq), 1, &(struct ibv_wc){ 0 }, NULL))

#endif /* TESTS_PAIR_WAIT_H */
