/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* edges_connect.c -- what programs do while a connection is made, and with what is left
 * of one that was not made */

#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

/* A client that comes again until the server is ready for it. */
static void retry_after_rejected(void **state)
{
	enum { REFUSALS = 20 };
	struct net n;
	int fds = 0;

	(void)state;
	net_open(&n);
	for (int i = 0; i < REFUSALS; i++) {
		struct rpma_conn *cli = client_start(&n, NULL);
		struct rpma_conn_req *req = server_req(&n, NULL);

		assert_ok(rpma_conn_req_delete(&req));
		expect_event(cli, RPMA_CONN_REJECTED);
		(void)rpma_conn_disconnect(cli);
		assert_ok(rpma_conn_delete(&cli));
		if (i == 2)
			fds = count_self("fd");
	}
	settle_self("fd", fds);

	struct pair p;

	pair_connect(&p, &n, NULL);
	pair_exchange(&p);
	pair_close(&p);
	net_close(&n);
}

static void delete_after_rejected(void **state)
{
	struct rpma_conn_req *req;
	struct rpma_conn *cli;
	struct net n;

	(void)state;
	net_open(&n);
	cli = client_start(&n, NULL);
	req = server_req(&n, NULL);
	assert_ok(rpma_conn_req_delete(&req));
	expect_event(cli, RPMA_CONN_REJECTED);
	assert_ok(rpma_conn_delete(&cli));
	assert_null(cli);
	net_close(&n);
}

/* Nobody listens there. */
static void delete_after_no_server(void **state)
{
	struct rpma_conn *cli;
	struct net n;
	int fd;

	(void)state;
	net_open(&n);
	assert_ok(rpma_ep_shutdown(&n.ep));
	fd = dead_port(n.addr, false, n.port);
	cli = client_start(&n, NULL);
	assert_int_not_equal(next_event(cli), RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&cli));
	close(fd);
	net_close(&n);
}

/* The other end is gone before the first event has been read. */
static void delete_after_unexpected_first_event(void **state)
{
	struct rpma_conn *cli, *srv = NULL;
	struct net n;

	(void)state;
	net_open(&n);
	cli = client_start(&n, NULL);
	srv = server_start(&n, NULL);
	assert_ok(rpma_conn_delete(&cli));
	if (next_event(srv) == RPMA_CONN_ESTABLISHED)
		expect_end(srv);
	assert_ok(rpma_conn_delete(&srv));
	net_close(&n);
}

/* No event at all has been read. */
static void delete_at_once(void **state)
{
	struct rpma_conn *cli, *srv;
	struct net n;

	(void)state;
	net_open(&n);
	cli = client_start(&n, NULL);
	srv = server_start(&n, NULL);
	assert_ok(rpma_conn_delete(&srv));
	assert_ok(rpma_conn_delete(&cli));
	net_close(&n);
}

/* Results are OR-ed together: none may fail. */
static void clean_up_without_reading_closed(void **state)
{
	struct pair p;
	int ret = 0;

	(void)state;
	pair_open(&p, NULL);
	ret |= rpma_conn_disconnect(p.side[CLIENT].conn);
	ret |= rpma_conn_delete(&p.side[CLIENT].conn);
	expect_event(p.side[SERVER].conn, RPMA_CONN_CLOSED);
	ret |= rpma_conn_disconnect(p.side[SERVER].conn);
	ret |= rpma_conn_delete(&p.side[SERVER].conn);
	ret |= rpma_ep_shutdown(&p.own.ep);
	ret |= rpma_peer_delete(&p.own.peer[CLIENT]);
	ret |= rpma_peer_delete(&p.own.peer[SERVER]);
	assert_int_equal(ret, 0);
}

/* What every clean-up label of a program does, whatever there was. */
static void delete_of_null(void **state)
{
	struct rpma_conn_private_data bad = { NULL, 4 };
	struct rpma_conn *conn = CTX(77);
	struct rpma_conn_req *req;
	struct net n;

	(void)state;
	net_open(&n);
	req = client_req(&n, NULL);
	assert_rpma(RPMA_E_INVAL, rpma_conn_req_connect(&req, &bad, &conn));
	assert_null(req);
	assert_ptr_equal(conn, CTX(77));
	assert_ok(rpma_conn_req_delete(&req));
	assert_ok(rpma_conn_req_delete(&req));
	net_close(&n);
}

static void reject_by_delete_alone(void **state)
{
	struct rpma_conn *unwanted, *wanted[SIDES];
	struct rpma_conn_req *req;
	struct net n;

	(void)state;
	net_open(&n);
	unwanted = client_start(&n, NULL);
	req = server_req(&n, NULL);
	wanted[CLIENT] = client_start(&n, NULL);
	wanted[SERVER] = server_start(&n, NULL);
	assert_ok(rpma_conn_req_delete(&req));
	expect_event(unwanted, RPMA_CONN_REJECTED);
	assert_ok(rpma_conn_delete(&unwanted));
	for (int i = 0; i < SIDES; i++)
		expect_event(wanted[i], RPMA_CONN_ESTABLISHED);
	for (int i = 0; i < SIDES; i++)
		assert_ok(rpma_conn_delete(&wanted[i]));
	net_close(&n);
}

/* The side that disconnects reads one CLOSED, the other one disconnects on hearing of it. */
static void one_closed_each(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	assert_ok(rpma_conn_disconnect(p.side[SERVER].conn));
	expect_event(p.side[CLIENT].conn, RPMA_CONN_CLOSED);
	assert_ok(rpma_conn_disconnect(p.side[CLIENT].conn));
	expect_event(p.side[SERVER].conn, RPMA_CONN_CLOSED);
	if (traits()->one_closed) {
		expect_no_event(p.side[CLIENT].conn);
		expect_no_event(p.side[SERVER].conn);
	}
	pair_drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retry_after_rejected),
		cmocka_unit_test(delete_after_rejected),
		cmocka_unit_test(delete_after_no_server),
		cmocka_unit_test(delete_after_unexpected_first_event),
		cmocka_unit_test(delete_at_once),
		cmocka_unit_test(clean_up_without_reading_closed),
		cmocka_unit_test(delete_of_null),
		cmocka_unit_test(reject_by_delete_alone),
		cmocka_unit_test(one_closed_each),
	};

	test_init();
	return cmocka_run_group_tests_name("dropin-edges-connect", tests, NULL, NULL);
}
