/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* others.c -- situations that others make: strangers, half-dead clients, children,
 * many senders on one queue */

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair_hall.h"
#include "pair_wait.h"

/* ---- B40, B41 -------------------------------------------------------------- */

enum { HANDSHAKE_MS = 1500 };

static int stranger(const struct net *n)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	sa.sin_port = htons((in_port_t)atoi(n->port));
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void say(int fd, const void *bytes, size_t len)
{
	(void)!send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The other side has closed, whatever it said before. */
static void expect_closed(int fd)
{
	char scrap[512];

	do
		wait_fd(fd);
	while (recv(fd, scrap, sizeof(scrap), 0) > 0);
	close(fd);
}

/* Not by wait_fd(): a socket that was reset says so. */
static void expect_gone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char scrap[512];

	do
		assert_int_equal(poll(&p, 1, test_timeout_ms()), 1);
	while (recv(fd, scrap, sizeof(scrap), 0) > 0);
	close(fd);
}

static void serve_one(struct net *n)
{
	struct pair p;

	pair_connect(&p, n, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const uint8_t request[] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm', 'e', 0x50, 2, 0,
	4, 0x80, 16, 0x80, 16, /* CRC, enhanced, peer to peer, 16 reads */
};

static void b40_strangers_at_the_door(void **state)
{
	char noise[65536];
	struct net n;
	int fd[6], ep_fd = -1;

	(void)state;
	not_for_devices("the strangers speak TCP");
	net_open_at(&n, "127.0.0.1");
	assert_ok(rpma_ep_get_fd(n.ep, &ep_fd));
	fill(noise, sizeof(noise), 40);
	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < ARRAY_LEN(fd); i++)
			fd[i] = stranger(&n);
		say(fd[0], http, sizeof(http));
		say(fd[1], noise, sizeof(noise));
		say(fd[2], request, 10); /* and no more */
		say(fd[3], request, sizeof(request) - 1);
		shutdown(fd[3], SHUT_WR);
		close(fd[4]);
		serve_one(&n);
		expect_gone(fd[0]);
		expect_gone(fd[1]);
		expect_gone(fd[3]);
		assert_false(readable(ep_fd));
		expect_gone(fd[2]); /* its time is up */
		expect_gone(fd[5]);
		if (round == 0)
			round = 8; /* the times add up */
	}
	net_close(&n);
}

static void b40_more_strangers_than_are_let_in(void **state)
{
	enum { MANY = 1200 };
	struct net n;
	int *fd = calloc(MANY, sizeof(*fd)), ep_fd = -1;

	(void)state;
	not_for_devices("the strangers speak TCP");
	assert_non_null(fd);
	net_open_at(&n, "127.0.0.1");
	assert_ok(rpma_ep_get_fd(n.ep, &ep_fd));
	for (int i = 0; i < MANY; i++) {
		fd[i] = stranger(&n);
		if (i % 300 == 0)
			serve_one(&n);
	}
	serve_one(&n);
	assert_false(readable(ep_fd));
	for (int i = 0; i < MANY; i++)
		close(fd[i]);
	free(fd);
	net_close(&n);
}

static void b40_one_byte_now_and_then(void **state)
{
	struct net n;
	int fd;

	(void)state;
	not_for_devices("the strangers speak TCP");
	net_open_at(&n, "127.0.0.1");
	fd = stranger(&n);
	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		say(fd, request + i, 1);
		poll(NULL, 0, HANDSHAKE_MS / 8);
	}
	expect_gone(fd);
	serve_one(&n);
	net_close(&n);
}

/* Its request is good; then it says nothing more, as if it were stopped. */
static void b41_silent_after_its_request(void **state)
{
	struct rpma_conn *srv;
	struct net n;
	int fd;

	(void)state;
	not_for_devices("the strangers speak TCP");
	net_open_at(&n, "127.0.0.1");
	fd = stranger(&n);
	say(fd, request, sizeof(request));
	srv = server_start(&n, NULL);
	serve_one(&n);
	expect_event(srv, RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&srv));
	expect_closed(fd);
	net_close(&n);
}

/* ---- B35 ------------------------------------------------------------------- */

enum { CONNS = 16, EACH = 10 };

static void b35_few_receives_for_many(void **state)
{
	struct pair_opts o = { .side = { [CLIENT] = { .sq_size = EACH, .cq_size = EACH } } };
	struct region out[CONNS];
	struct pair p[CONNS];
	int got[CONNS] = { 0 };
	struct hall h;

	(void)state;
	require_trait(rnr_waits);
	hall_open(&h, 4, 4);
	o.side[SERVER] = h.opts.side[SERVER];
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(post_slot(&h, i));
	for (int i = 0; i < CONNS; i++) {
		pair_connect(&p[i], &h.net, &o);
		region_open(&out[i], h.net.peer[CLIENT], SLOT, USAGE_ALL);
		fill(out[i].data, SLOT, (uint64_t)i);
		for (uint64_t k = 0; k < EACH; k++)
			assert_ok(rpma_send(p[i].side[CLIENT].conn, out[i].mr, 0, SLOT,
				RPMA_F_COMPLETION_ALWAYS, CTX(k)));
		assert_rpma(RPMA_E_PROVIDER,
			rpma_recv(p[i].side[SERVER].conn, h.mem.mr, 0, SLOT, NULL));
	}
	for (int n = 0; n < CONNS * EACH; n++) {
		struct ibv_wc wc = next_shared(&h);
		int i = 0;

		while (i < CONNS && p[i].side[SERVER].qp_num != wc.qp_num)
			i++;
		assert_true(i < CONNS);
		got[i]++;
		assert_filled(h.mem.data + wc.wr_id * SLOT, SLOT, (uint64_t)i);
		assert_ok(post_slot(&h, wc.wr_id));
	}
	for (int i = 0; i < CONNS; i++) {
		assert_int_equal(got[i], EACH);
		for (uint64_t k = 0; k < EACH; k++)
			expect_done(&p[i].side[CLIENT], CTX(k));
		region_close(&out[i]);
		pair_close(&p[i]);
	}
	hall_close(&h);
}

/* Connections are deleted in the middle of messages; their receives come back. */
static void b35_no_receive_goes_with_its_connection(void **state)
{
	enum { BIG = 8 << 20 };
	struct region in, out;
	struct hall h;

	(void)state;
	not_for_devices("a device may keep the receive that it had begun");
	hall_open(&h, 4, 4);
	region_open(&in, h.net.peer[SERVER], BIG, USAGE_ALL);
	region_open(&out, h.net.peer[CLIENT], BIG, USAGE_ALL);
	for (int i = 0; i < 20; i++) {
		struct side nobody = { 0 };
		int64_t end = clock_ms() + test_timeout_ms();
		struct ibv_wc wc;
		struct pair p;

		pair_connect(&p, &h.net, &h.opts);
		fill(out.data, BIG, (uint64_t)i);
		assert_ok(rpma_srq_recv(h.srq, in.mr, 0, BIG, CTX(i)));
		assert_ok(rpma_send(
			p.side[CLIENT].conn, out.mr, 0, BIG, RPMA_F_COMPLETION_ON_ERROR, NULL));
		while (i % 2 && *(volatile char *)in.data != out.data[0])
			assert_true(clock_ms() < end);
		for (int s = 0; s < SIDES; s++)
			assert_ok(rpma_conn_delete(&p.side[i / 2 % 2 ? s : !s].conn));
		/* It was not begun, or it comes back, done or not. */
		if (rpma_cq_get_wc(h.cq, 1, &wc, NULL) != 0) {
			pair_connect(&p, &h.net, &h.opts);
			assert_ok(rpma_send(p.side[CLIENT].conn, out.mr, 0, 8,
				RPMA_F_COMPLETION_ALWAYS, CTX(1)));
			expect_done(&p.side[CLIENT], CTX(1));
			next_wc(&nobody, h.cq, &wc);
			pair_close(&p);
		}
		assert_int_equal(wc.wr_id, i);
	}
	expect_no_wc(h.cq);
	region_close(&in);
	region_close(&out);
	hall_close(&h);
}

/* The queue stays, unusable, and so does its peer. */
static void delete_in_use(void)
{
	struct pair_opts o = { 0 };
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct pair p;
	struct net n;

	net_open(&n);
	assert_ok(rpma_srq_cfg_new(&cfg));
	assert_ok(rpma_srq_new(n.peer[SERVER], cfg, &srq));
	assert_ok(rpma_srq_cfg_delete(&cfg));
	o.side[SERVER].srq = srq;
	pair_connect(&p, &n, &o);
	assert_rpma(RPMA_E_PROVIDER, rpma_srq_delete(&srq));
	pair_close(&p);
	assert_ok(rpma_ep_shutdown(&n.ep));
	assert_rpma(RPMA_E_PROVIDER, rpma_peer_delete(&n.peer[SERVER]));
	assert_ok(rpma_peer_delete(&n.peer[CLIENT]));
}

/* In a process of its own, which takes what stays with it. */
static void b35_deleted_while_in_use(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		delete_in_use();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- B59 ------------------------------------------------------------------- */

static void b59_children_that_run_other_programs(void **state)
{
	enum { COUNT = 5 };
	struct field f;

	(void)state;
	field_open(&f, NULL, 1 << 20);
	for (uint64_t round = 0; round < 10; round++) {
		fill(f.mem[CLIENT].data, 1 << 20, round);
		for (uint64_t i = 0; i < COUNT; i++) {
			struct xfer x = field_xfer(&f, CLIENT, 1 << 20, CTX(i));

			op_post(&ops[OP_WRITE], &x);
		}
		if (round % 2) {
			assert_int_equal(system("true"), 0);
		} else {
			pid_t pid = fork();
			int status = -1;

			assert_true(pid >= 0);
			if (pid == 0) /* runs the library's destructors, if it had any */
				exit(0);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			assert_int_equal(status, 0);
		}
		for (uint64_t i = 0; i < COUNT; i++)
			expect_done(&f.pair.side[CLIENT], CTX(i));
		assert_filled(f.mem[SERVER].data, 1 << 20, round);
	}
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b35_few_receives_for_many),
		cmocka_unit_test(b35_no_receive_goes_with_its_connection),
		cmocka_unit_test(b40_strangers_at_the_door),
		cmocka_unit_test(b40_more_strangers_than_are_let_in),
		cmocka_unit_test(b40_one_byte_now_and_then),
		cmocka_unit_test(b41_silent_after_its_request),
		cmocka_unit_test(b59_children_that_run_other_programs),
		cmocka_unit_test(b35_deleted_while_in_use),
	};

	setenv("RPMA_TCP_HANDSHAKE_MS", PAIR_STR(1500), 1);
	test_init();
	return cmocka_run_group_tests_name("situations-others", tests, NULL, NULL);
}
