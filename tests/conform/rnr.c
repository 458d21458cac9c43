/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* rnr.c -- a message whose receiver is not ready */

#include <arpa/inet.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096

static const int messages[] = { OP_SEND, OP_SEND_IMM, OP_WRITE_IMM };

/* A round trip from the server: that direction is not held up. */
static void other_way_goes_on(struct field *f)
{
	struct xfer x = field_xfer(f, SERVER, 100, CTX(0x50));

	x.local_off = x.remote_off = SIZE / 2;
	fill(x.local->data + SIZE / 2, 100, 50);
	op_post(&ops[OP_WRITE], &x);
	expect_done(x.by, CTX(0x50));
	arrive(x.by);
	assert_filled(x.remote->data + SIZE / 2, 100, 50);
	memset(x.local->data + SIZE / 2, 0, 100);
	x.local_off = SIZE / 2;
	op_post(&ops[OP_READ], &x);
	expect_done(x.by, CTX(0x50));
	assert_filled(x.local->data + SIZE / 2, 100, 50);
	memset(x.local->data + SIZE / 2, 0, 100);
	op_post(&ops[OP_FLUSH_VISIBILITY], &x);
	expect_done(x.by, CTX(0x50));
}

/* None of what waits, or is behind it, is said to be done. */
static void check_waiting(const struct side *s)
{
	if (traits()->acknowledged)
		expect_no_wc(s->cq);
}

static void waits_for_its_receive(void **state)
{
	struct field f;

	(void)state;
	require_trait(rnr_waits);
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < 30; i++) {
		const struct op *op = &ops[messages[i % ARRAY_LEN(messages)]];
		struct xfer x = field_xfer(&f, CLIENT, 100, CTX(i));
		struct ibv_wc wc;

		if (!op_exists(op))
			continue;
		x.imm = (uint32_t)i;
		fill(x.local->data, 100, i);
		op_post(op, &x);
		other_way_goes_on(&f);
		check_waiting(x.by);
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, CTX(i));
		wc = expect_recv(&f.pair.side[SERVER], CTX(i));
		assert_int_equal(wc.opcode, op->recv_opcode);
		assert_int_equal(wc.byte_len, 100);
		if (op->imm)
			assert_int_equal(ntohl(wc.imm_data), i);
		assert_filled(f.mem[SERVER].data, 100, i);
		expect_done(x.by, CTX(i));
	}
	field_close(&f);
}

/* What was posted behind a waiting message stays behind it. */
static void the_rest_waits_in_order(void **state)
{
	struct field f;
	struct xfer x;

	(void)state;
	require_trait(rnr_waits);
	field_open(&f, NULL, SIZE);
	for (uint64_t i = 0; i < 4; i++) {
		x = field_xfer(&f, CLIENT, 50, CTX(i));
		x.local_off = i * 64;
		fill(x.local->data + x.local_off, 50, i);
		op_post(&ops[OP_SEND], &x);
	}
	x = field_xfer(&f, CLIENT, 64, CTX(4));
	x.remote_off = 1024;
	op_post(&ops[OP_WRITE], &x);
	x.local_off = 2048;
	x.ctx = CTX(5);
	op_post(&ops[OP_READ], &x);
	other_way_goes_on(&f);
	check_waiting(&f.pair.side[CLIENT]);
	for (uint64_t i = 0; i < 4; i++) {
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 50, CTX(i));
		expect_recv(&f.pair.side[SERVER], CTX(i));
		assert_filled(f.mem[SERVER].data, 50, i);
	}
	for (uint64_t i = 0; i < 6; i++)
		expect_done(&f.pair.side[CLIENT], CTX(i));
	assert_memory_equal(f.mem[SERVER].data + 1024, f.mem[CLIENT].data, 64);
	assert_memory_equal(f.mem[CLIENT].data + 2048, f.mem[CLIENT].data, 64);
	field_close(&f);
}

/* A large one waits, too: not in the receiver's memory. */
static void large_one_waits(void **state)
{
	const size_t len = 8 << 20;
	struct field f;
	struct xfer x;

	(void)state;
	require_trait(rnr_waits);
	field_open(&f, NULL, len + SIZE);
	x = field_xfer(&f, CLIENT, len, CTX(1));
	fill(x.local->data, len, 1);
	op_post(&ops[OP_SEND], &x);
	x.by = &f.pair.side[SERVER];
	x.local = &f.mem[SERVER];
	x.remote = &f.mem[CLIENT];
	x.local_off = x.remote_off = len;
	x.len = 64;
	op_post(&ops[OP_WRITE], &x);
	expect_done(&f.pair.side[SERVER], CTX(1));
	post_recv(&f.pair.side[SERVER], &f.mem[SERVER], len, CTX(2));
	expect_recv(&f.pair.side[SERVER], CTX(2));
	assert_filled(f.mem[SERVER].data, len, 1);
	expect_done(&f.pair.side[CLIENT], CTX(1));
	field_close(&f);
}

/* So do very many small ones. */
static void many_small_ones_wait(void **state)
{
	const uint32_t count = traits()->device ? 1000 : 6000;
	const struct pair_opts o = { .side[CLIENT] = { .sq_size = count, .cq_size = count } };
	struct field f;

	(void)state;
	require_trait(rnr_waits);
	field_open(&f, &o, SIZE);
	for (uint64_t i = 0; i < count; i++) {
		struct xfer x = field_xfer(&f, CLIENT, 200 + i % 4, CTX(i));

		x.flags = i % 100 == 99 ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
		op_post(&ops[OP_SEND], &x);
	}
	other_way_goes_on(&f);
	for (uint64_t i = 0; i < count; i++) {
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 204, CTX(i));
		assert_int_equal(expect_recv(&f.pair.side[SERVER], CTX(i)).byte_len, 200 + i % 4);
		if (i % 1000 == 0)
			other_way_goes_on(&f);
	}
	for (uint64_t i = 99; i < count; i += 100)
		expect_done(&f.pair.side[CLIENT], CTX(i));
	field_close(&f);
}

/* Both directions stopped at once, and both set going again. */
static void both_ends_wait(void **state)
{
	const struct side_opts own_rcq = { .rcq_size = 10 };
	const struct pair_opts o = { { own_rcq, own_rcq } };
	struct field f;

	(void)state;
	require_trait(rnr_waits);
	field_open(&f, &o, SIZE);
	for (uint64_t i = 0; i < 200; i++) {
		for (int from = 0; from < SIDES; from++) {
			struct xfer x = field_xfer(&f, from, 100, CTX(i));

			op_post(&ops[OP_SEND], &x);
		}
		for (int to = SIDES - 1; to >= 0; to--) {
			check_waiting(&f.pair.side[to]);
			post_recv(&f.pair.side[to], &f.mem[to], SIZE, CTX(i));
			expect_recv(&f.pair.side[to], CTX(i));
			expect_done(&f.pair.side[!to], CTX(i));
		}
	}
	field_close(&f);
}

/* The end comes while a message waits: it is handed back, not forgotten. */
static void closed_while_waiting(void **state)
{
	(void)state;
	require_trait(rnr_waits);
	require_trait(acknowledged);
	for (int by = 0; by < SIDES; by++) {
		struct field f;

		field_open(&f, NULL, SIZE);
		for (uint64_t i = 0; i < 5; i++) {
			struct xfer x = field_xfer(&f, CLIENT, 100, CTX(i));

			op_post(&ops[OP_SEND], &x);
		}
		other_way_goes_on(&f);
		assert_ok(rpma_conn_disconnect(f.pair.side[by].conn));
		for (uint64_t i = 0; i < 5; i++)
			expect_status(&f.pair.side[CLIENT], CTX(i), IBV_WC_WR_FLUSH_ERR);
		for (int s = 0; s < SIDES; s++)
			expect_end(f.pair.side[s].conn);
		expect_no_wc(f.pair.side[CLIENT].cq);
		field_drop(&f);
	}
}

/* ---- a receive that is too small ----------------------------------------- */

struct misfit {
	size_t send;
	size_t recv;
};

static const struct misfit misfits[] = {
	{ 1, 0 },
	{ 9, 8 },
	{ 100, 99 },
	{ 4096, 1 },
	{ 1 << 20, 4096 },
	{ 1 << 20, (1 << 20) - 1 },
};

static void receive_too_small(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < 2 * ARRAY_LEN(misfits); i++) {
		const struct misfit *m = &misfits[i / 2];
		struct field f;
		struct xfer x;

		if (i % 2 && !traits()->immediate)
			continue;
		field_connect(&f, &n, NULL, 1 << 20);
		memset(f.mem[CLIENT].data, 0xff, m->send);
		post_recv(&f.pair.side[SERVER], m->recv ? &f.mem[SERVER] : NULL, m->recv, CTX(1));
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(2));
		x = field_xfer(&f, CLIENT, m->send, CTX(3));
		op_post(&ops[i % 2 ? OP_SEND_IMM : OP_SEND], &x);
		expect_recv_failed(&f.pair.side[SERVER], CTX(1), IBV_WC_LOC_LEN_ERR);
		expect_recv_status(&f.pair.side[SERVER], CTX(2), IBV_WC_WR_FLUSH_ERR);
		if (traits()->exact_status)
			expect_status(&f.pair.side[CLIENT], CTX(3), IBV_WC_REM_INV_REQ_ERR);
		for (int s = 0; s < SIDES; s++)
			expect_broken(f.pair.side[s].conn);
		assert_all(f.mem[SERVER].data + m->recv, (1 << 20) - m->recv, 0);
		field_drop(&f);
	}
	net_close(&n);
}

/* write_with_imm needs a receive but not its memory. */
static void immediate_needs_no_room(void **state)
{
	struct field f;
	struct xfer x;

	(void)state;
	require_trait(immediate);
	field_open(&f, NULL, SIZE);
	x = field_xfer(&f, CLIENT, SIZE, CTX(1));
	fill(x.local->data, SIZE, 1);
	post_recv(&f.pair.side[SERVER], NULL, 0, CTX(2));
	op_post(&ops[OP_WRITE_IMM], &x);
	assert_int_equal(expect_recv(&f.pair.side[SERVER], CTX(2)).byte_len, SIZE);
	assert_filled(f.mem[SERVER].data, SIZE, 1);
	expect_done(x.by, CTX(1));
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_its_receive),
		cmocka_unit_test(the_rest_waits_in_order),
		cmocka_unit_test(large_one_waits),
		cmocka_unit_test(many_small_ones_wait),
		cmocka_unit_test(both_ends_wait),
		cmocka_unit_test(closed_while_waiting),
		cmocka_unit_test(receive_too_small),
		cmocka_unit_test(immediate_needs_no_room),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-rnr", tests, NULL, NULL);
}
