/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* start_first.c -- the first FPDU, towards a responder: items 19, 21, 22 */

#include <stdatomic.h>

#include "pair_thread.h"
#include "rig.h"

struct first {
	struct net n;
	struct raw r;
	struct region mem;
	struct rpma_conn *conn;
	struct side s;
};

/* request: flags and so on, behind the key; reply likewise */
static void first_open(struct first *f, const char *request, const char *reply)
{
	net_open(&f->n);
	region_open(&f->mem, f->n.peer[SERVER], 64, USAGE_ALL);
	raw_connect(&f->r, f->n.addr, f->n.port);
	raw_send(&f->r, REQ);
	raw_send(&f->r, request);
	f->conn = rig_accept(&f->n, NULL);
	raw_expect(&f->r, REP);
	raw_expect(&f->r, reply);
	side_init(&f->s, f->n.peer[SERVER], f->conn, NULL);
}

static void first_close(struct first *f)
{
	raw_fin(&f->r);
	expect_event(f->conn, RPMA_CONN_CLOSED);
	raw_expect_fin(&f->r);
	assert_ok(rpma_conn_delete(&f->conn));
	region_close(&f->mem);
	raw_close(&f->r);
	net_close(&f->n);
}

static void item_019_nothing_before_the_first(void **state)
{
	struct first f;

	(void)state;
	first_open(&f, "50 02 0004 8010 c010", "50 02 0004 8010 8010");
	assert_ok(rpma_send(f.conn, f.mem.mr, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	raw_expect_quiet(&f.r);
	expect_no_wc(f.s.cq);
	raw_send(&f.r, WRITE_RTR);
	raw_expect_fpdu(&f.r, "41 43 00000000 00000000 00000001 00000000");
	expect_event(f.conn, RPMA_CONN_ESTABLISHED);
	expect_done(&f.s, CTX(1));
	first_close(&f);
}

/* No RTR agreed: established by the reply, and yet nothing goes first. */
static void item_019_not_peer_to_peer(void **state)
{
	static const char *const cases[][2] = {
		{ "50 02 0004 0010 0010", "50 02 0004 0010 0010" },
		{ "40 01 0000", "40 01 0000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct first f;

		first_open(&f, cases[i][0], cases[i][1]);
		expect_event(f.conn, RPMA_CONN_ESTABLISHED);
		assert_ok(rpma_send(f.conn, f.mem.mr, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
		raw_expect_quiet(&f.r);
		post_recv(&f.s, &f.mem, 64, CTX(2));
		raw_fpdu(&f.r, "41 43 00000000 00000000 00000001 00000000 6869");
		raw_expect_fpdu(&f.r, "41 43 00000000 00000000 00000001 00000000");
		assert_int_equal(expect_recv(&f.s, CTX(2)).byte_len, 2);
		expect_done(&f.s, CTX(1));
		first_close(&f);
	}
}

static void item_021_write_rtr(void **state)
{
	static const char *const stag_to[] = { "00000000 0000000000000000",
		"00000001 0000000000000000", "deadbeef ffffffffffffffff" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stag_to); i++) {
		struct bytes b = { 0 };
		struct first f;

		first_open(&f, "50 02 0004 8010 8010", "50 02 0004 8010 8010");
		bytes_add(&b, stag_to[i]);
		raw_fpdu(&f.r, "c1 40 %p", b.p, b.len);
		expect_event(f.conn, RPMA_CONN_ESTABLISHED);
		expect_no_wc(f.s.cq);
		first_close(&f);
		bytes_free(&b);
	}
}

static void item_021_read_rtr(void **state)
{
	static const uint32_t stags[] = { 0, 1, 0xdeadbeef };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stags); i++) {
		struct first f;

		first_open(&f, "50 02 0004 8010 4010", "50 02 0004 8010 4010");
		raw_fpdu(&f.r,
			"41 41 00000000 00000001 00000001 00000000"
			"%4 0102030405060708 00000000 %4 1112131415161718",
			stags[i], stags[i]);
		raw_expect_fpdu(&f.r, "c1 42 %4 0102030405060708", stags[i]);
		expect_event(f.conn, RPMA_CONN_ESTABLISHED);
		expect_no_wc(f.s.cq);
		first_close(&f);
	}
}

/* Initiators that were told Write may read, and the other way round. */
static void item_022_send_as_first(void **state)
{
	struct first f;

	(void)state;
	first_open(&f, "50 02 0004 8010 c010", "50 02 0004 8010 8010");
	post_recv(&f.s, &f.mem, 64, CTX(1));
	raw_fpdu(&f.r, "41 43 00000000 00000000 00000001 00000000 68656c6c6f");
	expect_event(f.conn, RPMA_CONN_ESTABLISHED);
	assert_int_equal(expect_recv(&f.s, CTX(1)).byte_len, 5);
	assert_memory_equal(f.mem.data, "hello", 5);
	first_close(&f);
}

static void item_022_other_rtr_as_first(void **state)
{
	struct first f;

	(void)state;
	first_open(&f, "50 02 0004 8010 c010", "50 02 0004 8010 8010");
	raw_fpdu(&f.r, "41 41 00000000 00000001 00000001 00000000"
		       "00000001 0000000000000000 00000000 00000001 0000000000000000");
	raw_expect_fpdu(&f.r, "c1 42 00000001 0000000000000000");
	expect_event(f.conn, RPMA_CONN_ESTABLISHED);
	first_close(&f);
}

struct waiter {
	struct rpma_conn *conn;
	atomic_int tid;
	enum rpma_conn_event event[2];
};

static void *wait_twice(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, gettid());
	for (int i = 0; i < 2; i++)
		assert_ok(rpma_conn_next_event(w->conn, &w->event[i]));
	return NULL;
}

/* The end comes with it, and who waits for events takes both from the socket. */
static void end_right_behind_the_first(void **state)
{
	struct bytes b = { 0 };
	struct waiter w = { 0 };
	struct first f;
	pthread_t t;

	(void)state;
	first_open(&f, "50 02 0004 8010 c010", "50 02 0004 8010 8010");
	w.conn = f.conn;
	t = thread_start(wait_twice, &w);
	while (!atomic_load(&w.tid))
		sched_yield();
	thread_wait_asleep(atomic_load(&w.tid));
	bytes_add(&b, WRITE_RTR);
	bytes_fpdu(&b, "c1 40 deadbeef 0000000000000000 6162");
	raw_send_bytes(&f.r, b.p, b.len);
	thread_join(t);
	assert_int_equal(w.event[0], RPMA_CONN_ESTABLISHED);
	assert_int_equal(w.event[1], RPMA_CONN_LOST);
	bytes_free(&b);
	assert_ok(rpma_conn_delete(&f.conn));
	region_close(&f.mem);
	raw_close(&f.r);
	net_close(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_019_nothing_before_the_first),
		cmocka_unit_test(item_019_not_peer_to_peer),
		cmocka_unit_test(item_021_write_rtr),
		cmocka_unit_test(item_021_read_rtr),
		cmocka_unit_test(item_022_send_as_first),
		cmocka_unit_test(item_022_other_rtr_as_first),
		cmocka_unit_test(end_right_behind_the_first),
	};

	threads_init();
	wire_init();
	return cmocka_run_group_tests_name("wire-start-first", tests, NULL, NULL);
}
