/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fds.c -- the descriptors: blocking, non-blocking, poll, epoll */

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 64

/* A connection that has every kind of descriptor between its two sides */
struct all {
	struct net net;
	struct rpma_srq *srq;
	struct field f;
};

enum { CLIENT_EVENT, SERVER_EVENT, ENDPOINT, SHARED_CQ, SERVER_CQ, SRQ_CQ, FDS };

static void all_open(struct all *a)
{
	struct pair_opts o = { .side[CLIENT] = { .rcq_size = 10, .shared = true } };

	net_open(&a->net);
	assert_ok(rpma_srq_new(a->net.peer[SERVER], NULL, &a->srq));
	o.side[SERVER].srq = a->srq;
	field_connect(&a->f, &a->net, &o, SIZE);
}

static void all_close(struct all *a)
{
	field_close(&a->f);
	assert_ok(rpma_srq_delete(&a->srq));
	net_close(&a->net);
}

static void all_fds(struct all *a, int fd[FDS])
{
	struct side *s = a->f.pair.side;

	assert_ok(rpma_conn_get_event_fd(s[CLIENT].conn, &fd[CLIENT_EVENT]));
	assert_ok(rpma_conn_get_event_fd(s[SERVER].conn, &fd[SERVER_EVENT]));
	assert_ok(rpma_ep_get_fd(a->net.ep, &fd[ENDPOINT]));
	assert_ok(rpma_conn_get_compl_fd(s[CLIENT].conn, &fd[SHARED_CQ]));
	assert_ok(rpma_cq_get_fd(s[SERVER].cq, &fd[SERVER_CQ]));
	assert_ok(rpma_cq_get_fd(s[SERVER].rcq, &fd[SRQ_CQ]));
}

/* What the call that belongs to the descriptor says */
static int take(struct all *a, int which)
{
	struct side *s = a->f.pair.side;
	enum rpma_conn_event event;
	struct rpma_conn_req *req;
	struct rpma_cq *cq;

	switch (which) {
	case CLIENT_EVENT:
		return rpma_conn_next_event(s[CLIENT].conn, &event);
	case SERVER_EVENT:
		return rpma_conn_next_event(s[SERVER].conn, &event);
	case ENDPOINT:
		return rpma_ep_next_conn_req(a->net.ep, NULL, &req);
	case SHARED_CQ:
		return rpma_conn_wait(s[CLIENT].conn, 0, &cq, NULL);
	case SERVER_CQ:
		return rpma_cq_wait(s[SERVER].cq);
	default:
		return rpma_cq_wait(s[SERVER].rcq);
	}
}

static int nothing(int which)
{
	return which <= ENDPOINT ? RPMA_E_NO_EVENT : RPMA_E_NO_COMPLETION;
}

/* ---- states of the descriptors ------------------------------------------- */

static void distinct_blocking_and_close_on_exec(void **state)
{
	int fd[FDS];
	struct all a;

	(void)state;
	all_open(&a);
	all_fds(&a, fd);
	for (int i = 0; i < FDS; i++) {
		assert_true(fd[i] >= 0);
		assert_false(fcntl(fd[i], F_GETFL) & O_NONBLOCK);
		assert_true(fcntl(fd[i], F_GETFD) & FD_CLOEXEC);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(fd[i], fd[k]);
	}
	all_close(&a);
}

/* Also those that are not handed out: nothing leaks into other programs. */
static void all_of_them_close_on_exec(void **state)
{
	bool ours[1024];
	struct all a;

	(void)state;
	for (int fd = 0; fd < 1024; fd++)
		ours[fd] = fcntl(fd, F_GETFD) < 0;
	all_open(&a);
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (ours[fd] && flags >= 0 && !(flags & FD_CLOEXEC))
			fail_msg("descriptor %d is not close-on-exec", fd);
	}
	all_close(&a);
}

static void nothing_is_there(void **state)
{
	int fd[FDS];
	struct all a;

	(void)state;
	all_open(&a);
	all_fds(&a, fd);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < FDS; i++) {
			set_nonblock(fd[i]);
			assert_false(readable(fd[i]));
			assert_rpma(nothing(i), take(&a, i));
			assert_false(readable(fd[i]));
		}
	}
	all_close(&a);
}

/* Have something queued for each descriptor, an end of both sides included. */
static void make_busy(struct all *a)
{
	struct xfer x = field_xfer(&a->f, CLIENT, 8, CTX(1));

	assert_ok(rpma_srq_recv(a->srq, NULL, 0, 0, CTX(2)));
	x.len = 0;
	x.local = NULL;
	op_post(&ops[OP_SEND], &x);
	x = field_xfer(&a->f, SERVER, 8, CTX(3));
	op_post(&ops[OP_WRITE], &x);
}

static void readable_while_there_is(void **state)
{
	struct rpma_conn *third;
	int fd[FDS];
	struct all a;

	(void)state;
	all_open(&a);
	all_fds(&a, fd);
	make_busy(&a);
	wait_fd(fd[SHARED_CQ]);
	wait_fd(fd[SERVER_CQ]);
	wait_fd(fd[SRQ_CQ]);
	assert_false(readable(fd[ENDPOINT]));
	third = client_start(&a.net, NULL);
	wait_fd(fd[ENDPOINT]);
	assert_false(readable(fd[CLIENT_EVENT]));
	for (int i = ENDPOINT + 1; i < FDS; i++) {
		assert_true(readable(fd[i]));
		assert_ok(take(&a, i));
		assert_false(readable(fd[i]));
		set_nonblock(fd[i]);
		assert_rpma(RPMA_E_NO_COMPLETION, take(&a, i));
	}
	assert_ok(rpma_conn_delete(&third));
	all_close(&a);
}

/* ---- epoll --------------------------------------------------------------- */

/* An epoll loop that serves whatever comes until every source has spoken. */
static void serve_by_epoll(struct all *a, const int fd[FDS], uint32_t how)
{
	bool spoken[FDS] = { false };
	struct epoll_event ev;
	int ep = epoll_create1(EPOLL_CLOEXEC);

	assert_true(ep >= 0);
	for (int i = 0; i < FDS; i++) {
		set_nonblock(fd[i]);
		ev = (struct epoll_event){ .events = EPOLLIN | how, .data.u32 = (uint32_t)i };
		assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], &ev), 0);
	}
	for (int left = FDS - 1; left > 0;) {
		uint32_t i;

		assert_int_equal(epoll_wait(ep, &ev, 1, test_timeout_ms()), 1);
		i = ev.data.u32;
		assert_int_not_equal(i, ENDPOINT);
		assert_int_equal(take(a, (int)i), 0);
		left -= !spoken[i];
		spoken[i] = true;
	}
	close(ep);
}

static void epoll_over(uint32_t how)
{
	int fd[FDS];
	struct all a;

	all_open(&a);
	all_fds(&a, fd);
	make_busy(&a);
	expect_done(&a.f.pair.side[SERVER], CTX(3));
	make_busy(&a);
	wait_fd(fd[SERVER_CQ]);
	assert_ok(rpma_conn_disconnect(a.f.pair.side[CLIENT].conn));
	serve_by_epoll(&a, fd, how);
	field_drop(&a.f);
	assert_ok(rpma_srq_delete(&a.srq));
	net_close(&a.net);
}

static void epoll_level(void **state)
{
	(void)state;
	epoll_over(0);
}

static void epoll_edge(void **state)
{
	(void)state;
	epoll_over(EPOLLET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distinct_blocking_and_close_on_exec),
		cmocka_unit_test(all_of_them_close_on_exec),
		cmocka_unit_test(nothing_is_there),
		cmocka_unit_test(readable_while_there_is),
		cmocka_unit_test(epoll_level),
		cmocka_unit_test(epoll_edge),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-fds", tests, NULL, NULL);
}
