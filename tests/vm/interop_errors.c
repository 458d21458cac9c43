/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop_errors.c -- requests that the other side must refuse; see interop.h
 *
 * Near's request is wrong. Far's provider tells why by the code of its Terminate; a
 * near that is siw learns no more than that the connection has ended.
 */

#include "interop.h"

#define LEN 64
#define SIZE 8192

/* Line 0 is where it happens; line 1 is not to notice. */
static void stage_open(struct duo *d, void **state, int far_usage)
{
	duo_open(d, role_of(state));
	for (int i = 0; i < LINES; i++)
		line_connect(d, i, 0, 0);
	line_far_region(d, 0, far_usage, SIZE);
}

static void check_other(struct duo *d)
{
	struct xfer x = line_xfer(d, 1, LEN, CTX(5));

	fill(x.local->data, LEN, 50);
	op_post(&ops[OP_WRITE], &x);
	expect_done(x.by, CTX(5));
	arrive(x.by);
	assert_far_filled(d, 1, LEN, 50);
}

/* Both sides hear of the end, and a receive of near's is flushed. */
static void expect_the_end(struct duo *d)
{
	expect_broken(d->line[0].side.conn);
	expect_recv_status(&d->line[0].side, CTX(90), IBV_WC_WR_FLUSH_ERR);
	far_tell(d, "broken 0\n");
	far_answer(d, "broken", NULL);
}

/* Who speaks of Terminates is tcp, at either side. */
static void expect_terminate(struct duo *d, const char *by_siw, const char *by_tcp)
{
	char code[CHILD_LINE];

	if (near_is("tcp"))
		terminate_near(d, code);
	else
		terminate_far(d, code);
	print_message("Terminate %s\n", code);
	assert_string_equal(code, far_is("verbs") ? by_siw : by_tcp);
}

static void stage_close(struct duo *d, bool ended)
{
	check_other(d);
	if (ended)
		line_drop(d, 0);
	else
		line_close(d, 0);
	line_close(d, 1);
	duo_close(d);
}

/* ---- memory ------------------------------------------------------------------ */

struct wrong {
	int op;
	bool stale;
	size_t off;
	int usage;	    /* of far's region */
	const char *by_siw; /* Terminate; NULL: it does not mind */
	const char *by_tcp;
};

/* Far registers anew what the face that near goes on to use stands for. */
static void make_stale(struct duo *d)
{
	struct region *r = &d->line[0].far;
	struct rpma_mr_remote *stale = r->remote;

	r->remote = NULL;
	line_far_region(d, 0, USAGE_ALL, SIZE);
	assert_ok(rpma_mr_remote_delete(&r->remote));
	r->remote = stale;
}

/* What completes a request that was refused, and is known to be */
static enum ibv_wc_status status_of_refused(int op)
{
	if (op == OP_WRITE || op == OP_ATOMIC_WRITE)
		return IBV_WC_SUCCESS; /* it was sent */
	return near_is("tcp") ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR;
}

static void refused(void **state, const struct wrong *w)
{
	struct duo d;
	struct ibv_wc wc = { 0 };
	struct xfer x;

	stage_open(&d, state, w->usage);
	x = line_xfer(&d, 0, ops[w->op].unit ? ops[w->op].unit : LEN, CTX(1));
	x.remote_off = w->off;
	post_recv(x.by, x.local, LEN, CTX(90));
	if (w->stale)
		make_stale(&d);
	op_post(&ops[w->op], &x);
	next_wc(x.by, x.by->cq, &wc);
	print_message("completes with status %d\n", wc.status);
	if (far_is("verbs") && w->by_siw == NULL) {
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		stage_close(&d, false);
		return;
	}
	assert_int_equal(wc.status, status_of_refused(w->op));
	expect_the_end(&d);
	expect_terminate(&d, w->by_siw, w->by_tcp);
	stage_close(&d, true);
}

#define BEYOND (SIZE - LEN + 8)
#define LOCAL_ONLY                                                                                 \
	(RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST)

#define REFUSED(name, ...)                                                                         \
	static void name(void **state)                                                             \
	{                                                                                          \
		static const struct wrong w = { __VA_ARGS__ };                                     \
                                                                                                   \
		refused(state, &w);                                                                \
	}

REFUSED(write_with_stale_key, OP_WRITE, true, 0, USAGE_ALL, "1/1/00", "1/1/00")
REFUSED(write_out_of_bounds, OP_WRITE, false, BEYOND, USAGE_ALL, "1/1/01", "1/1/01")
REFUSED(write_without_right, OP_WRITE, false, 0, RPMA_MR_USAGE_READ_SRC, "1/1/00", "0/1/02")
REFUSED(atomic_write_with_stale_key, OP_ATOMIC_WRITE, true, 0, USAGE_ALL, "1/1/00", "1/1/00")
REFUSED(read_with_stale_key, OP_READ, true, 0, USAGE_ALL, "0/1/00", "0/1/00")
REFUSED(read_out_of_bounds, OP_READ, false, BEYOND, USAGE_ALL, "0/1/01", "0/1/01")
REFUSED(read_without_right, OP_READ, false, 0, LOCAL_ONLY, NULL, "0/1/02")
REFUSED(flush_with_stale_key, OP_FLUSH_VISIBILITY, true, 0, USAGE_ALL, "0/1/00", "0/1/00")
REFUSED(flush_out_of_bounds, OP_FLUSH_VISIBILITY, false, BEYOND, USAGE_ALL, "0/1/01", "0/1/01")

/* ---- messages ---------------------------------------------------------------- */

/* The receive fails at far; siw says that there is none. */
static void message_too_long(void **state)
{
	char answer[CHILD_LINE];
	struct duo d;
	struct xfer x;
	int status;

	stage_open(&d, state, USAGE_ALL);
	x = line_xfer(&d, 0, LEN, CTX(1));
	post_recv(x.by, x.local, LEN, CTX(90));
	far_tell(&d, "recv 0 %d\n", LEN / 2);
	far_answer(&d, "recv", NULL);
	op_post(&ops[OP_SEND], &x);
	expect_done(x.by, CTX(1));
	expect_the_end(&d);
	far_tell(&d, "got 0\n");
	far_answer(&d, "got", answer);
	assert_int_equal(sscanf(answer, "%d", &status), 1);
	print_message("the receive completes with status %d\n", status);
	assert_int_not_equal(status, IBV_WC_SUCCESS);
	expect_terminate(&d, "1/2/02", "1/2/05");
	stage_close(&d, true);
}

/* tcp waits until one is posted, siw ends the connection. */
static void message_without_receive(void **state)
{
	struct duo d;
	struct xfer x;

	stage_open(&d, state, USAGE_ALL);
	x = line_xfer(&d, 0, LEN, CTX(1));
	post_recv(x.by, x.local, LEN, CTX(90));
	fill(x.local->data, LEN, 7);
	op_post(&ops[OP_SEND], &x);
	expect_done(x.by, CTX(1));
	if (far_is("verbs")) {
		expect_the_end(&d);
		expect_terminate(&d, "1/2/02", "");
		stage_close(&d, true);
		return;
	}
	far_tell(&d, "recv 0 %d\n", LEN);
	far_answer(&d, "recv", NULL);
	far_tell(&d, "got 0\n");
	far_answer(&d, "got 0", NULL);
	assert_far_filled(&d, 0, LEN, 7);
	stage_close(&d, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(write_with_stale_key),
		BOTH(write_out_of_bounds),
		BOTH(write_without_right),
		BOTH(atomic_write_with_stale_key),
		BOTH(read_with_stale_key),
		BOTH(read_out_of_bounds),
		BOTH(read_without_right),
		BOTH(flush_with_stale_key),
		BOTH(flush_out_of_bounds),
		BOTH(message_too_long),
		BOTH(message_without_receive),
	};

	if (duo_init(argc, argv))
		return 0;
	return cmocka_run_group_tests_name("vm-interop-errors", tests, NULL, NULL);
}
