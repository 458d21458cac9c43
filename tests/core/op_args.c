/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * op_args.c -- what the data-path calls refuse
 */

#include <errno.h>
#include <string.h>

#include "rig.h"

#define ALWAYS RPMA_F_COMPLETION_ALWAYS
#define TOO_LONG ((size_t)UINT32_MAX + 1)

static struct rig rig;
static struct rpma_conn_req *req;
static struct rpma_srq *srq;

static int up(void **state)
{
	rig_up(state);
	rig = rig_make(NULL);
	req = rig_active_req(rig.peer, NULL);
	rig_log_forget();
	return rpma_srq_new(rig.peer, NULL, &srq);
}

static int down(void **state)
{
	assert_ok(rpma_srq_delete(&srq));
	assert_ok(rpma_conn_req_delete(&req));
	rig_drop(&rig);
	return rig_down(state);
}

/* ---- read and write: one rule for the three ----------------------------- */

static int do_read(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
	struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_read(conn, local, local_offset, remote, remote_offset, len, flags, POISON);
}

static int do_write(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
	struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_write(conn, remote, remote_offset, local, local_offset, len, flags, POISON);
}

static int do_write_imm(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
	struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_write_with_imm(
		conn, remote, remote_offset, local, local_offset, len, flags, 9, POISON);
}

static void transfers(void **state)
{
	static int (*const calls[])(struct rpma_conn *, struct rpma_mr_local *, size_t,
		struct rpma_mr_remote *, size_t, size_t, int) = { do_read, do_write, do_write_imm };
	struct rpma_conn *c = rig.conn;
	struct rpma_mr_local *l = rig.mr;
	struct rpma_mr_remote *r = rig.remote;
	unsigned posted;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		posted = fake_calls();
		assert_inval(calls[i](NULL, l, 0, r, 0, 8, ALWAYS));
		assert_inval(calls[i](c, l, 0, r, 0, 8, 0));
		assert_inval(calls[i](c, NULL, 0, r, 0, 8, ALWAYS));
		assert_inval(calls[i](c, NULL, 0, r, 0, 0, ALWAYS));
		assert_inval(calls[i](c, l, 0, NULL, 0, 8, ALWAYS));
		assert_inval(calls[i](c, l, 0, NULL, 0, 0, ALWAYS));
		assert_inval(calls[i](c, NULL, 1, NULL, 0, 0, ALWAYS));
		assert_inval(calls[i](c, NULL, 0, NULL, 1, 0, ALWAYS));
		assert_inval(calls[i](c, NULL, 0, NULL, 0, 1, ALWAYS));
		assert_inval(calls[i](c, l, 0, r, 0, TOO_LONG, ALWAYS));
		assert_inval(calls[i](c, l, 0, r, 0, TOO_LONG + 1, ALWAYS));
		assert_inval(calls[i](c, l, 0, r, 0, SIZE_MAX, ALWAYS));
		assert_int_equal(fake_calls(), posted);

		fake_fail(FAKE_POST_SEND, ENOMEM);
		assert_int_equal(calls[i](c, l, 0, r, 0, 8, ALWAYS), RPMA_E_PROVIDER);
		fake_fail(FAKE_POST_SEND, EINVAL);
		assert_int_equal(calls[i](c, l, 0, r, 0, 8, ALWAYS), RPMA_E_PROVIDER);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 2 * (i + 1));
	}
}

/* ---- atomic write, new and old ------------------------------------------ */

static void atomic_writes(void **state)
{
	static const char src[8];
	unsigned posted = fake_calls();

	(void)state;
	assert_inval(rpma_atomic_write(NULL, rig.remote, 0, src, ALWAYS, NULL));
	assert_inval(rpma_atomic_write(rig.conn, NULL, 0, src, ALWAYS, NULL));
	assert_inval(rpma_atomic_write(rig.conn, rig.remote, 0, NULL, ALWAYS, NULL));
	assert_inval(rpma_atomic_write(rig.conn, rig.remote, 0, src, 0, NULL));
	assert_inval(rpma_write_atomic(NULL, rig.remote, 0, rig.mr, 0, ALWAYS, NULL));
	assert_inval(rpma_write_atomic(rig.conn, NULL, 0, rig.mr, 0, ALWAYS, NULL));
	assert_inval(rpma_write_atomic(rig.conn, rig.remote, 0, NULL, 0, ALWAYS, NULL));
	assert_inval(rpma_write_atomic(rig.conn, NULL, 0, NULL, 0, ALWAYS, NULL));
	assert_inval(rpma_write_atomic(rig.conn, rig.remote, 0, rig.mr, 0, 0, NULL));
	for (size_t offset = 1; offset < 8; offset++) {
		assert_inval(rpma_atomic_write(rig.conn, rig.remote, offset, src, ALWAYS, NULL));
		assert_inval(
			rpma_write_atomic(rig.conn, rig.remote, offset, rig.mr, 0, ALWAYS, NULL));
	}
	assert_int_equal(fake_calls(), posted);

	fake_fail(FAKE_POST_SEND, ENOMEM);
	assert_int_equal(
		rpma_atomic_write(rig.conn, rig.remote, 0, src, ALWAYS, NULL), RPMA_E_PROVIDER);
	fake_fail(FAKE_POST_SEND, ENOMEM);
	assert_int_equal(rpma_write_atomic(rig.conn, rig.remote, 0, rig.mr, 0, ALWAYS, NULL),
		RPMA_E_PROVIDER);
}

/* ---- flush -------------------------------------------------------------- */

static void flush_arguments(void **state)
{
	unsigned posted = fake_calls();

	(void)state;
	assert_inval(rpma_flush(NULL, rig.remote, 0, 1, 1, ALWAYS, NULL));
	assert_inval(rpma_flush(rig.conn, NULL, 0, 1, 1, ALWAYS, NULL));
	assert_inval(rpma_flush(rig.conn, rig.remote, 0, 1, 1, 0, NULL));
	assert_inval(rpma_flush(rig.conn, rig.remote, 0, 1, 2, ALWAYS, NULL));
	assert_inval(rpma_flush(rig.conn, rig.remote, 0, 1, -1, ALWAYS, NULL));
	assert_int_equal(fake_calls(), posted);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);

	fake_fail(FAKE_POST_SEND, EIO);
	assert_int_equal(
		rpma_flush(rig.conn, rig.remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL),
		RPMA_E_PROVIDER);
}

/* Every combination of what decides whether a flush of a type can be. */
static void flush_supported(void **state)
{
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_mr_remote *remote;

	(void)state;
	assert_ok(rpma_peer_cfg_new(&pcfg));
	for (int i = 0; i < 32; i++) {
		enum rpma_flush_type type = i & 1;
		uint8_t usage = (uint8_t)((i & 6) << 3 | RPMA_MR_USAGE_WRITE_DST);
		bool native = i & 8, direct = i & 16, ok;

		fake_set_caps(0, native ? RP_CAP_FLUSH : 0);
		assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, direct));
		assert_ok(rpma_conn_apply_remote_peer_cfg(rig.conn, pcfg));
		if (type == RPMA_FLUSH_TYPE_PERSISTENT)
			ok = (usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) && (native || direct);
		else
			ok = usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

		remote = rig_remote(RIG_SIZE, usage);
		rig_log_forget();
		assert_int_equal(rpma_flush(rig.conn, remote, 0, 8, type, ALWAYS, NULL),
			ok ? 0 : RPMA_E_NOSUPP);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), ok ? 0 : 1);
		assert_ok(rpma_mr_remote_delete(&remote));
	}
	assert_ok(rpma_peer_cfg_delete(&pcfg));
}

/* ---- messages ----------------------------------------------------------- */

static void sends(void **state)
{
	struct rpma_conn *c = rig.conn;
	struct rpma_mr_local *l = rig.mr;
	unsigned posted = fake_calls();

	(void)state;
	assert_inval(rpma_send(NULL, l, 0, 8, ALWAYS, NULL));
	assert_inval(rpma_send(c, l, 0, 8, 0, NULL));
	assert_inval(rpma_send(c, NULL, 1, 0, ALWAYS, NULL));
	assert_inval(rpma_send(c, NULL, 0, 1, ALWAYS, NULL));
	assert_inval(rpma_send(c, l, 0, TOO_LONG, ALWAYS, NULL));
	assert_inval(rpma_send_with_imm(NULL, l, 0, 8, ALWAYS, 9, NULL));
	assert_inval(rpma_send_with_imm(c, l, 0, 8, 0, 9, NULL));
	assert_inval(rpma_send_with_imm(c, NULL, 1, 0, ALWAYS, 9, NULL));
	assert_inval(rpma_send_with_imm(c, NULL, 0, 1, ALWAYS, 9, NULL));
	assert_inval(rpma_send_with_imm(c, l, 0, TOO_LONG, ALWAYS, 9, NULL));
	assert_int_equal(fake_calls(), posted);

	fake_fail(FAKE_POST_SEND, ENOMEM);
	assert_int_equal(rpma_send(c, l, 0, 8, ALWAYS, NULL), RPMA_E_PROVIDER);
	fake_fail(FAKE_POST_SEND, ENOMEM);
	assert_int_equal(rpma_send_with_imm(c, l, 0, 8, ALWAYS, 9, NULL), RPMA_E_PROVIDER);
}

static void receives(void **state)
{
	struct rpma_conn *c = rig.conn;
	struct rpma_mr_local *l = rig.mr;
	unsigned posted = fake_calls();

	(void)state;
	assert_inval(rpma_recv(NULL, l, 0, 8, NULL));
	assert_inval(rpma_recv(c, NULL, 1, 0, NULL));
	assert_inval(rpma_recv(c, NULL, 0, 1, NULL));
	assert_inval(rpma_recv(c, l, 0, TOO_LONG, NULL));
	assert_inval(rpma_conn_req_recv(NULL, l, 0, 8, NULL));
	assert_inval(rpma_conn_req_recv(req, NULL, 0, 0, NULL));
	assert_inval(rpma_conn_req_recv(req, l, 0, TOO_LONG, NULL));
	assert_inval(rpma_srq_recv(NULL, l, 0, 8, NULL));
	assert_inval(rpma_srq_recv(srq, NULL, 1, 0, NULL));
	assert_inval(rpma_srq_recv(srq, NULL, 0, 1, NULL));
	assert_inval(rpma_srq_recv(srq, l, 0, TOO_LONG, NULL));
	assert_int_equal(fake_calls(), posted);

	fake_fail(FAKE_POST_RECV, ENOMEM);
	assert_int_equal(rpma_recv(c, l, 0, 8, NULL), RPMA_E_PROVIDER);
	fake_fail(FAKE_POST_RECV, ENOMEM);
	assert_int_equal(rpma_conn_req_recv(req, l, 0, 8, NULL), RPMA_E_PROVIDER);
	fake_fail(FAKE_SRQ_POST_RECV, ENOMEM);
	assert_int_equal(rpma_srq_recv(srq, l, 0, 8, NULL), RPMA_E_PROVIDER);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 3);
}

#define op_test(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		op_test(transfers),
		op_test(atomic_writes),
		op_test(flush_arguments),
		op_test(flush_supported),
		op_test(sends),
		op_test(receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
