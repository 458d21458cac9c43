/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* end.c -- how connections end, and what may be done when */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096

/* Once the end was told nothing is told any more, even after more has happened. */
static void check_over(struct net *n, struct pair *p)
{
	struct pair next;

	pair_connect(&next, n, NULL);
	pair_close(&next);
	for (int s = 0; traits()->one_closed && s < SIDES; s++) {
		(void)rpma_conn_disconnect(p->side[s].conn);
		expect_no_event(p->side[s].conn);
	}
	pair_drop(p);
}

/* ---- disconnect ---------------------------------------------------------- */

/* bit 0: the client disconnects, bit 1: the server does, bit 2: both twice */
static void disconnect_by(struct net *n, unsigned who)
{
	struct pair p;

	pair_connect(&p, n, NULL);
	for (int again = 0; again < (who & 4 ? 2 : 1); again++)
		for (int s = 0; s < SIDES; s++)
			if (who & (1u << s))
				assert_ok(rpma_conn_disconnect(p.side[s].conn));
	for (int s = 0; s < SIDES; s++)
		expect_event(p.side[s].conn, RPMA_CONN_CLOSED);
	check_over(n, &p);
}

static void disconnect_from_every_side(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 10; round++)
		for (unsigned who = 1; who < 8; who++)
			if (who & 3)
				disconnect_by(&n, who);
	net_close(&n);
}

/* The order of the manual: one side asks, the other follows. */
static void disconnect_in_answer(void **state)
{
	struct pair p;

	(void)state;
	for (int first = 0; first < SIDES; first++) {
		pair_open(&p, NULL);
		assert_ok(rpma_conn_disconnect(p.side[first].conn));
		expect_event(p.side[!first].conn, RPMA_CONN_CLOSED);
		(void)rpma_conn_disconnect(p.side[!first].conn);
		expect_event(p.side[first].conn, RPMA_CONN_CLOSED);
		pair_drop(&p);
	}
}

/* Neither crash nor hang; the endpoint serves the next one. */
static void disconnect_before_established(void **state)
{
	struct rpma_conn *cli, *srv;
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	cli = client_start(&n, NULL);
	(void)rpma_conn_disconnect(cli);
	assert_ok(rpma_conn_delete(&cli));
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	cli = client_start(&n, NULL);
	srv = server_start(&n, NULL);
	(void)rpma_conn_disconnect(srv);
	(void)rpma_conn_disconnect(cli);
	assert_ok(rpma_conn_delete(&srv));
	assert_ok(rpma_conn_delete(&cli));
	pair_connect(&p, &n, NULL);
	pair_close(&p);
	net_close(&n);
}

static void delete_without_disconnect(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int by = 0; by < SIDES; by++) {
		struct pair p;

		pair_connect(&p, &n, NULL);
		assert_ok(rpma_conn_delete(&p.side[by].conn));
		assert_null(p.side[by].conn);
		expect_end(p.side[!by].conn);
		pair_drop(&p);
	}
	net_close(&n);
}

/* Events that nobody read do not hold up the end. */
static void delete_with_unread_events(void **state)
{
	struct rpma_conn *cli, *srv;
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 10; round++) {
		cli = client_start(&n, NULL);
		srv = server_start(&n, NULL);
		assert_ok(rpma_conn_get_event_fd(cli, &fd));
		wait_fd(fd);
		assert_ok(rpma_conn_get_event_fd(srv, &fd));
		if (!traits()->device)
			wait_fd(fd);
		if (round % 2)
			assert_ok(rpma_conn_disconnect(srv));
		assert_ok(rpma_conn_delete(&cli));
		assert_ok(rpma_conn_delete(&srv));
	}
	net_close(&n);
}

/* ---- posting at the wrong time ------------------------------------------- */

static void send_before_established(void **state)
{
	struct region mem;
	struct side s;
	struct net n;

	(void)state;
	net_open(&n);
	region_open(&mem, n.peer[CLIENT], SIZE, USAGE_ALL);
	side_init(&s, n.peer[CLIENT], client_start(&n, NULL), NULL);
	for (size_t i = 0; i < OP_COUNT; i++) {
		struct xfer x = {
			.by = &s,
			.local = &mem,
			.remote = &mem,
			.len = 8,
			.ctx = CTX(i),
		};

		if (op_exists(&ops[i]) && ops[i].opcode != WC_FLUSH)
			assert_rpma(RPMA_E_PROVIDER, ops[i].post(&x));
	}
	post_recv(&s, &mem, SIZE, CTX(1));
	expect_no_wc(s.cq);
	assert_ok(rpma_conn_delete(&s.conn));
	region_close(&mem);
	net_close(&n);
}

static void post_after_the_end(void **state)
{
	(void)state;
	require_trait(flushes_late);
	for (int by = 0; by < SIDES; by++) {
		struct field f;

		field_open(&f, NULL, SIZE);
		assert_ok(rpma_conn_disconnect(f.pair.side[by].conn));
		for (int s = 0; s < SIDES; s++)
			expect_event(f.pair.side[s].conn, RPMA_CONN_CLOSED);
		for (int s = 0; s < SIDES; s++) {
			for (size_t i = 0; i < OP_COUNT; i++) {
				struct xfer x = field_xfer(&f, s, 8, CTX(i));

				if (!op_exists(&ops[i]))
					continue;
				x.flags = i % 2 ? RPMA_F_COMPLETION_ON_ERROR : 0;
				if (ops[i].post(&x) == 0)
					expect_status(x.by, CTX(i), IBV_WC_WR_FLUSH_ERR);
			}
			if (!traits()->device &&
				recv_at(&f.pair.side[s], &f.mem[s], 0, 8, CTX(99)) == 0)
				expect_recv_status(&f.pair.side[s], CTX(99), IBV_WC_WR_FLUSH_ERR);
			expect_no_wc(f.pair.side[s].cq);
		}
		field_drop(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disconnect_from_every_side),
		cmocka_unit_test(disconnect_in_answer),
		cmocka_unit_test(disconnect_before_established),
		cmocka_unit_test(delete_without_disconnect),
		cmocka_unit_test(delete_with_unread_events),
		cmocka_unit_test(send_before_established),
		cmocka_unit_test(post_after_the_end),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-end", tests, NULL, NULL);
}
