/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * gate.c -- see gate.h
 */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/gate.h"

/* One for the whole process, made with the first gate, never closed. */
static int always_readable(void)
{
	static atomic_int shared = -1;
	int old = atomic_load(&shared);
	int fd;

	if (old >= 0)
		return old;
	fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!atomic_compare_exchange_strong(&shared, &old, fd)) {
		close(fd);
		return old;
	}
	return fd;
}

static int watch(int epoll, int fd, int op, unsigned events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(epoll, op, fd, &ev) ? -errno : 0;
}

int gate_open(struct gate *gate, int source)
{
	int waker = always_readable();
	int flags = fcntl(source, F_GETFL);
	int ret;

	if (waker < 0)
		return waker;
	if (flags < 0 || fcntl(source, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	gate->fd = epoll_create1(EPOLL_CLOEXEC);
	if (gate->fd < 0)
		return -errno;
	ret = watch(gate->fd, source, EPOLL_CTL_ADD, EPOLLIN);
	/* in the set from now on, since adding it could fail when it matters */
	if (!ret)
		ret = watch(gate->fd, waker, EPOLL_CTL_ADD, 0);
	if (ret) {
		close(gate->fd);
		return ret;
	}
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->left, NULL);
	gate->inside = 0;
	gate->closed = false;
	return 0;
}

static bool enter(struct gate *gate)
{
	bool closed;

	pthread_mutex_lock(&gate->lock);
	closed = gate->closed;
	if (!closed)
		gate->inside++;
	pthread_mutex_unlock(&gate->lock);
	return !closed;
}

static void leave(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	if (--gate->inside == 0)
		pthread_cond_broadcast(&gate->left);
	pthread_mutex_unlock(&gate->lock);
}

static bool is_closed(struct gate *gate)
{
	bool closed;

	pthread_mutex_lock(&gate->lock);
	closed = gate->closed;
	pthread_mutex_unlock(&gate->lock);
	return closed;
}

/* 0: something has happened, try again. */
static int sleep_once(struct gate *gate)
{
	struct epoll_event ev;
	int flags = fcntl(gate->fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	if (epoll_wait(gate->fd, &ev, 1, -1) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

int gate_wait(struct gate *gate, gate_take_fn *take, void *out)
{
	int ret;

	if (!enter(gate))
		return -ECANCELED;
	do {
		if (is_closed(gate))
			ret = -ECANCELED;
		else
			ret = take(gate, out);
	} while (ret == -EAGAIN && !(ret = sleep_once(gate)));
	leave(gate);
	return ret;
}

void gate_keep(struct gate *gate, bool something)
{
	pthread_mutex_lock(&gate->lock);
	if (!gate->closed) /* or those who are turned out might not wake */
		watch(gate->fd, always_readable(), EPOLL_CTL_MOD, something ? EPOLLIN : 0);
	pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->closed = true;
	if (gate->inside)
		watch(gate->fd, always_readable(), EPOLL_CTL_MOD, EPOLLIN);
	while (gate->inside)
		pthread_cond_wait(&gate->left, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

void gate_free(struct gate *gate)
{
	close(gate->fd);
	pthread_cond_destroy(&gate->left);
	pthread_mutex_destroy(&gate->lock);
}
