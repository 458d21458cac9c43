/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* reject.c -- requests that one end refuses or gives up */

#include "pair_ops.h"
#include "pair_wait.h"

/* ---- the server does not want -------------------------------------------- */

static void reject_by_delete(void **state)
{
	struct net n;
	int fds = 0;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 100; i++) {
		struct rpma_conn *conn = client_start(&n, NULL);
		struct rpma_conn_req *req = server_req(&n, NULL);

		assert_ok(rpma_conn_req_delete(&req));
		assert_null(req);
		assert_ok(rpma_conn_req_delete(&req));
		expect_event(conn, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&conn));
		if (i == 10)
			fds = count_self("fd");
	}
	settle_self("fd", fds);
	net_close(&n);
}

struct bad_connect {
	struct rpma_conn_private_data data;
	bool with_conn;
};

static const struct bad_connect bad_connects[] = {
	{ { NULL, 5 }, true },
	{ { (void *)(uintptr_t) "x", 0 }, true },
	{ { (void *)(uintptr_t) "x", 1 }, false },
};

static void invalid_data_rejects(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(bad_connects); i++) {
		const struct bad_connect *b = &bad_connects[i];
		struct rpma_conn *cli = client_start(&n, NULL), *srv = NULL;
		struct rpma_conn_req *req = server_req(&n, NULL);

		assert_rpma(RPMA_E_INVAL,
			rpma_conn_req_connect(&req, &b->data, b->with_conn ? &srv : NULL));
		assert_null(req);
		assert_null(srv);
		expect_event(cli, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&cli));
	}
	net_close(&n);
}

/* The active side: the request is gone, and no server ever hears of it. */
static void invalid_data_connects_nobody(void **state)
{
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(bad_connects); i++) {
		const struct bad_connect *b = &bad_connects[i];
		struct rpma_conn_req *req = client_req(&n, NULL);
		struct rpma_conn *conn = NULL;

		assert_rpma(RPMA_E_INVAL,
			rpma_conn_req_connect(&req, &b->data, b->with_conn ? &conn : NULL));
		assert_null(req);
		assert_null(conn);
		assert_rpma(RPMA_E_INVAL, rpma_conn_req_connect(&req, NULL, &conn));
	}
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	assert_false(readable(fd));
	net_close(&n);
}

static void request_never_connected(void **state)
{
	struct rpma_conn_req *req;
	struct net n;

	(void)state;
	net_open(&n);
	req = client_req(&n, NULL);
	assert_ok(rpma_conn_req_delete(&req));
	assert_null(req);
	net_close(&n);
}

/* ---- one end goes away half-way ------------------------------------------ */

static void client_gone_before_accept(void **state)
{
	struct rpma_conn *cli, *srv = NULL;
	struct rpma_conn_req *req;
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	cli = client_start(&n, NULL);
	req = server_req(&n, NULL);
	assert_ok(rpma_conn_delete(&cli));
	if (rpma_conn_req_connect(&req, NULL, &srv) == 0) {
		if (next_event(srv) == RPMA_CONN_ESTABLISHED)
			expect_end(srv);
		assert_ok(rpma_conn_delete(&srv));
	}
	assert_null(req);
	pair_connect(&p, &n, NULL);
	pair_close(&p);
	net_close(&n);
}

static void shutdown_refuses_the_waiting(void **state)
{
	struct rpma_conn *conn[4];
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(conn); i++)
		conn[i] = client_start(&n, NULL);
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	wait_fd(fd);
	assert_ok(rpma_ep_shutdown(&n.ep));
	for (size_t i = 0; i < ARRAY_LEN(conn); i++) {
		enum rpma_conn_event event = next_event(conn[i]);

		if (event != RPMA_CONN_UNREACHABLE || traits()->refuses_waiting)
			assert_int_equal(event, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&conn[i]));
	}
	net_close(&n);
}

/* A request that was taken, and a connection, live on without the endpoint. */
static void shutdown_spares_the_taken(void **state)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn[SIDES];
	struct pair p, old;
	struct net n;

	(void)state;
	net_open(&n);
	pair_connect(&old, &n, NULL);
	conn[CLIENT] = client_start(&n, NULL);
	req = server_req(&n, NULL);
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_null(n.ep);
	conn[SERVER] = req_connect(req, NULL);
	p.net = &n;
	for (int i = 0; i < SIDES; i++) {
		expect_event(conn[i], RPMA_CONN_ESTABLISHED);
		side_init(&p.side[i], n.peer[i], conn[i], NULL);
	}
	pair_close(&p);
	pair_close(&old);
	net_close(&n);
}

/* ... or is refused without it. */
static void shutdown_then_reject(void **state)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct net n;

	(void)state;
	net_open(&n);
	conn = client_start(&n, NULL);
	req = server_req(&n, NULL);
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_ok(rpma_conn_req_delete(&req));
	expect_event(conn, RPMA_CONN_REJECTED);
	assert_ok(rpma_conn_delete(&conn));
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reject_by_delete),
		cmocka_unit_test(invalid_data_rejects),
		cmocka_unit_test(invalid_data_connects_nobody),
		cmocka_unit_test(request_never_connected),
		cmocka_unit_test(client_gone_before_accept),
		cmocka_unit_test(shutdown_refuses_the_waiting),
		cmocka_unit_test(shutdown_spares_the_taken),
		cmocka_unit_test(shutdown_then_reject),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-reject", tests, NULL, NULL);
}
