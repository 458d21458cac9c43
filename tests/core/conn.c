/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn.c -- connections: getters, events, the end
 */

#include <errno.h>
#include <string.h>

#include "rig.h"

static void arguments(void **state)
{
	struct rig rig = rig_make(NULL);
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_conn_private_data pdata = { POISON, 77 };
	enum rpma_conn_event event = 77;
	struct rpma_cq *cq = POISON;
	bool is_rcq = true;
	uint32_t num = 77;
	unsigned calls;
	int fd = 77;

	(void)state;
	assert_ok(rpma_peer_cfg_new(&pcfg));
	calls = fake_calls();
	assert_inval(rpma_conn_get_event_fd(NULL, &fd));
	assert_inval(rpma_conn_get_event_fd(rig.conn, NULL));
	assert_inval(rpma_conn_get_compl_fd(NULL, &fd));
	assert_inval(rpma_conn_get_compl_fd(rig.conn, NULL));
	assert_inval(rpma_conn_get_completion_fd(NULL, &fd));
	assert_inval(rpma_conn_get_completion_fd(rig.conn, NULL));
	assert_inval(rpma_conn_get_qp_num(NULL, &num));
	assert_inval(rpma_conn_get_qp_num(rig.conn, NULL));
	assert_inval(rpma_conn_get_cq(NULL, &cq));
	assert_inval(rpma_conn_get_cq(rig.conn, NULL));
	assert_inval(rpma_conn_get_rcq(NULL, &cq));
	assert_inval(rpma_conn_get_rcq(rig.conn, NULL));
	assert_inval(rpma_conn_get_private_data(NULL, &pdata));
	assert_inval(rpma_conn_get_private_data(rig.conn, NULL));
	assert_inval(rpma_conn_apply_remote_peer_cfg(NULL, pcfg));
	assert_inval(rpma_conn_apply_remote_peer_cfg(rig.conn, NULL));
	assert_inval(rpma_conn_next_event(NULL, &event));
	assert_inval(rpma_conn_next_event(rig.conn, NULL));
	assert_inval(rpma_conn_wait(NULL, 0, &cq, &is_rcq));
	assert_inval(rpma_conn_wait(rig.conn, 0, NULL, &is_rcq));
	assert_inval(rpma_conn_completion_wait(NULL));
	assert_inval(rpma_conn_disconnect(NULL));
	assert_inval(rpma_conn_delete(NULL));
	assert_int_equal(fake_calls(), calls);
	assert_int_equal(fd, 77);
	assert_int_equal(num, 77);
	assert_ptr_equal(cq, POISON);
	assert_ptr_equal(pdata.ptr, POISON);
	assert_int_equal(event, 77);
	assert_true(is_rcq);

	assert_ok(rpma_peer_cfg_delete(&pcfg));
	rig_drop(&rig);
	assert_null(rig.conn);
	assert_ok(rpma_conn_delete(&rig.conn));
}

static void getters(void **state)
{
	struct rig rig = rig_make(NULL);
	struct rpma_cq *cq = NULL, *rcq = POISON;
	int fd = -1, cq_fd = -2, old_fd = -3;
	uint32_t num = 0;

	(void)state;
	assert_ok(rpma_conn_get_event_fd(rig.conn, &fd));
	assert_true(fd >= 500);
	assert_ok(rpma_conn_get_qp_num(rig.conn, &num));
	assert_true(num >= 0x100);
	assert_ok(rpma_conn_get_cq(rig.conn, &cq));
	assert_non_null(cq);
	assert_ok(rpma_conn_get_rcq(rig.conn, &rcq));
	assert_null(rcq);
	assert_ok(rpma_cq_get_fd(cq, &cq_fd));
	assert_ok(rpma_conn_get_completion_fd(rig.conn, &old_fd));
	assert_int_equal(cq_fd, old_fd);
	rig_drop(&rig);
}

static struct rpma_conn_cfg *shared_channel(void)
{
	struct rpma_conn_cfg *cfg = NULL;

	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_compl_channel(cfg, true));
	assert_ok(rpma_conn_cfg_set_rcq_size(cfg, 7));
	return cfg;
}

/* ---- events ------------------------------------------------------------- */

static void events(void **state)
{
	struct rig rig = rig_make(NULL);
	enum rpma_conn_event event;

	(void)state;
	for (int i = RPMA_CONN_ESTABLISHED; i <= RPMA_CONN_UNREACHABLE; i++) {
		fake_push_event(i);
		rig_log_forget();
		event = RPMA_CONN_UNDEFINED;
		assert_ok(rpma_conn_next_event(rig.conn, &event));
		assert_int_equal(event, i);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 1);
		assert_non_null(strstr(rig_log_text(), rpma_utils_conn_event_2str(event)));
	}
	rig_drop(&rig);
}

static void event_failures(void **state)
{
	static const struct {
		int err;
		int code;
		unsigned errors;
	} cases[] = {
		{ 0, RPMA_E_NO_EVENT, 0 },
		{ EAGAIN, RPMA_E_NO_EVENT, 0 },
		{ ENODATA, RPMA_E_NO_EVENT, 0 },
		{ EPROTO, RPMA_E_UNKNOWN, 0 },
		{ EIO, RPMA_E_PROVIDER, 1 },
		{ ENOMEM, RPMA_E_PROVIDER, 1 },
		{ ECANCELED, RPMA_E_PROVIDER, 0 },
	};
	struct rig rig = rig_make(NULL);
	enum rpma_conn_event event = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_fail(FAKE_CONN_NEXT_EVENT, cases[i].err);
		rig_log_forget();
		assert_int_equal(rpma_conn_next_event(rig.conn, &event), cases[i].code);
		assert_int_equal(event, 77);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), cases[i].errors);
	}
	rig_drop(&rig);
}

static void delete_conn(void *conn_ptr)
{
	assert_ok(rpma_conn_delete(conn_ptr));
}

/* As with an endpoint: a thread waits, another one deletes. */
static void delete_while_waiting(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_cfg *cfg = shared_channel();
	enum rpma_conn_event event = 77;
	struct rpma_conn *conn;
	struct rpma_cq *cq = POISON;

	(void)state;
	conn = rig_connect(rig_active_req(peer, cfg));
	fake_hook(FAKE_CONN_NEXT_EVENT, delete_conn, &conn);
	fake_fail(FAKE_CONN_NEXT_EVENT, ECANCELED);
	assert_int_equal(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER);
	assert_int_equal(event, 77);

	conn = rig_connect(rig_active_req(peer, cfg));
	fake_hook(FAKE_CHANNEL_WAIT, delete_conn, &conn);
	fake_fail(FAKE_CHANNEL_WAIT, ECANCELED);
	assert_int_equal(rpma_conn_wait(conn, 0, &cq, NULL), RPMA_E_NO_COMPLETION);
	assert_ptr_equal(cq, POISON);

	conn = rig_connect(rig_active_req(peer, NULL));
	fake_hook(FAKE_CHANNEL_WAIT, delete_conn, &conn);
	fake_fail(FAKE_CHANNEL_WAIT, ECANCELED);
	assert_int_equal(rpma_conn_completion_wait(conn), RPMA_E_NO_COMPLETION);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_ok(rpma_peer_delete(&peer));
}

/* ---- the end ------------------------------------------------------------ */

static void disconnect(void **state)
{
	struct rig rig = rig_make(NULL);

	(void)state;
	assert_ok(rpma_conn_disconnect(rig.conn));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 1);
	assert_ok(rpma_conn_disconnect(rig.conn));
	fake_fail(FAKE_CONN_DISCONNECT, ENOTCONN);
	assert_int_equal(rpma_conn_disconnect(rig.conn), RPMA_E_PROVIDER);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	rig_drop(&rig);
	/* Deleting is not disconnecting. */
	assert_int_equal(fake_count(FAKE_CONN_DISCONNECT), 3);
}

static void delete_goes_on(void **state)
{
	static const enum fake_op ops[] = { FAKE_CONN_DESTROY, FAKE_CQ_DESTROY,
		FAKE_CHANNEL_DESTROY };
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_cfg *cfg = shared_channel();
	struct rpma_conn *conn;

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		conn = rig_connect(rig_active_req(peer, cfg));
		fake_fail(ops[i], EIO);
		assert_int_equal(rpma_conn_delete(&conn), RPMA_E_PROVIDER);
		assert_null(conn);
	}
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 3);
	assert_int_equal(fake_count(FAKE_CQ_DESTROY), 6);
	assert_int_equal(fake_count(FAKE_CHANNEL_DESTROY), 3);
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_ok(rpma_peer_delete(&peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(arguments),
		rig_test(getters),
		rig_test(events),
		rig_test(event_failures),
		rig_test(delete_while_waiting),
		rig_test(disconnect),
		rig_test(delete_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
