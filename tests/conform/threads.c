/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* threads.c -- what threads may do at the same time; no assertion off the main one */

#include <pthread.h>
#include <sched.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 256
#define COUNT 5000

static pthread_t start(void *(*run)(void *arg), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, run, arg), 0);
	return t;
}

/* The thread says NULL when all was well, or what was not. */
static void finish(pthread_t t)
{
	void *complaint = NULL;

	assert_int_equal(pthread_join(t, &complaint), 0);
	if (complaint)
		fail_msg("%s", (const char *)complaint);
}

#define COMPLAIN(text) ((void *)(uintptr_t)(text))

/* ---- one connection, several threads ------------------------------------- */

struct job {
	struct field *f;
	int side;
};

/* Post as fast as the queue allows. */
static void *poster(void *arg)
{
	struct job *j = arg;

	for (unsigned n = 0; n < repeat(COUNT);) {
		struct xfer x = field_xfer(j->f, j->side, 8, CTX(n));
		int ret = ops[n % 2 ? OP_READ : OP_WRITE].post(&x);

		if (ret == 0)
			n++;
		else if (ret != RPMA_E_PROVIDER)
			return COMPLAIN("posting failed");
		else
			sched_yield();
	}
	return NULL;
}

/* Wait and poll as a program does: wait, then drain. */
static void *poller(void *arg)
{
	struct job *j = arg;
	struct rpma_cq *cq = j->f->pair.side[j->side].cq;
	struct ibv_wc wc;
	unsigned n = 0;

	while (n < repeat(COUNT)) {
		if (rpma_cq_wait(cq) != 0)
			return COMPLAIN("waiting failed");
		while (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0)
			if (wc.status != IBV_WC_SUCCESS || wc.wr_id != n++)
				return COMPLAIN("wrong completion");
	}
	return NULL;
}

static void one_posts_one_polls(void **state)
{
	struct job job[SIDES];
	pthread_t t[2 * SIDES];
	struct field f;

	(void)state;
	require_trait(in_order);
	field_open(&f, NULL, SIZE);
	for (int s = 0; s < SIDES; s++) {
		job[s].f = &f;
		job[s].side = s;
		t[s] = start(poster, &job[s]);
		t[SIDES + s] = start(poller, &job[s]);
	}
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		finish(t[i]);
	field_close(&f);
}

/* The end wakes who waits; the completions say why. */
static void *wait_for_flush(void *arg)
{
	struct side *s = arg;
	struct ibv_wc wc = { 0 };

	while (rpma_cq_get_wc(s->cq, 1, &wc, NULL) != 0)
		if (rpma_cq_wait(s->cq) != 0)
			return COMPLAIN("waiting failed");
	return wc.status == IBV_WC_WR_FLUSH_ERR ? NULL : COMPLAIN("no flush error");
}

static void *wait_for_close(void *arg)
{
	struct side *s = arg;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	if (rpma_conn_next_event(s->conn, &event) != 0)
		return COMPLAIN("waiting failed");
	return event == RPMA_CONN_CLOSED ? NULL : COMPLAIN("not closed");
}

static void waiters_are_woken(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 50; round++) {
		struct pair p;
		pthread_t t[2 * SIDES];

		pair_connect(&p, &n, NULL);
		for (int s = 0; s < SIDES; s++) {
			post_recv(&p.side[s], NULL, 0, CTX(1));
			t[s] = start(wait_for_flush, &p.side[s]);
			t[SIDES + s] = start(wait_for_close, &p.side[s]);
		}
		assert_ok(rpma_conn_disconnect(p.side[round % SIDES].conn));
		for (size_t i = 0; i < ARRAY_LEN(t); i++)
			finish(t[i]);
		pair_drop(&p);
	}
	net_close(&n);
}

/* ---- one peer, several threads ------------------------------------------- */

/* Registrations come and go while others use theirs. */
static void *registrar(void *arg)
{
	char memory[SIZE];

	for (int n = 0; n < COUNT / 5; n++) {
		struct rpma_mr_local *mr = NULL;

		if (rpma_mr_reg(arg, memory, SIZE, USAGE_PLAIN, &mr) != 0 ||
			rpma_mr_dereg(&mr) != 0)
			return COMPLAIN("registration failed");
	}
	return NULL;
}

static void registrations_beside_traffic(void **state)
{
	struct job job = { .side = CLIENT };
	pthread_t t[4];
	struct field f;

	(void)state;
	require_trait(in_order);
	field_open(&f, NULL, SIZE);
	job.f = &f;
	t[0] = start(poster, &job);
	t[1] = start(poller, &job);
	t[2] = start(registrar, f.pair.side[CLIENT].peer);
	t[3] = start(registrar, f.pair.side[SERVER].peer);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		finish(t[i]);
	field_close(&f);
}

/* Clients in several threads, a server in this one */
static void *come_and_go(void *arg)
{
	struct net *n = arg;

	for (int i = 0; i < 20; i++) {
		enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
		struct rpma_conn_req *req = NULL;
		struct rpma_conn_cfg *cfg = NULL;
		struct rpma_conn *conn = NULL;
		bool ok;

		ok = rpma_conn_cfg_new(&cfg) == 0 &&
		     rpma_conn_cfg_set_timeout(cfg, CONNECT_TIMEOUT_MS) == 0 &&
		     rpma_conn_req_new(n->peer[CLIENT], n->addr, n->port, cfg, &req) == 0 &&
		     rpma_conn_req_connect(&req, NULL, &conn) == 0 &&
		     rpma_conn_next_event(conn, &event) == 0 && event == RPMA_CONN_ESTABLISHED &&
		     rpma_conn_disconnect(conn) == 0 && rpma_conn_next_event(conn, &event) == 0 &&
		     event == RPMA_CONN_CLOSED;
		if (rpma_conn_delete(&conn) != 0 || rpma_conn_cfg_delete(&cfg) != 0 || !ok)
			return COMPLAIN("a client failed");
	}
	return NULL;
}

static void clients_in_threads(void **state)
{
	static struct net n; /* a failed test leaves the clients running */
	pthread_t t[4];

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		t[i] = start(come_and_go, &n);
	for (size_t i = 0; i < 20 * ARRAY_LEN(t); i++) {
		struct rpma_conn *conn = server_start(&n, NULL);

		expect_event(conn, RPMA_CONN_ESTABLISHED);
		expect_event(conn, RPMA_CONN_CLOSED);
		assert_ok(rpma_conn_delete(&conn));
	}
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		finish(t[i]);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_posts_one_polls),
		cmocka_unit_test(waiters_are_woken),
		cmocka_unit_test(registrations_beside_traffic),
		cmocka_unit_test(clients_in_threads),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-threads", tests, NULL, NULL);
}
