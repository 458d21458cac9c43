/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* waits.c -- situations of who sleeps, and is or is not woken */

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair_link.h"
#include "pair_thread.h"

#define SIZE 4096

/* ---- B14 ------------------------------------------------------------------- */

static void b14_one_channel_for_two_queues(void **state)
{
	struct pair_opts o = { .side = {
				       { .shared = true, .rcq_size = 10 },
				       { .shared = true, .rcq_size = 10 },
			       } };
	struct field f;

	(void)state;
	field_open(&f, &o, SIZE);
	for (uint64_t i = 0; i < 1000; i++) {
		struct side *from = &f.pair.side[i % 2], *to = &f.pair.side[!(i % 2)];
		struct xfer x = field_xfer(&f, (int)(i % 2), 64, CTX(i));
		struct rpma_cq *cq = NULL;
		bool is_rcq = false;
		struct ibv_wc wc;

		post_recv(to, &f.mem[!(i % 2)], 64, CTX(i));
		op_post(&ops[OP_SEND], &x);
		assert_ok(rpma_conn_wait(to->conn, 0, &cq, &is_rcq));
		assert_true(is_rcq);
		assert_ptr_equal(cq, to->rcq);
		assert_ok(rpma_cq_get_wc(cq, 1, &wc, NULL));
		assert_int_equal(wc.wr_id, i);
		assert_ok(rpma_conn_wait(from->conn, 0, &cq, &is_rcq));
		assert_false(is_rcq);
		assert_ptr_equal(cq, from->cq);
		assert_ok(rpma_cq_get_wc(cq, 1, &wc, NULL));
		assert_int_equal(wc.wr_id, i);
	}
	field_close(&f);
}

/* ---- B18 ------------------------------------------------------------------- */

static void *sleep_for_completions(void *arg)
{
	struct side *s = arg;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 10;) {
		if (rpma_cq_get_wc(s->cq, 1, &wc, NULL) != 0) {
			assert_ok(rpma_cq_wait(s->cq));
			continue;
		}
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i++);
	}
	return NULL;
}

/* The other process stops reading; the socket fills; nobody calls us but to sleep. */
static void b18_a_sleeper_is_woken_by_a_slow_peer(void **state)
{
	struct link l;
	pthread_t t;

	(void)state;
	not_for_devices("a device takes data while its process is stopped");
	link_open(&l, CLIENT);
	t = thread_start(sleep_for_completions, &l.side);
	child_stop(&l.child);
	for (uint64_t i = 0; i < 10; i++)
		link_post(&l, &ops[OP_WRITE], i);
	poll(NULL, 0, 300); /* that the socket is full is likely, not needed */
	child_continue(&l.child);
	thread_join(t);
	assert_ok(rpma_conn_disconnect(l.side.conn));
	expect_event(l.side.conn, RPMA_CONN_CLOSED);
	child_finish(&l.child);
	link_close(&l);
}

/* ---- B19 ------------------------------------------------------------------- */

/* Between a client and the endpoint: lets the bytes through one at a time. */
struct drip {
	int listener;
	struct net *net;
};

static int connect_to(const struct net *n)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sa.sin_port = htons((in_port_t)atoi(n->port));
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static bool pass_byte(int from, int to)
{
	char byte;

	if (recv(from, &byte, 1, 0) != 1)
		return false;
	return send(to, &byte, 1, MSG_NOSIGNAL) == 1;
}

static void *drip_main(void *arg)
{
	struct drip *d = arg;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };

	p[0].fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);
	p[1].fd = connect_to(d->net);
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (p[i].fd >= 0 && p[i].revents && !pass_byte(p[i].fd, abs(p[!i].fd))) {
				shutdown(abs(p[!i].fd), SHUT_WR);
				p[i].fd = -p[i].fd; /* poll leaves it alone */
			}
	}
	close(-p[0].fd);
	close(-p[1].fd);
	return NULL;
}

static void b19_frames_that_come_byte_by_byte(void **state)
{
	struct rpma_conn *cli, *srv;
	struct net n, through;
	struct drip d = { .net = &n };
	pthread_t t;

	(void)state;
	not_for_devices("it cuts frames of TCP");
	net_open_at(&n, "127.0.0.1");
	through = n;
	d.listener = dead_port("127.0.0.1", true, through.port);
	t = thread_start(drip_main, &d);
	cli = client_start(&through, NULL);
	srv = server_start(&n, NULL);
	expect_event(cli, RPMA_CONN_ESTABLISHED);
	expect_event(srv, RPMA_CONN_ESTABLISHED);
	expect_no_event(srv);
	assert_ok(rpma_conn_disconnect(cli));
	assert_ok(rpma_conn_disconnect(srv));
	expect_event(cli, RPMA_CONN_CLOSED);
	expect_event(srv, RPMA_CONN_CLOSED);
	thread_join(t);
	expect_no_event(cli);
	expect_no_event(srv);
	assert_ok(rpma_conn_delete(&cli));
	assert_ok(rpma_conn_delete(&srv));
	close(d.listener);
	net_close(&n);
}

static void *disconnect(void *arg)
{
	assert_ok(rpma_conn_disconnect(arg));
	return NULL;
}

static void b19_both_sides_disconnect_at_once(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 200; i++) {
		struct pair p;
		pthread_t t[SIDES];

		pair_connect(&p, &n, NULL);
		for (int s = 0; s < SIDES; s++)
			t[s] = thread_start(disconnect, p.side[s].conn);
		for (int s = 0; s < SIDES; s++) {
			thread_join(t[s]);
			expect_event(p.side[s].conn, RPMA_CONN_CLOSED);
		}
		for (int s = 0; s < SIDES; s++)
			expect_no_event(p.side[s].conn);
		pair_drop(&p);
	}
	net_close(&n);
}

/* ---- B30 ------------------------------------------------------------------- */

/* Both write much, nobody looks; then both look. */
static void b30_both_sides_write_much_at_once(void **state)
{
	enum { COUNT = 32, LEN = 4 << 20 };
	struct pair_opts o = { .side = { { .sq_size = COUNT }, { .sq_size = COUNT } } };
	struct field f;

	(void)state;
	field_open(&f, &o, LEN);
	for (int s = 0; s < SIDES; s++)
		fill(f.mem[s].data, LEN, 30);
	for (uint64_t i = 0; i < COUNT; i++)
		for (int s = 0; s < SIDES; s++) {
			struct xfer x = field_xfer(&f, s, LEN, CTX(i));

			op_post(&ops[OP_WRITE], &x);
		}
	poll(NULL, 0, 200); /* nobody polls for a while */
	for (uint64_t i = 0; i < COUNT; i++)
		for (int s = 0; s < SIDES; s++)
			expect_done(&f.pair.side[s], CTX(i));
	for (int s = 0; s < SIDES; s++)
		assert_filled(f.mem[s].data, LEN, 30);
	field_close(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b14_one_channel_for_two_queues),
		cmocka_unit_test(b18_a_sleeper_is_woken_by_a_slow_peer),
		cmocka_unit_test(b19_frames_that_come_byte_by_byte),
		cmocka_unit_test(b19_both_sides_disconnect_at_once),
		cmocka_unit_test(b30_both_sides_write_much_at_once),
	};

	test_init();
	threads_init();
	if (argc > 1)
		return link_be(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests_name("situations-waits", tests, NULL, NULL);
}
