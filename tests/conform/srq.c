/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* srq.c -- the shared receive queue itself */

#include "pair_hall.h"
#include "pair_wait.h"

/* ---- the queue itself ---------------------------------------------------- */

static void its_size(void **state)
{
	const uint32_t sizes[] = { 1, 4, 20, 63 };

	(void)state;
	require_trait(exact_srq);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct hall h;

		hall_open(&h, sizes[i], i % 2 ? 20 : 0);
		for (uint64_t k = 0; k < sizes[i]; k++)
			assert_ok(post_slot(&h, k));
		assert_rpma(RPMA_E_PROVIDER, post_slot(&h, sizes[i]));
		hall_close(&h);
	}
}

static void default_configuration(void **state)
{
	struct rpma_srq *srq = NULL;
	struct rpma_cq *cq = NULL;
	struct net n;

	(void)state;
	net_open(&n);
	assert_ok(rpma_srq_new(n.peer[SERVER], NULL, &srq));
	assert_ok(rpma_srq_get_rcq(srq, &cq));
	assert_non_null(cq);
	expect_no_wc(cq);
	assert_rpma(RPMA_E_INVAL, rpma_srq_recv(srq, NULL, 0, 1, NULL));
	assert_rpma(RPMA_E_INVAL, rpma_srq_recv(srq, NULL, 1, 0, NULL));
	for (int i = 0; i < 20; i++)
		assert_ok(rpma_srq_recv(srq, NULL, 0, 0, NULL));
	assert_ok(rpma_srq_delete(&srq));
	net_close(&n);
}

/* Slots come back when the completion is polled, round after round. */
static void goes_round(void **state)
{
	struct region out;
	struct hall h;
	struct pair p;

	(void)state;
	hall_open(&h, 4, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(post_slot(&h, i));
	pair_connect(&p, &h.net, &h.opts);
	region_open(&out, h.net.peer[CLIENT], SLOT, USAGE_ALL);
	for (uint64_t i = 0; i < 100; i++) {
		send_seed(&p.side[CLIENT], &out, i);
		assert_int_equal(next_shared(&h).wr_id, i % 4);
		assert_filled(h.mem.data + i % 4 * SLOT, SLOT, i);
		assert_ok(post_slot(&h, i % 4));
	}
	region_close(&out);
	pair_close(&p);
	hall_close(&h);
}

/* What was received stays to be polled when its connection is gone. */
static void completions_outlive_the_connection(void **state)
{
	struct region out;
	struct hall h;
	struct pair p;
	int fd = -1;

	(void)state;
	hall_open(&h, 4, 4);
	assert_ok(post_slot(&h, 3));
	pair_connect(&p, &h.net, &h.opts);
	region_open(&out, h.net.peer[CLIENT], SLOT, USAGE_ALL);
	send_seed(&p.side[CLIENT], &out, 9);
	assert_ok(rpma_cq_get_fd(h.cq, &fd));
	wait_fd(fd);
	region_close(&out);
	pair_close(&p);
	assert_int_equal(next_shared(&h).wr_id, 3);
	assert_filled(h.mem.data + 3 * SLOT, SLOT, 9);
	hall_close(&h);
}

/* write_with_imm takes a shared receive, too, and does not touch its memory. */
static void immediate_takes_one(void **state)
{
	struct region out, in;
	struct ibv_wc wc;
	struct hall h;
	struct pair p;
	struct xfer x = { .len = SLOT, .imm = 0x01020304, .ctx = CTX(1) };

	(void)state;
	require_trait(immediate);
	hall_open(&h, 4, 4);
	assert_ok(post_slot(&h, 2));
	pair_connect(&p, &h.net, &h.opts);
	region_open(&out, h.net.peer[CLIENT], SLOT, USAGE_ALL);
	region_open(&in, h.net.peer[SERVER], SLOT, USAGE_ALL);
	fill(out.data, SLOT, 4);
	x.by = &p.side[CLIENT];
	x.local = &out;
	x.remote = &in;
	op_post(&ops[OP_WRITE_IMM], &x);
	wc = next_shared(&h);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.qp_num, p.side[SERVER].qp_num);
	assert_filled(in.data, SLOT, 4);
	assert_all(h.mem.data, SLOT * SLOTS, 0);
	expect_done(x.by, CTX(1));
	region_close(&out);
	region_close(&in);
	pair_close(&p);
	hall_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_size),
		cmocka_unit_test(default_configuration),
		cmocka_unit_test(goes_round),
		cmocka_unit_test(completions_outlive_the_connection),
		cmocka_unit_test(immediate_takes_one),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-srq", tests, NULL, NULL);
}
