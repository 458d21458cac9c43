/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* connect.c -- connections that succeed, one and several */

#include "pair_ops.h"
#include "pair_wait.h"

/* ---- one connection ------------------------------------------------------ */

static void both_ends_in_one_thread(void **state)
{
	struct rpma_conn_private_data data = { 0 };
	struct rpma_conn_req *req;
	struct rpma_conn *cli, *srv;
	struct net n;

	(void)state;
	net_open(&n);
	req = client_req(&n, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &data));
	assert_null(data.ptr);
	assert_int_equal(data.len, 0);
	cli = req_connect(req, NULL);
	srv = server_start(&n, NULL);
	expect_event(srv, RPMA_CONN_ESTABLISHED);
	expect_event(cli, RPMA_CONN_ESTABLISHED);
	expect_no_event(cli);
	expect_no_event(srv);
	assert_ok(rpma_conn_disconnect(srv));
	expect_event(cli, RPMA_CONN_CLOSED);
	expect_event(srv, RPMA_CONN_CLOSED);
	assert_ok(rpma_conn_delete(&cli));
	assert_ok(rpma_conn_delete(&srv));
	net_close(&n);
}

static void defaults_carry_messages(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

/* NULL stands for the default configuration. */
static void null_configuration(void **state)
{
	struct rpma_conn_req *req = NULL;
	struct pair p;
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	p.net = &n;
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	assert_ok(rpma_conn_req_new(n.peer[CLIENT], n.addr, n.port, NULL, &req));
	p.side[CLIENT].conn = req_connect(req, NULL);
	wait_fd(fd);
	assert_ok(rpma_ep_next_conn_req(n.ep, NULL, &req));
	p.side[SERVER].conn = req_connect(req, NULL);
	expect_event(p.side[SERVER].conn, RPMA_CONN_ESTABLISHED);
	expect_event(p.side[CLIENT].conn, RPMA_CONN_ESTABLISHED);
	for (int i = 0; i < SIDES; i++)
		side_init(&p.side[i], n.peer[i], p.side[i].conn, NULL);
	pair_exchange(&p);
	pair_close(&p);
	net_close(&n);
}

/* ---- several ------------------------------------------------------------- */

#define MANY 16

static void several_at_once(void **state)
{
	struct rpma_conn *conn[SIDES][MANY];
	struct pair p[MANY];
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < MANY; i++)
		conn[CLIENT][i] = client_start(&n, NULL);
	for (int i = 0; i < MANY; i++)
		conn[SERVER][i] = server_start(&n, NULL);
	for (int i = 0; i < MANY; i++) {
		for (int s = 0; s < SIDES; s++) {
			expect_event(conn[s][i], RPMA_CONN_ESTABLISHED);
			side_init(&p[i].side[s], n.peer[s], conn[s][i], NULL);
		}
	}
	for (int i = 0; i < MANY; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(p[i].side[SERVER].qp_num, p[j].side[SERVER].qp_num);
	for (int i = 0; i < MANY; i++)
		assert_ok(rpma_conn_disconnect(p[i].side[CLIENT].conn));
	for (int i = 0; i < MANY; i++) {
		for (int s = 0; s < SIDES; s++) {
			expect_event(p[i].side[s].conn, RPMA_CONN_CLOSED);
			assert_ok(rpma_conn_delete(&p[i].side[s].conn));
		}
	}
	net_close(&n);
}

static void again_and_again(void **state)
{
	struct net n;
	int fds = 0;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 100; i++) {
		struct pair p;

		pair_connect(&p, &n, NULL);
		if (i % 10 == 0)
			pair_exchange(&p);
		pair_close(&p);
		if (i == 10)
			fds = count_self("fd");
	}
	settle_self("fd", fds);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_in_one_thread),
		cmocka_unit_test(defaults_carry_messages),
		cmocka_unit_test(null_configuration),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(again_and_again),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-connect", tests, NULL, NULL);
}
