/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* local_errors.c -- requests that are wrong at home: range, usage, peer */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096
#define LEN 64

/* Those that take data from, or put data into, local memory */
static const int local_ops[] = { OP_READ, OP_WRITE, OP_WRITE_IMM, OP_SEND, OP_SEND_IMM };

/*
 * A wrong request is refused at once, and then nothing has happened, or it ends
 * as LOC_PROT_ERR, and then the connection has ended with it.
 */
static void check_wrong(struct field *f, const struct op *op, const struct xfer *x)
{
	struct side *s = f->pair.side;
	int ret = op->post(x);

	if (ret != 0) {
		assert_true(ret == RPMA_E_INVAL || ret == RPMA_E_PROVIDER);
		assert_false(traits()->checks_usage);
		expect_no_wc(s[CLIENT].cq);
		return;
	}
	expect_failed(&s[CLIENT], x->ctx, IBV_WC_LOC_PROT_ERR);
	for (int i = 0; i < SIDES; i++)
		expect_broken(s[i].conn);
	assert_all(f->mem[SERVER].data, SIZE, 0);
	assert_all(f->mem[CLIENT].data, SIZE, 0);
}

static void wrong_range(void **state)
{
	const uint64_t offs[] = {
		SIZE - LEN + 1,
		SIZE,
		UINT64_C(1) << 32,
		UINT64_C(1) << 63,
		UINT64_MAX - LEN + 1,
		UINT64_MAX - LEN / 2,
	};
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(local_ops) * ARRAY_LEN(offs); i++) {
		const struct op *op = &ops[local_ops[i / ARRAY_LEN(offs)]];
		struct field f;
		struct xfer x;

		if (!op_exists(op))
			continue;
		field_connect(&f, &n, NULL, SIZE);
		x = field_xfer(&f, CLIENT, LEN, CTX(i));
		x.local_off = offs[i % ARRAY_LEN(offs)];
		case_is("%s at %#lx", op->name, (unsigned long)x.local_off);
		check_wrong(&f, op, &x);
		field_drop(&f);
	}
	net_close(&n);
}

/* The matrix of each operation against each single usage */
static void every_operation_with_every_usage(void **state)
{
	struct net n;

	(void)state;
	require_trait(checks_usage);
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(local_ops) * 8; i++) {
		const struct op *op = &ops[local_ops[i / 8]];
		struct region mem;
		struct field f;
		struct xfer x;

		if (!op_exists(op))
			continue;
		field_connect(&f, &n, NULL, SIZE);
		region_open(&mem, n.peer[CLIENT], LEN, 1 << i % 8);
		x = field_xfer(&f, CLIENT, LEN, CTX(i));
		x.local = &mem;
		case_is("%s with usage %#x", op->name, 1u << i % 8);
		if (op->local_usage != 1 << i % 8) {
			check_wrong(&f, op, &x);
		} else {
			if (op->recv_opcode >= 0)
				post_recv(&f.pair.side[SERVER], &f.mem[SERVER], LEN, CTX(1));
			op_post(op, &x);
			expect_done(x.by, CTX(i));
		}
		region_close(&mem);
		field_drop(&f);
	}
	net_close(&n);
}

static void memory_of_another_peer(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(local_ops); i++) {
		const struct op *op = &ops[local_ops[i]];
		struct region mem;
		struct field f;
		struct xfer x;

		if (!op_exists(op))
			continue;
		field_connect(&f, &n, NULL, SIZE);
		region_open(&mem, n.peer[SERVER], LEN, USAGE_ALL);
		x = field_xfer(&f, CLIENT, LEN, CTX(i));
		x.local = &mem;
		check_wrong(&f, op, &x);
		assert_all(mem.data, LEN, 0);
		region_close(&mem);
		field_drop(&f);
	}
	net_close(&n);
}

/* ---- receives ------------------------------------------------------------ */

/* Post this receive and send to it; the first tells of a wrong one. */
static void check_wrong_recv(struct field *f, struct region *mem, size_t off, size_t len)
{
	struct side *s = f->pair.side;
	struct xfer x = field_xfer(f, CLIENT, LEN, CTX(2));
	struct ibv_wc wc;
	int ret = recv_at(&s[SERVER], mem, off, len, CTX(1));

	if (ret != 0) {
		assert_true(ret == RPMA_E_INVAL || ret == RPMA_E_PROVIDER);
		assert_false(traits()->checks_usage);
		return;
	}
	op_post(&ops[OP_SEND], &x);
	expect_recv_failed(&s[SERVER], CTX(1), IBV_WC_LOC_PROT_ERR);
	next_wc(&s[CLIENT], s[CLIENT].cq, &wc);
	assert_int_equal(wc.wr_id, 2);
	if (traits()->acknowledged)
		assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	for (int i = 0; i < SIDES; i++)
		expect_broken(s[i].conn);
}

static void wrong_receives(void **state)
{
	struct {
		int usage;
		int peer;
		size_t off;
		size_t len;
	} cases[] = {
		{ USAGE_ALL, SERVER, 1, LEN },
		{ USAGE_ALL, SERVER, LEN, LEN },
		{ USAGE_ALL, SERVER, SIZE_MAX - LEN / 2, LEN },
		{ USAGE_ALL, CLIENT, 0, LEN },
		{ USAGE_ALL & ~RPMA_MR_USAGE_RECV, SERVER, 0, LEN },
	};
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct region mem;
		struct field f;

		if (cases[i].usage != USAGE_ALL && !traits()->checks_usage)
			continue;
		case_is("receive %zu", i);
		field_connect(&f, &n, NULL, SIZE);
		region_open(&mem, n.peer[cases[i].peer], LEN, cases[i].usage);
		fill(f.mem[CLIENT].data, LEN, 1);
		check_wrong_recv(&f, &mem, cases[i].off, cases[i].len);
		assert_all(mem.data, LEN, 0);
		region_close(&mem);
		field_drop(&f);
	}
	net_close(&n);
}

/* The memory of a posted receive is given up before the message comes. */
static void receive_into_nothing(void **state)
{
	struct region mem;
	struct field f;
	struct xfer x;
	struct ibv_wc wc;

	(void)state;
	require_trait(checks_usage);
	field_open(&f, NULL, SIZE);
	region_open(&mem, f.pair.side[SERVER].peer, LEN, USAGE_ALL);
	post_recv(&f.pair.side[SERVER], &mem, LEN, CTX(1));
	region_close(&mem);
	x = field_xfer(&f, CLIENT, LEN, CTX(2));
	op_post(&ops[OP_SEND], &x);
	expect_recv_status(&f.pair.side[SERVER], CTX(1), IBV_WC_LOC_PROT_ERR);
	next_wc(x.by, x.by->cq, &wc);
	if (traits()->acknowledged)
		assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	for (int i = 0; i < SIDES; i++)
		expect_broken(f.pair.side[i].conn);
	field_drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_range),
		cmocka_unit_test(every_operation_with_every_usage),
		cmocka_unit_test(memory_of_another_peer),
		cmocka_unit_test(wrong_receives),
		cmocka_unit_test(receive_into_nothing),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-local-errors", tests, NULL, NULL);
}
