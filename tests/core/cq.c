/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.c -- completions, as 1.x and as 0.10 hand them out
 */

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rig.h"

/* A connection and its queue. */
static struct rig rig;
static struct rpma_cq *cq;

static int up(void **state)
{
	rig_up(state);
	rig = rig_make(NULL);
	return rpma_conn_get_cq(rig.conn, &cq);
}

static int down(void **state)
{
	rig_drop(&rig);
	return rig_down(state);
}

static void push(uint64_t wr_id, enum ibv_wc_status status, int opcode, unsigned flags)
{
	struct ibv_wc wc = {
		.wr_id = wr_id,
		.status = status,
		.opcode = opcode,
		.byte_len = 1234,
		.wc_flags = flags,
		.imm_data = htonl(0x12345678),
	};

	fake_push_wc(rig_base_cq(cq), &wc);
}

/* ---- 1.x ---------------------------------------------------------------- */

static void arguments(void **state)
{
	struct ibv_wc wc[2];
	unsigned calls = fake_calls();
	int n = 77, fd = 77;

	(void)state;
	assert_inval(rpma_cq_get_fd(NULL, &fd));
	assert_inval(rpma_cq_get_fd(cq, NULL));
	assert_inval(rpma_cq_wait(NULL));
	assert_inval(rpma_cq_get_wc(NULL, 1, wc, &n));
	assert_inval(rpma_cq_get_wc(cq, 0, wc, &n));
	assert_inval(rpma_cq_get_wc(cq, -1, wc, &n));
	assert_inval(rpma_cq_get_wc(cq, 1, NULL, &n));
	assert_inval(rpma_cq_get_wc(cq, 2, wc, NULL));
	assert_int_equal(fake_calls(), calls);
	assert_int_equal(n, 77);
	assert_int_equal(fd, 77);
}

static void get_wc(void **state)
{
	struct ibv_wc wc[4];
	int n = 77;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		push(i, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
	assert_ok(rpma_cq_get_wc(cq, 4, wc, &n));
	assert_int_equal(n, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(wc[i].wr_id, i + 1);
	assert_ok(rpma_cq_get_wc(cq, 1, wc, NULL));
	assert_int_equal(wc[0].wr_id, 5);
	n = 77;
	assert_int_equal(rpma_cq_get_wc(cq, 4, wc, &n), RPMA_E_NO_COMPLETION);
	assert_int_equal(n, 77);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_DEBUG), 1);

	/* As the provider has it: immediate data in network order, any status. */
	push(0, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, IBV_WC_WITH_IMM);
	assert_ok(rpma_cq_get_wc(cq, 1, wc, &n));
	assert_int_equal(wc[0].status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc[0].imm_data, htonl(0x12345678));
	assert_int_equal(n, 1);
}

static void get_wc_failures(void **state)
{
	struct ibv_wc wc[2];
	int n = 77;

	(void)state;
	fake_fail(FAKE_CQ_POLL, EIO);
	assert_int_equal(rpma_cq_get_wc(cq, 2, wc, &n), RPMA_E_PROVIDER);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	fake_set_poll_result(3);
	assert_int_equal(rpma_cq_get_wc(cq, 2, wc, &n), RPMA_E_UNKNOWN);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 2);
	assert_int_equal(n, 77);
}

/* For the provider, however they are taken. */
static void taken_is_counted(void **state)
{
	struct rp_cq *base = rig_base_cq(cq);
	struct rpma_completion cmpl;
	struct ibv_wc wc[4];
	int n;

	(void)state;
	assert_int_equal(rpma_cq_get_wc(cq, 1, wc, NULL), RPMA_E_NO_COMPLETION);
	for (int i = 0; i < 3; i++) {
		push(1, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
		push(2, IBV_WC_SUCCESS, IBV_WC_RECV, 0);
		push(3, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM, 0);
		push(4, IBV_WC_SUCCESS, IBV_WC_RDMA_READ, 0);
		push(5, IBV_WC_SUCCESS, 9, 0); /* native atomic write */
	}
	for (int i = 0; i < 5; i++)
		assert_ok(rpma_cq_get_wc(cq, 1, wc, NULL));
	assert_int_equal(base->sends, 3);
	assert_int_equal(base->recvs, 2);
	assert_ok(rpma_cq_get_wc(cq, 4, wc, &n));
	assert_ok(rpma_cq_get_wc(cq, 1, wc, &n));
	assert_int_equal(base->sends, 6);
	assert_int_equal(base->recvs, 4);
	for (int i = 0; i < 5; i++)
		assert_ok(rpma_cq_get_completion(cq, &cmpl));
	assert_int_equal(base->sends, 9);
	assert_int_equal(base->recvs, 6);
	assert_false(base->failed);

	push(1, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0);
	assert_ok(rpma_cq_get_wc(cq, 1, wc, NULL));
	assert_true(base->failed);
	assert_int_equal(base->recvs, 6);
}

static void wait_arms_again(void **state)
{
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	for (int i = 0; i < 3; i++) {
		push(1, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
		push(2, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
		assert_ok(rpma_cq_wait(cq));
		assert_int_equal(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
		assert_ok(rpma_cq_get_wc(cq, 1, &wc, NULL));
		assert_ok(rpma_cq_get_wc(cq, 1, &wc, NULL));
	}
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);
}

static void wait_failures(void **state)
{
	static const struct {
		int err;
		unsigned errors;
	} cases[] = { { EAGAIN, 0 }, { EINTR, 0 }, { ECANCELED, 0 }, { EIO, 1 }, { ENOMEM, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_fail(FAKE_CHANNEL_WAIT, cases[i].err);
		rig_log_forget();
		assert_int_equal(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), cases[i].errors);
	}
	push(1, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
	fake_fail(FAKE_CQ_ARM, EIO);
	assert_int_equal(rpma_cq_wait(cq), RPMA_E_PROVIDER);
}

/* ---- 0.10 --------------------------------------------------------------- */

static void old_arguments(void **state)
{
	struct rpma_completion cmpl;
	unsigned calls = fake_calls();

	(void)state;
	assert_inval(rpma_cq_get_completion(NULL, &cmpl));
	assert_inval(rpma_cq_get_completion(cq, NULL));
	assert_inval(rpma_conn_completion_get(NULL, &cmpl));
	assert_inval(rpma_conn_completion_get(rig.conn, NULL));
	assert_int_equal(fake_calls(), calls);
}

static void old_wait_and_get(void **state)
{
	struct rpma_completion cmpl;

	(void)state;
	assert_int_equal(rpma_conn_completion_wait(rig.conn), RPMA_E_NO_COMPLETION);
	push(0xabcdef, IBV_WC_SUCCESS, IBV_WC_SEND, 0);
	assert_ok(rpma_conn_completion_wait(rig.conn));
	assert_ok(rpma_conn_completion_get(rig.conn, &cmpl));
	assert_ptr_equal(cmpl.op_context, (void *)0xabcdef);
	assert_int_equal(rpma_conn_completion_get(rig.conn, &cmpl), RPMA_E_NO_COMPLETION);

	push(1, IBV_WC_SUCCESS, IBV_WC_TM_RECV, 0);
	fake_fail(FAKE_CQ_ARM, EIO);
	assert_int_equal(rpma_conn_completion_wait(rig.conn), RPMA_E_PROVIDER);
	assert_int_equal(rpma_conn_completion_get(rig.conn, &cmpl), RPMA_E_NOSUPP);
}

static void old_ops(void **state)
{
	static const struct {
		int opcode;
		int ret;
		enum rpma_op op;
	} cases[] = {
		{ IBV_WC_SEND, 0, RPMA_OP_SEND },
		{ IBV_WC_RDMA_WRITE, 0, RPMA_OP_WRITE },
		{ IBV_WC_RDMA_READ, 0, RPMA_OP_READ },
		{ IBV_WC_RECV, 0, RPMA_OP_RECV },
		{ IBV_WC_RECV_RDMA_WITH_IMM, 0, RPMA_OP_RECV_RDMA_WITH_IMM },
		{ 8, 0, RPMA_OP_READ },	 /* native flush */
		{ 9, 0, RPMA_OP_WRITE }, /* native atomic write */
		{ IBV_WC_COMP_SWAP, RPMA_E_NOSUPP, 0 },
		{ IBV_WC_TM_RECV, RPMA_E_NOSUPP, 0 },
	};
	struct rpma_completion cmpl;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&cmpl, 0x77, sizeof(cmpl));
		push(i + 1, IBV_WC_SUCCESS, cases[i].opcode, 0);
		assert_int_equal(rpma_cq_get_completion(cq, &cmpl), cases[i].ret);
		assert_ptr_equal(cmpl.op_context, (void *)(i + 1));
		assert_int_equal(cmpl.op_status, IBV_WC_SUCCESS);
		if (!cases[i].ret) {
			assert_int_equal(cmpl.op, cases[i].op);
			assert_int_equal(cmpl.byte_len, 1234);
			assert_int_equal(cmpl.flags, 0);
		} else {
			assert_int_equal(cmpl.byte_len, 0x77777777);
		}
		assert_int_equal(cmpl.imm, 0x77777777);
	}
}

/* In host order, of receives only, if there is any. */
static void old_immediate(void **state)
{
	static const struct {
		int opcode;
		unsigned flags;
		bool imm;
	} cases[] = {
		{ IBV_WC_RECV, IBV_WC_WITH_IMM, true },
		{ IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM, true },
		{ IBV_WC_RECV, 0, false },
		{ IBV_WC_SEND, IBV_WC_WITH_IMM, false },
	};
	struct rpma_completion cmpl;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cmpl.imm = 77;
		push(0, IBV_WC_SUCCESS, cases[i].opcode, cases[i].flags);
		assert_ok(rpma_cq_get_completion(cq, &cmpl));
		assert_int_equal(cmpl.flags, cases[i].flags);
		assert_int_equal(cmpl.imm, cases[i].imm ? 0x12345678 : 77);
	}
}

static void old_failed_operation(void **state)
{
	struct rpma_completion cmpl;

	(void)state;
	memset(&cmpl, 0x77, sizeof(cmpl));
	push(5, IBV_WC_REM_ACCESS_ERR, IBV_WC_SEND, 0);
	assert_ok(rpma_cq_get_completion(cq, &cmpl));
	assert_ptr_equal(cmpl.op_context, (void *)5);
	assert_int_equal(cmpl.op_status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(cmpl.op, 0x77777777);
	assert_int_equal(cmpl.flags, 0x77777777);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_WARNING), 1);
}

static void old_get_failures(void **state)
{
	struct rpma_completion cmpl, before;

	(void)state;
	memset(&cmpl, 0x77, sizeof(cmpl));
	before = cmpl;
	assert_int_equal(rpma_cq_get_completion(cq, &cmpl), RPMA_E_NO_COMPLETION);
	fake_fail(FAKE_CQ_POLL, EIO);
	assert_int_equal(rpma_cq_get_completion(cq, &cmpl), RPMA_E_PROVIDER);
	fake_set_poll_result(2);
	assert_int_equal(rpma_cq_get_completion(cq, &cmpl), RPMA_E_UNKNOWN);
	assert_int_equal(rpma_conn_completion_get(rig.conn, &cmpl), RPMA_E_UNKNOWN);
	assert_memory_equal(&cmpl, &before, sizeof(cmpl));
}

#define cq_test(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cq_test(arguments),
		cq_test(get_wc),
		cq_test(get_wc_failures),
		cq_test(taken_is_counted),
		cq_test(wait_arms_again),
		cq_test(wait_failures),
		cq_test(old_arguments),
		cq_test(old_wait_and_get),
		cq_test(old_ops),
		cq_test(old_immediate),
		cq_test(old_failed_operation),
		cq_test(old_get_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
