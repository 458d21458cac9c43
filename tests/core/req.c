/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * req.c -- connection requests of both sides, up to the connection
 */

#include <errno.h>
#include <string.h>

#include "rig.h"

/* ---- requests ----------------------------------------------------------- */

static void req_arguments(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_req *req = POISON;
	struct rpma_conn_private_data pdata = { POISON, 77 };
	unsigned calls = fake_calls();

	(void)state;
	assert_inval(rpma_conn_req_new(NULL, "::1", "1", NULL, &req));
	assert_inval(rpma_conn_req_new(peer, NULL, "1", NULL, &req));
	assert_inval(rpma_conn_req_new(peer, "::1", NULL, NULL, &req));
	assert_inval(rpma_conn_req_new(peer, "::1", "1", NULL, NULL));
	assert_ptr_equal(req, POISON);
	assert_inval(rpma_conn_req_delete(NULL));
	req = NULL;
	assert_ok(rpma_conn_req_delete(&req));
	assert_inval(rpma_conn_req_get_private_data(NULL, &pdata));
	assert_int_equal(fake_calls(), calls);

	req = rig_active_req(peer, NULL);
	assert_inval(rpma_conn_req_get_private_data(req, NULL));
	assert_ptr_equal(pdata.ptr, POISON);
	assert_ok(rpma_conn_req_delete(&req));
	assert_null(req);
	assert_ok(rpma_peer_delete(&peer));
}

static void req_new_passes_on(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = POISON;

	(void)state;
	req = rig_active_req(peer, NULL);
	assert_string_equal(fake_last(FAKE_CONN_CREATE)->addr, "192.0.2.1");
	assert_string_equal(fake_last(FAKE_CONN_CREATE)->port, "7204");
	assert_int_equal(fake_last(FAKE_CONN_CREATE)->timeout_ms, RPMA_DEFAULT_TIMEOUT_MS);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 1);
	assert_ok(rpma_conn_req_delete(&req));

	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_timeout(cfg, 12345));
	req = rig_active_req(peer, cfg);
	assert_int_equal(fake_last(FAKE_CONN_CREATE)->timeout_ms, 12345);
	assert_ok(rpma_conn_req_delete(&req));
	assert_ok(rpma_conn_cfg_delete(&cfg));

	req = POISON;
	fake_fail(FAKE_CONN_CREATE, EHOSTUNREACH);
	assert_int_equal(rpma_conn_req_new(peer, "example", "http", NULL, &req), RPMA_E_PROVIDER);
	assert_ptr_equal(req, POISON);
	assert_non_null(strstr(rig_log_text(), "example"));
	assert_non_null(strstr(rig_log_text(), "http"));
	assert_non_null(strstr(rig_log_text(), strerror(EHOSTUNREACH)));
	assert_ok(rpma_peer_delete(&peer));
}

/* The other side of a request that is not wanted, or cannot be equipped, is told,
 * before the connection goes. */
static void passive_is_rejected(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_req *req = rig_passive_req(ep, NULL);

	(void)state;
	assert_ok(rpma_conn_req_delete(&req));
	assert_null(req);
	assert_int_equal(fake_count(FAKE_CONN_REJECT), 1);
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 1);

	req = POISON;
	fake_push_request();
	fake_fail(FAKE_CONN_SETUP_QP, ENOMEM);
	assert_int_equal(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER);
	assert_ptr_equal(req, POISON);
	assert_int_equal(fake_count(FAKE_CONN_REJECT), 2);
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 2);

	req = rig_passive_req(ep, NULL);
	fake_fail(FAKE_CONN_REJECT, EPIPE);
	assert_int_equal(rpma_conn_req_delete(&req), RPMA_E_PROVIDER);
	assert_null(req);
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 3);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

static void active_is_not_rejected(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_req *req = rig_active_req(peer, NULL);

	(void)state;
	assert_ok(rpma_conn_req_delete(&req));
	assert_int_equal(fake_count(FAKE_CONN_REJECT), 0);
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 1);
	assert_ok(rpma_peer_delete(&peer));
}

/* No memory, no loss: the request waits for the next call. */
static void passive_without_memory(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_req *req = POISON;

	(void)state;
	fake_push_request();
	rig_alloc_fail_at(1);
	assert_int_equal(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_NOMEM);
	assert_ptr_equal(req, POISON);
	assert_ok(rpma_ep_next_conn_req(ep, NULL, &req));
	assert_ok(rpma_conn_req_delete(&req));
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

/* ---- connect ------------------------------------------------------------ */

static void connect_without_request(void **state)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = POISON;

	(void)state;
	assert_inval(rpma_conn_req_connect(NULL, NULL, &conn));
	assert_inval(rpma_conn_req_connect(&req, NULL, &conn));
	assert_ptr_equal(conn, POISON);
	assert_int_equal(fake_calls(), 0);
}

/* Every failure consumes the request, and a passive one is rejected. */
static void connect_consumes(void **state)
{
	static const struct rpma_conn_private_data bad[] = { { NULL, 5 }, { rig_memory, 0 },
		{ NULL, 0 } };
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn *conn = POISON;
	struct rpma_conn_req *req;
	unsigned rejected = 0;

	(void)state;
	for (int passive = 0; passive <= 1; passive++) {
		for (int i = 0; i < 5; i++) {
			req = passive ? rig_passive_req(ep, NULL) : rig_active_req(peer, NULL);
			if (i < 3) {
				assert_inval(rpma_conn_req_connect(&req, &bad[i], &conn));
			} else if (i == 3) {
				assert_inval(rpma_conn_req_connect(&req, NULL, NULL));
			} else {
				fake_fail(passive ? FAKE_CONN_ACCEPT : FAKE_CONN_CONNECT, EINVAL);
				assert_int_equal(
					rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_PROVIDER);
			}
			assert_null(req);
			assert_ptr_equal(conn, POISON);
			rejected += (unsigned)passive;
			assert_int_equal(fake_count(FAKE_CONN_REJECT), rejected);
			assert_ok(rpma_conn_req_delete(&req));
		}
	}
	assert_int_equal(fake_count(FAKE_CONN_DESTROY), 10);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

static void connect_sends_private_data(void **state)
{
	uint8_t data[UINT8_MAX];
	struct rpma_conn_private_data pdata = { data, 0 };
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn *conn = NULL;
	struct rpma_conn_req *req;
	const struct fake_call *call;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	for (int passive = 0; passive <= 1; passive++) {
		enum fake_op op = passive ? FAKE_CONN_ACCEPT : FAKE_CONN_CONNECT;

		for (int len = 1; len <= UINT8_MAX; len += 127) {
			pdata.len = (uint8_t)len;
			req = passive ? rig_passive_req(ep, NULL) : rig_active_req(peer, NULL);
			assert_ok(rpma_conn_req_connect(&req, &pdata, &conn));
			assert_null(req);
			call = fake_last(op);
			assert_int_equal(call->data_len, len);
			assert_memory_equal(call->data, data, len);
			assert_ok(rpma_conn_delete(&conn));
		}
		conn = rig_connect(
			passive ? rig_passive_req(ep, NULL) : rig_active_req(peer, NULL));
		assert_int_equal(fake_last(op)->data_len, 0);
		assert_ok(rpma_conn_delete(&conn));
	}
	assert_int_equal(fake_count(FAKE_CONN_REJECT), 0);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

/* Passive: from the request on, at the same place. Active: once established. */
static void private_data_received(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_private_data pdata, again;
	enum rpma_conn_event event;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	(void)state;
	fake_set_peer_data("twelve bytes", 12);
	req = rig_passive_req(ep, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &pdata));
	assert_int_equal(pdata.len, 12);
	assert_memory_equal(pdata.ptr, "twelve bytes", 12);
	conn = rig_connect(req);
	assert_ok(rpma_conn_get_private_data(conn, &again));
	assert_ptr_equal(again.ptr, pdata.ptr);
	assert_int_equal(again.len, pdata.len);
	assert_ok(rpma_conn_delete(&conn));

	req = rig_active_req(peer, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &pdata));
	assert_null(pdata.ptr);
	assert_int_equal(pdata.len, 0);
	conn = rig_connect(req);
	assert_ok(rpma_conn_get_private_data(conn, &pdata));
	assert_null(pdata.ptr);
	fake_push_event(RPMA_CONN_ESTABLISHED);
	fake_push_event(RPMA_CONN_CLOSED);
	for (int i = 0; i < 2; i++) {
		assert_ok(rpma_conn_next_event(conn, &event));
		assert_ok(rpma_conn_get_private_data(conn, &pdata));
		assert_int_equal(pdata.len, 12);
		assert_memory_equal(pdata.ptr, "twelve bytes", 12);
	}
	assert_ok(rpma_conn_delete(&conn));
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(req_arguments),
		rig_test(req_new_passes_on),
		rig_test(passive_is_rejected),
		rig_test(active_is_not_rejected),
		rig_test(passive_without_memory),
		rig_test(connect_without_request),
		rig_test(connect_consumes),
		rig_test(connect_sends_private_data),
		rig_test(private_data_received),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
