/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * death.c -- the other side is killed, stopped, restarted, or cut off, at any time
 *
 * RPMA_TEST_DEATHS: how many rounds of each (default 15).
 */

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair_link.h"
#include "pair_wait.h"

static int rounds(void)
{
	const char *s = getenv("RPMA_TEST_DEATHS");

	return s ? atoi(s) : 15;
}

/* ---- requests, counted -------------------------------------------------------- */

struct load {
	struct link *link;
	uint64_t posted;
	uint64_t done;
	bool failed; /* from here on all do */
};

static const int kinds[] = { OP_WRITE, OP_READ, OP_FLUSH_VISIBILITY, OP_WRITE, OP_ATOMIC_WRITE };

/* Each comes back once, in order; once one has failed all do. */
static bool take_one(struct load *l)
{
	struct ibv_wc wc;

	if (rpma_cq_get_wc(l->link->side.cq, 1, &wc, NULL) != 0)
		return false;
	assert_int_equal(wc.wr_id, l->done++);
	l->failed = l->failed || wc.status != IBV_WC_SUCCESS;
	if (l->failed)
		assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	return true;
}

static void post_next(struct load *l)
{
	link_post(l->link, &ops[kinds[l->posted % ARRAY_LEN(kinds)]], l->posted);
	l->posted++;
}

static void keep_busy(struct load *l, int64_t until)
{
	while (clock_ms() < until) {
		while (take_one(l))
			;
		while (l->posted - l->done < 10)
			post_next(l);
		sched_yield();
	}
}

static void finish(struct load *l)
{
	struct ibv_wc wc;

	while (l->done < l->posted) {
		if (take_one(l))
			continue;
		next_wc(&l->link->side, l->link->side.cq, &wc);
		assert_int_equal(wc.wr_id, l->done++);
		l->failed = l->failed || wc.status != IBV_WC_SUCCESS;
		if (l->failed)
			assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	}
	expect_no_wc(l->link->side.cq);
}

/* ---- killed, stopped ----------------------------------------------------------- */

static void b47_killed_at_any_time(void **state)
{
	unsigned seed = 47;
	struct link witness;
	struct load w = { .link = &witness };

	(void)state;
	link_open(&witness, CLIENT);
	for (int i = 0; i < rounds(); i++) {
		struct link link;
		struct load l = { .link = &link };

		case_is("round %d", i);
		link_open(&link, i % 2);
		keep_busy(&l, clock_ms() + rand_r(&seed) % 40);
		child_kill(&link.child);
		finish(&l);
		post_next(&l); /* what was under way may all have been answered */
		finish(&l);
		assert_true(l.failed);
		expect_end(link.side.conn);
		link_close(&link);
		keep_busy(&w, clock_ms() + 1);
		finish(&w);
		assert_false(w.failed);
	}
	expect_no_event(witness.side.conn);
	assert_ok(rpma_conn_disconnect(witness.side.conn));
	expect_event(witness.side.conn, RPMA_CONN_CLOSED);
	child_finish(&witness.child);
	link_close(&witness);
}

static void b45_stopped_at_any_time(void **state)
{
	unsigned seed = 45;
	struct link link;
	struct load l = { .link = &link };

	(void)state;
	for (int we = 0; we < SIDES; we++) {
		l = (struct load){ .link = &link };
		link_open(&link, we);
		for (int i = 0; i < rounds(); i++) {
			keep_busy(&l, clock_ms() + rand_r(&seed) % 20);
			child_stop(&link.child);
			keep_busy(&l, clock_ms() + rand_r(&seed) % 20);
			child_continue(&link.child);
		}
		finish(&l);
		assert_false(l.failed);
		expect_no_event(link.side.conn);
		assert_ok(rpma_conn_disconnect(link.side.conn));
		expect_event(link.side.conn, RPMA_CONN_CLOSED);
		child_finish(&link.child);
		link_close(&link);
	}
}

/* ---- restarted ------------------------------------------------------------------ */

/* A server at a port that is told; its region is as large as a link's. */
static int be_server_at(const char *port)
{
	struct net n = { .addr = test_addr() };
	uint8_t desc[DESC_SIZE];
	struct side_opts o = { .data = desc, .data_len = DESC_SIZE };
	struct rpma_conn *conn;
	struct region r;

	n.peer[SERVER] = peer_at(n.addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	snprintf(n.port, sizeof(n.port), "%.*s", PORT_LEN - 1, port);
	assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	region_open(&r, n.peer[SERVER], LINK_SIZE, USAGE_ALL);
	desc_of(r.mr, desc);
	puts("listening");
	conn = server_start(&n, &o);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	child_wait_for_end();
	assert_ok(rpma_conn_delete(&conn));
	region_close(&r);
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_ok(rpma_peer_delete(&n.peer[SERVER]));
	return 0;
}

static void call_server(struct net *n, struct side *side, struct rpma_mr_remote **far)
{
	struct rpma_conn_private_data data = { 0 };
	struct rpma_conn *conn = client_start(n, NULL);

	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(side, n->peer[CLIENT], conn, NULL);
	assert_ok(rpma_conn_get_private_data(conn, &data));
	*far = remote_from(data.ptr);
}

/* The server dies and comes back at once, at its port: call again, write again. */
static void b47_restarted_on_its_port(void **state)
{
	struct net n = { .addr = test_addr() };
	struct region mem, back;

	(void)state;
	n.peer[CLIENT] = peer_at(n.addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	free_port(n.addr, n.port);
	region_open(&mem, n.peer[CLIENT], 65536, USAGE_ALL);
	region_open(&back, n.peer[CLIENT], 65536, USAGE_ALL);
	for (int i = 0; i < rounds(); i++) {
		struct rpma_mr_remote *far;
		struct child child;
		struct side side;

		child_start(&child, "server_at", n.port, false);
		child_expect(&child, "listening", NULL);
		call_server(&n, &side, &far);
		fill(mem.data, 65536, (uint64_t)i);
		assert_ok(rpma_write(
			side.conn, far, 0, mem.mr, 0, 65536, RPMA_F_COMPLETION_ON_ERROR, NULL));
		assert_ok(rpma_flush(side.conn, far, 0, 65536, RPMA_FLUSH_TYPE_PERSISTENT,
			RPMA_F_COMPLETION_ALWAYS, CTX(1)));
		expect_done(&side, CTX(1));
		assert_ok(rpma_read(
			side.conn, back.mr, 0, far, 0, 65536, RPMA_F_COMPLETION_ALWAYS, CTX(2)));
		expect_done(&side, CTX(2));
		assert_filled(back.data, 65536, (uint64_t)i);
		child_kill(&child);
		expect_end(side.conn);
		assert_ok(rpma_conn_delete(&side.conn));
		assert_ok(rpma_mr_remote_delete(&far));
	}
	region_close(&mem);
	region_close(&back);
	assert_ok(rpma_peer_delete(&n.peer[CLIENT]));
}

/* ---- cut off ---------------------------------------------------------------------- */

#define NEAR "10.77.0.1"
#define FAR "10.77.0.2"
#define FAR_PORT "7777"

/* In a network of its own, as soon as its wire is there */
static int be_far(void)
{
	if (unshare(CLONE_NEWNET))
		return 1;
	puts("alone");
	while (if_nametoindex("far0") == 0)
		poll(NULL, 0, 2);
	if (system("ip addr add " FAR "/24 dev far0 && ip link set far0 up && ip link set lo up"))
		return 1;
	setenv("RPMA_TEST_ADDR", FAR, 1);
	return be_server_at(FAR_PORT);
}

static bool run(const char *command)
{
	char quiet[512];

	snprintf(quiet, sizeof(quiet), "{ %s; } >/dev/null 2>&1", command);
	return system(quiet) == 0;
}

/* How: a command on our side of the wire. With requests under way, or idle. */
static void cut(const char *how, bool busy)
{
	struct net n = { .addr = FAR, .port = FAR_PORT };
	struct rpma_mr_remote *far;
	char command[256];
	struct region mem;
	struct child child;
	struct side side;
	int64_t start;

	child_start(&child, "far", NULL, false);
	child_expect(&child, "alone", NULL);
	snprintf(command, sizeof(command),
		"ip link add near0 type veth peer name far0 netns %d && ip addr add " NEAR
		"/24 dev near0 && ip link set near0 up",
		(int)child.pid);
	assert_true(run(command));
	child_expect(&child, "listening", NULL);
	n.peer[CLIENT] = peer_at(n.addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	region_open(&mem, n.peer[CLIENT], LINK_SIZE, USAGE_ALL);
	call_server(&n, &side, &far);
	assert_true(run(how));
	for (uint64_t i = 0; busy && i < 10; i++)
		assert_ok(rpma_write(
			side.conn, far, 0, mem.mr, 0, LINK_SIZE, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
	start = clock_ms();
	expect_event(side.conn, RPMA_CONN_LOST);
	assert_true(clock_ms() - start < test_timeout_ms());
	for (uint64_t i = 0; busy && i < 10; i++)
		expect_status(&side, CTX(i), IBV_WC_WR_FLUSH_ERR);
	assert_ok(rpma_conn_delete(&side.conn));
	assert_ok(rpma_mr_remote_delete(&far));
	region_close(&mem);
	assert_ok(rpma_peer_delete(&n.peer[CLIENT]));
	child_kill(&child);
	assert_true(run("ip link del near0 || true"));
}

/* A network of our own: what is done here concerns nobody else. */
static void enter_network(void)
{
	static bool inside;

	if (inside)
		return;
	if (unshare(CLONE_NEWNET)) {
		print_message("cannot make a network of our own: %s\n", strerror(errno));
		skip();
	}
	if (!run("ip link set lo up && ip link add near0 type veth && ip link del near0")) {
		print_message("cannot make a pair of network devices\n");
		skip();
	}
	inside = true;
}

static void b41_link_down(void **state)
{
	(void)state;
	enter_network();
	cut("ip link set near0 down", true);
}

/* What we send goes to nobody, without a word. */
static void b41_packets_lost(void **state)
{
	(void)state;
	enter_network();
	cut("ip neigh replace " FAR " lladdr 02:00:00:00:00:99 dev near0 nud permanent", true);
}

static void b41_packets_lost_when_idle(void **state)
{
	(void)state;
	enter_network();
	cut("ip neigh replace " FAR " lladdr 02:00:00:00:00:99 dev near0 nud permanent", false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b47_killed_at_any_time),
		cmocka_unit_test(b45_stopped_at_any_time),
		cmocka_unit_test(b47_restarted_on_its_port),
		cmocka_unit_test(b41_link_down),
		cmocka_unit_test(b41_packets_lost),
		cmocka_unit_test(b41_packets_lost_when_idle),
	};

	setenv("RPMA_TCP_DEAD_PEER_MS", "2000", 1);
	test_init();
	if (argc > 1 && strcmp(argv[1], "server_at") == 0)
		return be_server_at(argv[2]);
	if (argc > 1 && strcmp(argv[1], "far") == 0)
		return be_far();
	if (argc > 1)
		return link_be(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests_name("situations-death", tests, NULL, NULL);
}
