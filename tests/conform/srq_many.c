/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* srq_many.c -- several connections on one receive queue */

#include "pair_hall.h"
#include "pair_wait.h"

#define CONNS 8

/* ---- several connections ------------------------------------------------- */

static void connect_many(struct hall *h, struct pair *p, struct region *out)
{
	for (int i = 0; i < CONNS; i++) {
		pair_connect(&p[i], &h->net, &h->opts);
		region_open(&out[i], h->net.peer[CLIENT], SLOT, USAGE_ALL);
	}
}

static void close_many(struct pair *p, struct region *out)
{
	for (int i = 0; i < CONNS; i++) {
		region_close(&out[i]);
		pair_close(&p[i]);
	}
}

static int conn_of(const struct pair *p, uint32_t qp_num)
{
	for (int i = 0; i < CONNS; i++)
		if (p[i].side[SERVER].qp_num == qp_num)
			return i;
	fail_msg("qp_num %u is of no connection", qp_num);
	return -1;
}

/* Receives posted before any connection; qp_num tells who sent. */
static void told_apart_by_qp_num(void **state)
{
	struct region out[CONNS];
	struct pair p[CONNS];
	struct hall h;
	int got[CONNS] = { 0 };

	(void)state;
	hall_open(&h, SLOTS, SLOTS);
	for (uint64_t i = 0; i < SLOTS; i++)
		assert_ok(post_slot(&h, i));
	connect_many(&h, p, out);
	for (uint64_t n = 0; n < SLOTS / CONNS; n++)
		for (int i = 0; i < CONNS; i++)
			send_seed(&p[i].side[CLIENT], &out[i], (uint64_t)i * 100 + n);
	for (int k = 0; k < SLOTS; k++) {
		struct ibv_wc wc = next_shared(&h);
		int i = conn_of(p, wc.qp_num);

		assert_int_equal(wc.byte_len, SLOT);
		assert_filled(
			h.mem.data + wc.wr_id * SLOT, SLOT, (uint64_t)i * 100 + (uint64_t)got[i]++);
	}
	expect_no_wc(h.cq);
	close_many(p, out);
	hall_close(&h);
}

/* Fewer receives than senders: everybody waits for his turn, nobody is lost. */
static void too_small_for_all(void **state)
{
	struct region out[CONNS];
	struct pair p[CONNS];
	struct hall h;
	int got[CONNS] = { 0 };

	(void)state;
	require_trait(rnr_waits);
	hall_open(&h, 4, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(post_slot(&h, i));
	connect_many(&h, p, out);
	for (int i = 0; i < CONNS; i++)
		for (uint64_t n = 0; n < 10; n++)
			assert_ok(rpma_send(p[i].side[CLIENT].conn, out[i].mr, 0, SLOT,
				RPMA_F_COMPLETION_ALWAYS, CTX(n)));
	for (int k = 0; k < 10 * CONNS; k++) {
		struct ibv_wc wc = next_shared(&h);

		got[conn_of(p, wc.qp_num)]++;
		assert_ok(post_slot(&h, wc.wr_id));
	}
	for (int i = 0; i < CONNS; i++) {
		assert_int_equal(got[i], 10);
		for (uint64_t n = 0; n < 10; n++)
			expect_done(&p[i].side[CLIENT], CTX(n));
	}
	close_many(p, out);
	hall_close(&h);
}

/* A connection that ends takes no receive with it. */
static void survives_a_connection(void **state)
{
	struct region out[CONNS];
	struct pair p[CONNS];
	struct hall h;

	(void)state;
	hall_open(&h, CONNS, CONNS);
	for (uint64_t i = 0; i < CONNS; i++)
		assert_ok(post_slot(&h, i));
	connect_many(&h, p, out);
	assert_ok(rpma_conn_disconnect(p[0].side[CLIENT].conn));
	for (int s = 0; s < SIDES; s++)
		expect_event(p[0].side[s].conn, RPMA_CONN_CLOSED);
	assert_ok(rpma_conn_delete(&p[0].side[SERVER].conn));
	assert_ok(rpma_conn_delete(&p[0].side[CLIENT].conn));
	assert_ok(rpma_conn_delete(&p[1].side[SERVER].conn));
	expect_end(p[1].side[CLIENT].conn);
	expect_no_wc(h.cq);
	for (uint64_t k = 0; k < CONNS; k++) {
		send_seed(&p[2].side[CLIENT], &out[2], k);
		assert_int_equal(next_shared(&h).wr_id, k);
	}
	pair_connect(&p[0], &h.net, &h.opts);
	assert_ok(rpma_conn_delete(&p[1].side[CLIENT].conn));
	pair_connect(&p[1], &h.net, &h.opts);
	close_many(p, out);
	hall_close(&h);
}

/* A failed receive in one connection is reported there and nowhere else. */
static void too_long_for_one(void **state)
{
	struct side nobody = { 0 };
	struct region out[CONNS];
	struct pair p[CONNS];
	struct ibv_wc wc;
	struct hall h;

	(void)state;
	hall_open(&h, 4, 4);
	connect_many(&h, p, out);
	assert_ok(rpma_srq_recv(h.srq, h.mem.mr, 0, SLOT - 1, CTX(0)));
	assert_ok(post_slot(&h, 1));
	assert_ok(rpma_send(
		p[0].side[CLIENT].conn, out[0].mr, 0, SLOT, RPMA_F_COMPLETION_ALWAYS, CTX(0)));
	next_wc(&nobody, h.cq, &wc);
	assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	if (traits()->exact_status)
		assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(wc.wr_id, 0);
	assert_int_equal(wc.qp_num, p[0].side[SERVER].qp_num);
	for (int s = 0; s < SIDES; s++) {
		expect_broken(p[0].side[s].conn);
		assert_ok(rpma_conn_delete(&p[0].side[s].conn));
	}
	send_seed(&p[5].side[CLIENT], &out[5], 6);
	assert_int_equal(next_shared(&h).wr_id, 1);
	assert_filled(h.mem.data + SLOT, SLOT, 6);
	pair_connect(&p[0], &h.net, &h.opts);
	close_many(p, out);
	hall_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_apart_by_qp_num),
		cmocka_unit_test(too_small_for_all),
		cmocka_unit_test(survives_a_connection),
		cmocka_unit_test(too_long_for_one),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-srq-many", tests, NULL, NULL);
}
