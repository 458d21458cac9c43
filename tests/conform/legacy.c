/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* legacy.c -- the calls of release 0.10 */

#define RPMA_DEPRECATED

#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 256

/* Wait and get in two steps, as programs of that time do. */
static struct rpma_completion next_completion(struct rpma_conn *conn)
{
	struct rpma_completion c;
	int fd = -1, ret;

	memset(&c, 0x5a, sizeof(c));
	assert_ok(rpma_conn_get_completion_fd(conn, &fd));
	while ((ret = rpma_conn_completion_get(conn, &c)) == RPMA_E_NO_COMPLETION) {
		assert_int_equal(c.byte_len, 0x5a5a5a5a);
		wait_fd(fd);
		assert_ok(rpma_conn_completion_wait(conn));
	}
	assert_ok(ret);
	return c;
}

static const enum rpma_op names[OP_COUNT] = {
	[OP_READ] = RPMA_OP_READ,
	[OP_WRITE] = RPMA_OP_WRITE,
	[OP_WRITE_IMM] = RPMA_OP_WRITE,
	[OP_ATOMIC_WRITE] = RPMA_OP_WRITE,
	[OP_FLUSH_VISIBILITY] = RPMA_OP_READ,
	[OP_FLUSH_PERSISTENT] = RPMA_OP_READ,
	[OP_SEND] = RPMA_OP_SEND,
	[OP_SEND_IMM] = RPMA_OP_SEND,
};

static void each_operation_has_its_name(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < OP_COUNT; i++) {
		struct xfer x = field_xfer(&f, CLIENT, 8, CTX(i));
		struct rpma_completion c;

		if (!op_exists(&ops[i]))
			continue;
		x.imm = 0x01020304;
		if (ops[i].recv_opcode >= 0)
			post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(70));
		op_post(&ops[i], &x);
		c = next_completion(x.by->conn);
		assert_int_equal(c.op, names[i]);
		assert_int_equal(c.op_status, IBV_WC_SUCCESS);
		assert_ptr_equal(c.op_context, CTX(i));
		if (ops[i].recv_opcode < 0)
			continue;
		c = next_completion(f.pair.side[SERVER].conn);
		assert_int_equal(c.op, ops[i].recv_opcode == IBV_WC_RECV
					       ? RPMA_OP_RECV
					       : RPMA_OP_RECV_RDMA_WITH_IMM);
		assert_ptr_equal(c.op_context, CTX(70));
		assert_int_equal(c.byte_len, 8);
		assert_int_equal(!!(c.flags & IBV_WC_WITH_IMM), ops[i].imm);
		assert_int_equal(c.imm, ops[i].imm ? 0x01020304 : 0x5a5a5a5a);
	}
	field_close(&f);
}

/* A failure is a completion like any other, with nothing but its cause. */
static void a_failed_one(void **state)
{
	struct rpma_completion c;
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	post_recv(&p.side[CLIENT], NULL, 0, CTX(3));
	pair_disconnect(&p);
	c = next_completion(p.side[CLIENT].conn);
	assert_int_equal(c.op_status, IBV_WC_WR_FLUSH_ERR);
	assert_ptr_equal(c.op_context, CTX(3));
	assert_int_equal(c.byte_len, 0x5a5a5a5a);
	pair_drop(&p);
}

static void on_a_queue_of_receives(void **state)
{
	const struct pair_opts o = { .side[SERVER] = { .rcq_size = 10 } };
	struct rpma_completion c;
	struct field f;
	struct xfer x;
	int fd = -1;

	(void)state;
	field_open(&f, &o, SIZE);
	post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(70));
	x = field_xfer(&f, CLIENT, 64, CTX(1));
	op_post(&ops[OP_SEND], &x);
	assert_ok(rpma_cq_get_fd(f.pair.side[SERVER].rcq, &fd));
	wait_fd(fd);
	assert_ok(rpma_cq_wait(f.pair.side[SERVER].rcq));
	assert_ok(rpma_cq_get_completion(f.pair.side[SERVER].rcq, &c));
	assert_int_equal(c.op, RPMA_OP_RECV);
	assert_int_equal(c.byte_len, 64);
	assert_rpma(RPMA_E_NO_COMPLETION, rpma_cq_get_completion(f.pair.side[SERVER].rcq, &c));
	expect_done(x.by, CTX(1));
	field_close(&f);
}

/* 8 bytes from a registered region, not copied at once */
static void write_atomic(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	fill(f.mem[CLIENT].data, SIZE, 4);
	assert_rpma(RPMA_E_INVAL, rpma_write_atomic(f.pair.side[CLIENT].conn, f.mem[SERVER].remote,
					  4, f.mem[CLIENT].mr, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
	assert_ok(rpma_write_atomic(f.pair.side[CLIENT].conn, f.mem[SERVER].remote, 16,
		f.mem[CLIENT].mr, 3, RPMA_F_COMPLETION_ALWAYS, CTX(8)));
	expect_done(&f.pair.side[CLIENT], CTX(8));
	arrive(&f.pair.side[CLIENT]);
	assert_memory_equal(f.mem[SERVER].data + 16, f.mem[CLIENT].data + 3, 8);
	assert_all(f.mem[SERVER].data, 16, 0);
	assert_all(f.mem[SERVER].data + 24, SIZE - 24, 0);
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation_has_its_name),
		cmocka_unit_test(a_failed_one),
		cmocka_unit_test(on_a_queue_of_receives),
		cmocka_unit_test(write_atomic),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-legacy", tests, NULL, NULL);
}
