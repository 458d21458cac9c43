/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* ops.c -- each operation: what it does, what its completion says */

#include <arpa/inet.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 256

/* ---- the effect ---------------------------------------------------------- */

static void check_recv_wc(struct side *s, const struct op *op, size_t len, uint32_t imm)
{
	struct ibv_wc wc;

	if (op->recv_opcode < 0)
		return;
	wc = expect_recv(s, CTX(0x77));
	assert_int_equal(wc.opcode, op->recv_opcode);
	assert_int_equal(wc.byte_len, len);
	assert_int_equal(!!(wc.wc_flags & IBV_WC_WITH_IMM), op->imm);
	if (op->imm)
		assert_int_equal(wc.imm_data, htonl(imm));
}

/* Data goes from the local region to the remote one, with a read back. */
static void check_effect(struct field *f, int from, const struct op *op, size_t len)
{
	int source = op == &ops[OP_READ] ? !from : from;

	if (op->opcode == WC_FLUSH) {
		assert_all(f->mem[!from].data, SIZE, 0);
		return;
	}
	assert_filled(f->mem[!source].data, len, 5);
	assert_all(f->mem[!source].data + len, SIZE - len, 0);
}

static void do_op(struct field *f, int from, const struct op *op)
{
	size_t len = op->unit ? op->unit : 100;
	struct xfer x = field_xfer(f, from, len, CTX(0x1234));
	struct ibv_wc wc;

	x.imm = 0xfeedc0de;
	for (int i = 0; i < SIDES; i++)
		memset(f->mem[i].data, 0, SIZE);
	fill(f->mem[op == &ops[OP_READ] ? !from : from].data, len, 5);
	if (op->recv_opcode >= 0)
		post_recv(&f->pair.side[!from], &f->mem[!from], SIZE, CTX(0x77));
	op_post(op, &x);
	next_wc(x.by, x.by->cq, &wc);
	assert_int_equal(wc.wr_id, 0x1234);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, op_opcode(op));
	assert_int_equal(wc.qp_num, x.by->qp_num);
	if (op == &ops[OP_READ])
		assert_int_equal(wc.byte_len, len);
	arrive(x.by);
	check_recv_wc(&f->pair.side[!from], op, len, x.imm);
	check_effect(f, from, op, len);
}

static void each_operation(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < OP_COUNT; i++)
		for (int from = 0; op_exists(&ops[i]) && from < SIDES; from++)
			do_op(&f, from, &ops[i]);
	field_close(&f);
}

/* ---- op_context, flags --------------------------------------------------- */

static void op_context_comes_back(void **state)
{
	const void *contexts[] = {
		NULL,
		CTX(1),
		&ops,
		CTX(UINT64_C(0x8000000000000000)),
		CTX(UINT64_MAX - 1),
		CTX(UINT64_MAX),
	};
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < OP_COUNT * ARRAY_LEN(contexts); i++) {
		const struct op *op = &ops[i / ARRAY_LEN(contexts)];
		const void *ctx = contexts[i % ARRAY_LEN(contexts)];
		struct xfer x = field_xfer(&f, CLIENT, op->unit ? op->unit : 32, ctx);

		if (!op_exists(op))
			continue;
		if (op->recv_opcode >= 0)
			post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, ctx);
		op_post(op, &x);
		expect_done(x.by, ctx);
		if (op->recv_opcode >= 0)
			expect_recv(&f.pair.side[SERVER], ctx);
	}
	field_close(&f);
}

/* Only bit 1 of the flags asks for a completion; no flag at all is refused. */
static void only_signalled_completes(void **state)
{
	const int quiet[] = { RPMA_F_COMPLETION_ON_ERROR, 4, 0x40000000 | 1 };
	const int loud[] = { RPMA_F_COMPLETION_ALWAYS, 2, -1 };
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < OP_COUNT * ARRAY_LEN(quiet); i++) {
		const struct op *op = &ops[i / ARRAY_LEN(quiet)];
		struct xfer x = field_xfer(&f, CLIENT, op->unit ? op->unit : 32, CTX(1));

		for (int n = 0; op_exists(op) && n < 2; n++) {
			if (op->recv_opcode >= 0)
				post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, CTX(n));
			x.flags = n == 0 ? quiet[i % ARRAY_LEN(quiet)] : loud[i % ARRAY_LEN(quiet)];
			x.ctx = CTX(100 + n);
			op_post(op, &x);
		}
		for (int n = 0; op->recv_opcode >= 0 && op_exists(op) && n < 2; n++)
			expect_recv(&f.pair.side[SERVER], CTX(n));
		if (op_exists(op))
			expect_done(x.by, CTX(101));
		expect_no_wc(x.by->cq);
	}
	field_close(&f);
}

static void no_flags_are_refused(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < SIDES; i++) {
		struct rpma_conn *c = f.pair.side[i].conn;
		struct rpma_mr_local *mr = f.mem[i].mr;
		struct rpma_mr_remote *to = f.mem[!i].remote;

		assert_rpma(RPMA_E_INVAL, rpma_read(c, mr, 0, to, 0, 8, 0, NULL));
		assert_rpma(RPMA_E_INVAL, rpma_write(c, to, 0, mr, 0, 8, 0, NULL));
		assert_rpma(RPMA_E_INVAL, rpma_write_with_imm(c, to, 0, mr, 0, 8, 0, 1, NULL));
		assert_rpma(RPMA_E_INVAL, rpma_atomic_write(c, to, 0, "1234567", 0, NULL));
		assert_rpma(
			RPMA_E_INVAL, rpma_flush(c, to, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, 0, NULL));
		assert_rpma(RPMA_E_INVAL, rpma_send(c, mr, 0, 8, 0, NULL));
		assert_rpma(RPMA_E_INVAL, rpma_send_with_imm(c, mr, 0, 8, 0, 1, NULL));
		expect_no_wc(f.pair.side[i].cq);
	}
	field_close(&f);
}

/* ---- particular ones ----------------------------------------------------- */

static void recv_before_connect(struct rpma_conn_req *req, void *arg)
{
	struct region *r = arg;

	assert_rpma(RPMA_E_INVAL, rpma_conn_req_recv(req, NULL, 0, 0, CTX(5)));
	assert_ok(rpma_conn_req_recv(req, r->mr, 8, 24, CTX(5)));
	assert_ok(rpma_conn_req_recv(req, r->mr, 40, 8, NULL));
}

static void receives_of_requests(void **state)
{
	struct pair_opts o = { 0 };
	struct region mem[SIDES];
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < SIDES; i++) {
		region_open(&mem[i], n.peer[i], 64, USAGE_ALL);
		o.side[i].prepare = recv_before_connect;
		o.side[i].arg = &mem[i];
	}
	pair_connect(&p, &n, &o);
	for (int from = 0; from < SIDES; from++) {
		struct side *s = &p.side[from];

		fill(mem[from].data + 48, 8, 3);
		assert_ok(rpma_send(s->conn, mem[from].mr, 48, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
		assert_ok(rpma_send(s->conn, mem[from].mr, 48, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
		assert_int_equal(expect_recv(&p.side[!from], CTX(5)).byte_len, 8);
		assert_int_equal(expect_recv(&p.side[!from], NULL).byte_len, 8);
		assert_all(mem[!from].data, 8, 0);
		assert_filled(mem[!from].data + 8, 8, 3);
		assert_all(mem[!from].data + 16, 24, 0);
		assert_filled(mem[!from].data + 40, 8, 3);
		for (int i = 0; i < 2; i++)
			expect_done(s, NULL);
		memset(mem[from].data, 0, 64);
	}
	for (int i = 0; i < SIDES; i++)
		region_close(&mem[i]);
	pair_close(&p);
	net_close(&n);
}

/* The 8 bytes are taken when the call is made. */
static void atomic_write_copies_at_once(void **state)
{
	struct field f;
	char src[8];

	(void)state;
	field_open(&f, NULL, SIZE);
	for (int i = 0; i < SIZE / 8; i++) {
		memset(src, 'a' + i, sizeof(src));
		assert_ok(rpma_atomic_write(f.pair.side[CLIENT].conn, f.mem[SERVER].remote,
			(size_t)i * 8, src, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		memset(src, 0xee, sizeof(src));
		if (i % 8 != 7)
			continue;
		for (int j = i - 7; j <= i; j++)
			expect_done(&f.pair.side[CLIENT], CTX(j));
	}
	arrive(&f.pair.side[CLIENT]);
	for (int i = 0; i < SIZE / 8; i++)
		assert_all(f.mem[SERVER].data + i * 8, 8, ('a' + i) & 0xff);
	for (size_t off = 1; off < 8; off++)
		assert_rpma(RPMA_E_INVAL,
			rpma_atomic_write(f.pair.side[CLIENT].conn, f.mem[SERVER].remote, off, src,
				RPMA_F_COMPLETION_ALWAYS, NULL));
	field_close(&f);
}

static void remote_deleted_after_posting(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	fill(f.mem[CLIENT].data, SIZE, 8);
	for (int i = 0; i < 10; i++) {
		struct rpma_mr_remote *remote = remote_of(f.mem[SERVER].mr);

		assert_ok(rpma_write(f.pair.side[CLIENT].conn, remote, 0, f.mem[CLIENT].mr, 0, SIZE,
			RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		assert_ok(rpma_mr_remote_delete(&remote));
		assert_null(remote);
	}
	for (int i = 0; i < 10; i++)
		expect_done(&f.pair.side[CLIENT], CTX(i));
	arrive(&f.pair.side[CLIENT]);
	assert_filled(f.mem[SERVER].data, SIZE, 8);
	field_close(&f);
}

/* Lengths that do not fit the wire are refused, not cut. */
static void huge_lengths(void **state)
{
	const size_t bad[] = { UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, SIZE_MAX };
	const int which[] = { OP_READ, OP_WRITE, OP_WRITE_IMM, OP_SEND, OP_SEND_IMM };
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct xfer x = field_xfer(&f, CLIENT, bad[i], NULL);

		for (size_t j = 0; j < ARRAY_LEN(which); j++)
			assert_rpma(RPMA_E_INVAL, ops[which[j]].post(&x));
		assert_rpma(RPMA_E_INVAL,
			recv_at(&f.pair.side[CLIENT], &f.mem[CLIENT], 0, bad[i], NULL));
	}
	expect_no_wc(f.pair.side[CLIENT].cq);
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation),
		cmocka_unit_test(op_context_comes_back),
		cmocka_unit_test(only_signalled_completes),
		cmocka_unit_test(no_flags_are_refused),
		cmocka_unit_test(receives_of_requests),
		cmocka_unit_test(atomic_write_copies_at_once),
		cmocka_unit_test(remote_deleted_after_posting),
		cmocka_unit_test(huge_lengths),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-ops", tests, NULL, NULL);
}
