/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * op_build.c -- the requests that reads, writes and messages become
 */

#include "posted.h"

static void transfers(void **state)
{
	struct rp_send_wr want = {
		.lkey = posted_mr()->lkey,
		.addr = (uintptr_t)rig_memory + 16,
		.length = 100,
		.remote_addr = RIG_REMOTE_ADDR + 32,
		.rkey = RIG_REMOTE_KEY,
	};

	(void)state;
	for (size_t i = 0; i < SIGNALLINGS; i++) {
		int flags = signalling[i].flags;

		want.wr_id = (uintptr_t)signalling[i].context;
		want.flags = signalling[i].signaled;
		want.imm = 0;
		want.opcode = RP_OP_READ;
		assert_ok(rpma_read(
			rig.conn, rig.mr, 16, rig.remote, 32, 100, flags, signalling[i].context));
		posted_check(&want);
		want.opcode = RP_OP_WRITE;
		assert_ok(rpma_write(
			rig.conn, rig.remote, 32, rig.mr, 16, 100, flags, signalling[i].context));
		posted_check(&want);
		want.flags |= RP_WR_IMM;
		want.imm = 0x12345678;
		assert_ok(rpma_write_with_imm(rig.conn, rig.remote, 32, rig.mr, 16, 100, flags,
			0x12345678, signalling[i].context));
		posted_check(&want);
	}
}

static void transfers_without_data(void **state)
{
	struct rp_send_wr want = { .flags = RP_WR_SIGNALED };
	int flags = RPMA_F_COMPLETION_ALWAYS;

	(void)state;
	want.opcode = RP_OP_READ;
	assert_ok(rpma_read(rig.conn, NULL, 0, NULL, 0, 0, flags, NULL));
	posted_check(&want);
	want.opcode = RP_OP_WRITE;
	assert_ok(rpma_write(rig.conn, NULL, 0, NULL, 0, 0, flags, NULL));
	posted_check(&want);
	want.flags |= RP_WR_IMM;
	want.imm = UINT32_MAX;
	assert_ok(rpma_write_with_imm(rig.conn, NULL, 0, NULL, 0, 0, flags, UINT32_MAX, NULL));
	posted_check(&want);
}

/* Regions are not judged here: the longest length, and sums that wrap. */
static void transfers_anywhere(void **state)
{
	struct rp_send_wr want = {
		.opcode = RP_OP_WRITE, .lkey = posted_mr()->lkey, .rkey = RIG_REMOTE_KEY
	};
	static const size_t offsets[] = { 0, RIG_SIZE, (size_t)1 << 63, SIZE_MAX, SIZE_MAX - 7 };

	(void)state;
	want.length = UINT32_MAX;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		want.addr = (uintptr_t)rig_memory + (uint64_t)offsets[i];
		want.remote_addr = RIG_REMOTE_ADDR + (uint64_t)offsets[i];
		assert_ok(rpma_write(rig.conn, rig.remote, offsets[i], rig.mr, offsets[i],
			UINT32_MAX, RPMA_F_COMPLETION_ON_ERROR, NULL));
		posted_check(&want);
	}
	/* Length 0 of a region is not the same as no region. */
	want.length = 0;
	want.addr = (uintptr_t)rig_memory + RIG_SIZE;
	want.remote_addr = RIG_REMOTE_ADDR + RIG_SIZE;
	assert_ok(rpma_write(rig.conn, rig.remote, RIG_SIZE, rig.mr, RIG_SIZE, 0,
		RPMA_F_COMPLETION_ON_ERROR, NULL));
	posted_check(&want);
}

static void messages(void **state)
{
	struct rp_send_wr want = {
		.opcode = RP_OP_SEND,
		.lkey = posted_mr()->lkey,
		.addr = (uintptr_t)rig_memory + 16,
		.length = 100,
	};
	struct rp_send_wr empty = { .opcode = RP_OP_SEND };

	(void)state;
	for (size_t i = 0; i < SIGNALLINGS; i++) {
		int flags = signalling[i].flags;

		want.wr_id = empty.wr_id = (uintptr_t)signalling[i].context;
		want.flags = empty.flags = signalling[i].signaled;
		want.imm = empty.imm = 0;
		assert_ok(rpma_send(rig.conn, rig.mr, 16, 100, flags, signalling[i].context));
		posted_check(&want);
		assert_ok(rpma_send(rig.conn, NULL, 0, 0, flags, signalling[i].context));
		posted_check(&empty);
		want.flags |= RP_WR_IMM;
		empty.flags |= RP_WR_IMM;
		want.imm = empty.imm = 0x12345678;
		assert_ok(rpma_send_with_imm(
			rig.conn, rig.mr, 16, 100, flags, 0x12345678, signalling[i].context));
		posted_check(&want);
		assert_ok(rpma_send_with_imm(
			rig.conn, NULL, 0, 0, flags, 0x12345678, signalling[i].context));
		posted_check(&empty);
	}
}

static void check_recv(enum fake_op op, struct rp_mr *mr, size_t offset, size_t length)
{
	const struct rp_recv_wr *wr = &fake_last(op)->recv;

	assert_ptr_equal(fake_last(op)->mr, mr);
	assert_true(wr->addr == (mr ? (uintptr_t)rig_memory + (uint64_t)offset : 0));
	assert_int_equal(wr->length, length);
	assert_true(wr->wr_id == (uintptr_t)POISON);
}

static void receives(void **state)
{
	struct rp_mr *mr = posted_mr();
	struct rpma_conn_req *req = rig_active_req(rig.peer, NULL);
	struct rpma_srq *srq = NULL;

	(void)state;
	assert_ok(rpma_recv(rig.conn, rig.mr, 16, 100, POISON));
	check_recv(FAKE_POST_RECV, mr, 16, 100);
	assert_ok(rpma_recv(rig.conn, NULL, 0, 0, POISON));
	check_recv(FAKE_POST_RECV, NULL, 0, 0);
	assert_ok(rpma_recv(rig.conn, rig.mr, SIZE_MAX, UINT32_MAX, POISON));
	check_recv(FAKE_POST_RECV, mr, SIZE_MAX, UINT32_MAX);

	assert_ok(rpma_conn_req_recv(req, rig.mr, 17, 99, POISON));
	check_recv(FAKE_POST_RECV, mr, 17, 99);
	assert_ok(rpma_conn_req_recv(req, rig.mr, 0, 0, POISON));
	check_recv(FAKE_POST_RECV, mr, 0, 0);
	assert_ok(rpma_conn_req_delete(&req));

	assert_ok(rpma_srq_new(rig.peer, NULL, &srq));
	assert_ok(rpma_srq_recv(srq, rig.mr, 18, 98, POISON));
	check_recv(FAKE_SRQ_POST_RECV, mr, 18, 98);
	assert_ok(rpma_srq_recv(srq, NULL, 0, 0, POISON));
	check_recv(FAKE_SRQ_POST_RECV, NULL, 0, 0);
	assert_ok(rpma_srq_delete(&srq));
}

static void receive_with_srq(void **state)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_conn *conn;

	(void)state;
	assert_ok(rpma_srq_new(rig.peer, NULL, &srq));
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_srq(cfg, srq));
	conn = rig_connect(rig_active_req(rig.peer, cfg));
	assert_int_equal(rpma_recv(conn, rig.mr, 0, 8, NULL), RPMA_E_PROVIDER);
	assert_ok(rpma_conn_delete(&conn));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_ok(rpma_srq_delete(&srq));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		posted_test(transfers),
		posted_test(transfers_without_data),
		posted_test(transfers_anywhere),
		posted_test(messages),
		posted_test(receives),
		posted_test(receive_with_srq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
