/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* epoll.c -- the descriptor of rpma_conn_get_completion_fd() in an event loop */

#include <fcntl.h>
#include <sys/epoll.h>

#include "old.h"

#define WRITES 200
#define DEPTH 8

static void watch(int epfd, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	require(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
	require(!epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev));
}

static void post(struct end *e, uintptr_t n)
{
	must(rpma_write(e->conn, e->far, 0, e->mr, 0, 64, RPMA_F_COMPLETION_ALWAYS, (void *)n));
}

/* What there is, when the descriptor is readable: how many */
static uintptr_t collect(struct end *e, uintptr_t done)
{
	struct rpma_completion c;
	uintptr_t n = 0;
	int ret = rpma_conn_completion_wait(e->conn);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	must(ret);
	while ((ret = rpma_conn_completion_get(e->conn, &c)) == 0) {
		require(c.op_status == IBV_WC_SUCCESS);
		require(c.op == RPMA_OP_WRITE);
		require(c.op_context == (void *)(done + n));
		n++;
	}
	require(ret == RPMA_E_NO_COMPLETION);
	return n;
}

static void client(struct end *e)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC), fd = -1, event_fd = -1;
	uintptr_t posted = 0, done = 0;
	enum rpma_conn_event event;
	struct epoll_event ev;

	must(rpma_conn_get_completion_fd(e->conn, &fd));
	must(rpma_conn_get_event_fd(e->conn, &event_fd));
	watch(epfd, fd);
	watch(epfd, event_fd);
	require(rpma_conn_completion_wait(e->conn) == RPMA_E_NO_COMPLETION);
	require(rpma_conn_next_event(e->conn, &event) == RPMA_E_NO_EVENT);
	while (done < WRITES) {
		while (posted < WRITES && posted < done + DEPTH)
			post(e, posted++);
		if (epoll_wait(epfd, &ev, 1, 20000) != 1)
			fail("no event");
		require(ev.data.fd == fd); /* nothing happens to the connection */
		done += collect(e, done);
	}
	/* Without O_NONBLOCK again, as it was. */
	require(!fcntl(event_fd, F_SETFL, fcntl(event_fd, F_GETFL) & ~O_NONBLOCK));
	close(epfd);
}

static void server(struct end *e)
{
	(void)e;
}

int main(void)
{
	return run(client, server, 0);
}
