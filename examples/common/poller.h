/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * poller.h -- wait for many descriptors of the library at once, with epoll
 *
 * With O_NONBLOCK set on a descriptor, the call that would wait for it returns
 * RPMA_E_NO_EVENT or RPMA_E_NO_COMPLETION when there is nothing.
 */

#ifndef EXAMPLES_POLLER_H
#define EXAMPLES_POLLER_H 1

#include <sys/epoll.h>

#include "common/common.h"

/* Whom to call when a descriptor is readable; lives as long as that is open. */
struct source {
	void (*ready)(void *who);
	void *who;
};

static inline void watch(int set, int fd, struct source *source)
{
	struct epoll_event ev = { EPOLLIN, { .ptr = source } };

	if (fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev))
		quit("epoll: %s\n", strerror(errno));
}

/* One at a time, so that ready() may close whatever it likes. */
static inline void wait_and_serve(int set)
{
	struct epoll_event ev;

	if (epoll_wait(set, &ev, 1, -1) == 1) {
		struct source *source = ev.data.ptr;
		source->ready(source->who);
	}
}

#endif /* EXAMPLES_POLLER_H */
