/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* death.c -- the other process dies, stops, or is forked from ours */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair_dax.h"
#include "pair_link.h"
#include "pair_wait.h"

static bool already(uint64_t seen, const struct ibv_wc *wc)
{
	return seen & UINT64_C(1) << wc->wr_id;
}

/* The device tells a second time of one that it has told. It is told as flushed. */
static bool told_again(uint64_t seen, const struct ibv_wc *wc)
{
	return !traits()->ends_once && already(seen, wc) && wc->status == IBV_WC_WR_FLUSH_ERR;
}

/* Each request comes back once, in order: done, or with an error. */
static void check_all_come_back(struct link *l, uint64_t count)
{
	bool failed = false;
	uint64_t seen = 0;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < count; i++) {
		do
			next_wc(&l->side, l->side.cq, &wc);
		while (wc.wr_id < count && told_again(seen, &wc));
		if (wc.wr_id >= count || already(seen, &wc))
			fail_msg("completion %d of %d: of %#llx, status %d; before: %#llx", (int)i,
				(int)count, (unsigned long long)wc.wr_id, (int)wc.status,
				(unsigned long long)seen);
		seen |= UINT64_C(1) << wc.wr_id;
		if (!traits()->in_order)
			continue;
		assert_int_equal(wc.wr_id, i);
		failed |= wc.status != IBV_WC_SUCCESS;
		if (failed)
			assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	}
}

/* ---- killed -------------------------------------------------------------- */

static const int burst[] = { OP_WRITE, OP_READ, OP_FLUSH_VISIBILITY, OP_WRITE, OP_ATOMIC_WRITE };

static void killed_under_load(int we)
{
	for (int round = 0; round < 10; round++) {
		struct link l;
		int64_t start;

		link_open(&l, we);
		for (uint64_t i = 0; i < 9; i++)
			link_post(&l, &ops[burst[(i + (uint64_t)round) % ARRAY_LEN(burst)]], i);
		link_post(&l, &ops[OP_SEND], 9);
		child_kill(&l.child);
		start = clock_ms();
		expect_end(l.side.conn);
		assert_true(clock_ms() - start < 10000);
		check_all_come_back(&l, 10);
		if (traits()->ends_once)
			expect_no_wc(l.side.cq);
		link_close(&l);
	}
}

static void client_killed(void **state)
{
	(void)state;
	killed_under_load(SERVER);
}

static void server_killed(void **state)
{
	(void)state;
	killed_under_load(CLIENT);
}

/* Nothing is on its way: the end is told all the same. */
static void killed_when_idle(void **state)
{
	(void)state;
	for (int we = 0; we < SIDES; we++) {
		struct link l;

		link_open(&l, we);
		post_recv(&l.side, NULL, 0, CTX(1));
		child_kill(&l.child);
		expect_end(l.side.conn);
		expect_recv_status(&l.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
		link_close(&l);
	}
}

/* Posting to the dead is harmless, and SIGPIPE is left alone. */
static void posting_to_the_dead(void **state)
{
	struct sigaction old;
	struct link l;

	(void)state;
	require_trait(flushes_late);
	assert_int_equal(sigaction(SIGPIPE, NULL, &old), 0);
	assert_true(old.sa_handler == SIG_DFL);
	link_open(&l, CLIENT);
	child_kill(&l.child);
	for (uint64_t i = 0; i < 100; i++) {
		struct xfer x = {
			.by = &l.side,
			.local = &l.mem,
			.remote = &l.far,
			.len = LINK_SIZE,
			.ctx = CTX(i),
		};
		struct ibv_wc wc;

		if (ops[OP_WRITE].post(&x) != 0)
			continue;
		next_wc(&l.side, l.side.cq, &wc);
		assert_int_equal(wc.wr_id, i);
		assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	}
	expect_end(l.side.conn);
	assert_int_equal(sigaction(SIGPIPE, NULL, &old), 0);
	assert_true(old.sa_handler == SIG_DFL);
	link_close(&l);
}

static void killed_before_accept(void **state)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct child c;
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 5; round++) {
		conn = NULL;
		child_start(&c, "connecting", n.port, false);
		child_expect(&c, "ready", NULL);
		req = server_req(&n, NULL);
		child_kill(&c);
		if (rpma_conn_req_connect(&req, NULL, &conn) == 0) {
			if (next_event(conn) == RPMA_CONN_ESTABLISHED)
				expect_end(conn);
			assert_ok(rpma_conn_delete(&conn));
		}
		assert_null(req);
	}
	pair_connect(&p, &n, NULL);
	pair_close(&p);
	net_close(&n);
}

/* One of several clients dies: the others do not notice. */
static void others_live_on(void **state)
{
	struct link l;
	struct pair p;

	(void)state;
	link_open(&l, SERVER);
	pair_connect(&p, &l.net, NULL);
	for (uint64_t i = 0; i < 10; i++)
		link_post(&l, &ops[OP_WRITE], i);
	child_kill(&l.child);
	expect_end(l.side.conn);
	check_all_come_back(&l, 10);
	expect_no_event(p.side[CLIENT].conn);
	expect_no_event(p.side[SERVER].conn);
	pair_close(&p);
	link_close(&l);
}

/* ---- stopped ------------------------------------------------------------- */

/* A process that is stopped for a while is slow, not dead. */
static void stopped_and_continued(void **state)
{
	struct link l;

	(void)state;
	link_open(&l, CLIENT);
	child_stop(&l.child);
	for (uint64_t i = 0; i < 10; i++)
		link_post(&l, &ops[burst[i % ARRAY_LEN(burst)]], i);
	expect_no_event(l.side.conn);
	if (traits()->acknowledged && !traits()->device)
		expect_no_wc(l.side.cq);
	child_continue(&l.child);
	check_all_come_back(&l, 10);
	expect_no_event(l.side.conn);
	assert_ok(rpma_conn_disconnect(l.side.conn));
	child_finish(&l.child);
	expect_event(l.side.conn, RPMA_CONN_CLOSED);
	link_close(&l);
}

/* ---- forked -------------------------------------------------------------- */

/* A fork that writes into registered memory and leaves harms nobody. */
static void forked(void **state)
{
	struct link l;

	(void)state;
	if (dax_is_there()) {
		print_message("the memory is shared with a fork\n");
		skip();
	}
	link_open(&l, CLIENT);
	for (int round = 0; round < 5; round++) {
		pid_t pid;
		int status;

		fill(l.mem.data, LINK_SIZE, (uint64_t)round);
		for (uint64_t i = 0; i < 10; i++)
			link_post(&l, &ops[OP_WRITE], i);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			memset(l.mem.data, 0xee, LINK_SIZE);
			_exit(0);
		}
		for (uint64_t i = 0; i < 10; i++)
			expect_done(&l.side, CTX(i));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_filled(l.mem.data, LINK_SIZE, (uint64_t)round);
		link_post(&l, &ops[OP_READ], 0);
		expect_done(&l.side, CTX(0));
		assert_filled(l.mem.data, LINK_SIZE, (uint64_t)round);
	}
	expect_no_event(l.side.conn);
	child_finish(&l.child);
	expect_end(l.side.conn);
	link_close(&l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client_killed),
		cmocka_unit_test(server_killed),
		cmocka_unit_test(killed_when_idle),
		cmocka_unit_test(posting_to_the_dead),
		cmocka_unit_test(killed_before_accept),
		cmocka_unit_test(others_live_on),
		cmocka_unit_test(stopped_and_continued),
		cmocka_unit_test(forked),
	};

	test_init();
	if (argc > 1)
		return link_be(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests_name("conform-death", tests, NULL, NULL);
}
