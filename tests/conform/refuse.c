/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* refuse.c -- addresses and ports where no connection comes about */

#include <netdb.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

/* ---- ports, endpoints ---------------------------------------------------- */

static void bad_ports(void **state)
{
	const char *bad[] = { "65536", "-1", "no such service" };
	struct rpma_ep *ep = NULL;
	struct rpma_conn_req *req = NULL;
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(n.peer[SERVER], n.addr, bad[i], &ep));
		assert_null(ep);
		assert_rpma(RPMA_E_PROVIDER,
			rpma_conn_req_new(n.peer[CLIENT], n.addr, bad[i], NULL, &req));
		assert_null(req);
	}
	net_close(&n);
}

/* The name of a service stands for its port, where the system knows the name. */
static void service_name(void **state)
{
	struct rpma_conn_req *req = NULL;
	struct addrinfo *ai;
	struct net n;

	(void)state;
	if (getaddrinfo(test_addr(), "http", NULL, &ai) != 0) {
		print_message("this system does not know the service http\n");
		skip();
	}
	freeaddrinfo(ai);
	net_open(&n);
	assert_ok(rpma_conn_req_new(n.peer[CLIENT], n.addr, "http", NULL, &req));
	assert_ok(rpma_conn_req_delete(&req));
	net_close(&n);
}

static void port_zero_picks_one(void **state)
{
	struct rpma_ep *ep[2] = { NULL, NULL };
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 2; i++)
		assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, "0", &ep[i]));
	for (int i = 0; i < 2; i++)
		assert_ok(rpma_ep_shutdown(&ep[i]));
	net_close(&n);
}

/* The port is free again at once, although connections were made through it. */
static void address_in_use(void **state)
{
	struct rpma_ep *ep = NULL;
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	pair_connect(&p, &n, NULL);
	assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &ep));
	assert_null(ep);
	pair_close(&p);
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	pair_connect(&p, &n, NULL);
	pair_close(&p);
	net_close(&n);
}

/* ---- nobody there -------------------------------------------------------- */

/* Replace the endpoint of a net by a port where no one speaks. */
static int open_dead(struct net *n, bool mute)
{
	net_open(n);
	assert_ok(rpma_ep_shutdown(&n->ep));
	return dead_port(n->addr, mute, n->port);
}

static void closed_port(void **state)
{
	struct rpma_conn *conn;
	struct net n;
	int dead;

	(void)state;
	require_trait(refuses_late);
	dead = open_dead(&n, false);
	for (int i = 0; i < 20; i++) {
		conn = client_start(&n, NULL);
		expect_event(conn, RPMA_CONN_REJECTED);
		(void)rpma_conn_disconnect(conn);
		assert_ok(rpma_conn_delete(&conn));
	}
	close(dead);
	net_close(&n);
}

/* The loop of a client that is started before its server */
static void retry_until_it_listens(void **state)
{
	struct rpma_conn *conn;
	struct pair p;
	struct net n;
	int dead;

	(void)state;
	require_trait(refuses_late);
	dead = open_dead(&n, false);
	conn = client_start(&n, NULL);
	expect_event(conn, RPMA_CONN_REJECTED);
	(void)rpma_conn_disconnect(conn);
	assert_ok(rpma_conn_delete(&conn));
	close(dead);
	assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	pair_connect(&p, &n, NULL);
	pair_close(&p);
	net_close(&n);
}

static void mute_listener(void **state)
{
	const struct side_opts o = { .timeout_ms = 300 };
	struct rpma_conn *conn;
	int64_t start;
	struct net n;
	int dead;

	(void)state;
	require_trait(bounded_connect);
	dead = open_dead(&n, true);
	start = clock_ms();
	conn = client_start(&n, &o);
	expect_no_event(conn);
	expect_event(conn, RPMA_CONN_UNREACHABLE);
	assert_in_range(clock_ms() - start, 290, 5000);
	expect_no_event(conn);
	assert_ok(rpma_conn_delete(&conn));
	close(dead);
	net_close(&n);
}

/* Timeout 0: no limit of ours; deleting ends the waiting. */
static void mute_listener_without_timeout(void **state)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn;
	struct net n;
	int dead;

	(void)state;
	require_trait(bounded_connect);
	dead = open_dead(&n, true);
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_timeout(cfg, 0));
	assert_ok(rpma_conn_req_new(n.peer[CLIENT], n.addr, n.port, cfg, &req));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	conn = req_connect(req, NULL);
	expect_no_event(conn);
	assert_ok(rpma_conn_delete(&conn));
	close(dead);
	net_close(&n);
}

/* Addresses to which no packet can leave this host */
static void unroutable_address(void **state)
{
	const char *bad[] = { "255.255.255.255", "fe80::1" };
	const struct side_opts o = { .timeout_ms = 500 };
	struct rpma_conn_cfg *cfg = cfg_from(&o);
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn *conn = NULL;
		int ret = rpma_conn_req_new(n.peer[CLIENT], bad[i], n.port, cfg, &req);

		if (ret == 0) {
			ret = rpma_conn_req_connect(&req, NULL, &conn);
			assert_null(req);
		}
		if (ret == 0) {
			assert_int_not_equal(next_event(conn), RPMA_CONN_ESTABLISHED);
			assert_ok(rpma_conn_delete(&conn));
		} else {
			assert_rpma(RPMA_E_PROVIDER, ret);
			assert_null(conn);
		}
	}
	assert_ok(rpma_conn_cfg_delete(&cfg));
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_ports),
		cmocka_unit_test(service_name),
		cmocka_unit_test(port_zero_picks_one),
		cmocka_unit_test(address_in_use),
		cmocka_unit_test(closed_port),
		cmocka_unit_test(retry_until_it_listens),
		cmocka_unit_test(mute_listener),
		cmocka_unit_test(mute_listener_without_timeout),
		cmocka_unit_test(unroutable_address),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-refuse", tests, NULL, NULL);
}
