/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_wait.c -- see pair_wait.h */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "pair_env.h"
#include "pair_wait.h"

/* ---- the connections that are attended ----------------------------------- */

enum { ATTENDED_MAX = 256, KEPT_MAX = 4 };

static struct attended {
	struct rpma_conn *conn;
	int fd;
	int kept; /* events taken and not asked for yet */
	enum rpma_conn_event event[KEPT_MAX];
} attended[ATTENDED_MAX];

static struct attended *attended_at(const struct rpma_conn *conn)
{
	for (int i = 0; i < ATTENDED_MAX; i++)
		if (attended[i].conn == conn)
			return &attended[i];
	return NULL;
}

void attend(struct rpma_conn *conn)
{
	struct attended *a = attended_at(NULL);

	if (!traits()->device)
		return;
	assert_non_null(a);
	*a = (struct attended){ .conn = conn };
	assert_ok(rpma_conn_get_event_fd(conn, &a->fd));
}

int(conn_delete)(struct rpma_conn **conn_ptr)
{
	struct attended *a = conn_ptr && *conn_ptr ? attended_at(*conn_ptr) : NULL;

	if (a)
		a->conn = NULL;
	return (rpma_conn_delete)(conn_ptr);
}

/* Takes what there is for all but the one with this descriptor. */
static void attend_others(const struct pollfd *p, int n, int fd)
{
	for (int i = 0; i < n; i++) {
		struct attended *a = &attended[i];

		if (p[i].revents == 0 || p[i].fd == fd || a->kept == KEPT_MAX)
			continue;
		assert_ok(rpma_conn_next_event(a->conn, &a->event[a->kept++]));
	}
}

/* ---- descriptors --------------------------------------------------------- */

static int poll_in(int fd, int timeout_ms)
{
	struct pollfd p[ATTENDED_MAX + 1];
	int64_t end = clock_ms() + timeout_ms;
	int n;

	do {
		for (int i = 0; i < ATTENDED_MAX; i++)
			p[i] = (struct pollfd){
				.fd = attended[i].conn ? attended[i].fd : -1,
				.events = POLLIN,
			};
		p[ATTENDED_MAX] = (struct pollfd){ .fd = fd, .events = POLLIN };
		n = poll(p, ATTENDED_MAX + 1, timeout_ms == 0 ? 0 : (int)(end - clock_ms()));
		if (n > 0 && timeout_ms != 0)
			attend_others(p, ATTENDED_MAX, fd);
	} while ((n < 0 && errno == EINTR && clock_ms() < end) ||
		 (n > 0 && timeout_ms != 0 && p[ATTENDED_MAX].revents == 0 && clock_ms() < end));
	assert_true((p[ATTENDED_MAX].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0);
	return p[ATTENDED_MAX].revents != 0;
}

void wait_fd_at(int fd, const char *where)
{
	if (poll_in(fd, test_timeout_ms()) != 1)
		fail_msg("%s: nothing came in %d ms", where, test_timeout_ms());
}

bool readable(int fd)
{
	return poll_in(fd, 0) == 1;
}

void set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	assert_true(flags >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
}

/* ---- events -------------------------------------------------------------- */

static int event_fd(const struct rpma_conn *conn)
{
	int fd = -1;

	assert_ok(rpma_conn_get_event_fd(conn, &fd));
	return fd;
}

enum rpma_conn_event next_event_at(struct rpma_conn *conn, const char *where)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct attended *a = attended_at(conn);

	if (a && a->kept > 0) {
		event = a->event[0];
		memmove(a->event, a->event + 1, (size_t)--a->kept * sizeof(event));
		return event;
	}
	wait_fd_at(event_fd(conn), where);
	check_code(0, rpma_conn_next_event(conn, &event), "rpma_conn_next_event", where);
	return event;
}

void expect_event_at(struct rpma_conn *conn, enum rpma_conn_event event, const char *where)
{
	enum rpma_conn_event got = next_event_at(conn, where);

	if (got != event)
		fail_msg("%s: event '%s', expected '%s'", where, rpma_utils_conn_event_2str(got),
			rpma_utils_conn_event_2str(event));
}

void expect_end_at(struct rpma_conn *conn, const char *where)
{
	enum rpma_conn_event got = next_event_at(conn, where);

	if (got != RPMA_CONN_CLOSED && got != RPMA_CONN_LOST)
		fail_msg(
			"%s: event '%s', expected the end", where, rpma_utils_conn_event_2str(got));
}

void expect_broken_at(struct rpma_conn *conn, const char *where)
{
	if (!traits()->tells_errors)
		(void)rpma_conn_disconnect(conn);
	expect_end_at(conn, where);
}

void expect_no_event_at(struct rpma_conn *conn, const char *where)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct attended *a = attended_at(conn);

	assert_false(a && a->kept > 0);
	set_nonblock(event_fd(conn));
	check_code(
		RPMA_E_NO_EVENT, rpma_conn_next_event(conn, &event), "rpma_conn_next_event", where);
	assert_int_equal(event, RPMA_CONN_UNDEFINED);
}

/* ---- completions --------------------------------------------------------- */

static void wait_cq(struct side *side, struct rpma_cq *cq, const char *where)
{
	struct rpma_cq *which = NULL;
	int fd = -1;

	assert_ok(rpma_cq_get_fd(cq, &fd));
	wait_fd_at(fd, where);
	if (side->shared)
		check_code(0, rpma_conn_wait(side->conn, 0, &which, NULL), "rpma_conn_wait", where);
	else
		check_code(0, rpma_cq_wait(cq), "rpma_cq_wait", where);
}

void next_wc_at(struct side *side, struct rpma_cq *cq, struct ibv_wc *wc, const char *where)
{
	for (;;) {
		int ret = rpma_cq_get_wc(cq, 1, wc, NULL);

		if (ret != RPMA_E_NO_COMPLETION) {
			check_code(0, ret, "rpma_cq_get_wc", where);
			return;
		}
		wait_cq(side, cq, where);
	}
}

static void check_wc(const struct side *side, const struct ibv_wc *wc, const void *ctx,
	enum ibv_wc_status status, const char *where)
{
	if (wc->wr_id != (uint64_t)(uintptr_t)ctx || wc->status != status)
		fail_msg("%s: completion of %#lx with status %d, expected %#lx with %d", where,
			(unsigned long)wc->wr_id, wc->status, (unsigned long)(uintptr_t)ctx,
			status);
	assert_int_equal(wc->qp_num, side->qp_num);
}

void expect_status_at(
	struct side *side, const void *ctx, enum ibv_wc_status status, const char *where)
{
	struct ibv_wc wc = { 0 };

	next_wc_at(side, side->cq, &wc, where);
	check_wc(side, &wc, ctx, status, where);
}

void expect_failed_at(struct side *side, struct rpma_cq *cq, const void *ctx,
	enum ibv_wc_status status, const char *where)
{
	struct ibv_wc wc = { 0 };

	next_wc_at(side, cq, &wc, where);
	if (!traits()->exact_status && wc.status != IBV_WC_SUCCESS)
		status = wc.status;
	check_wc(side, &wc, ctx, status, where);
}

void expect_done_at(struct side *side, const void *ctx, const char *where)
{
	expect_status_at(side, ctx, IBV_WC_SUCCESS, where);
}

void expect_recv_status_at(
	struct side *side, const void *ctx, enum ibv_wc_status status, const char *where)
{
	struct ibv_wc wc = { 0 };

	next_wc_at(side, side->rcq, &wc, where);
	check_wc(side, &wc, ctx, status, where);
}

struct ibv_wc expect_recv_at(struct side *side, const void *ctx, const char *where)
{
	struct ibv_wc wc = { 0 };

	next_wc_at(side, side->rcq, &wc, where);
	check_wc(side, &wc, ctx, IBV_WC_SUCCESS, where);
	assert_true(wc.opcode & IBV_WC_RECV);
	return wc;
}
