/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * notify.c -- see notify.h
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tcp/notify.h"

int notify_init(struct notify *n)
{
	n->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (n->fd < 0)
		return -errno;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->left, NULL);
	n->waiters = 0;
	n->closing = false;
	return 0;
}

static void notify_add(struct notify *n, uint64_t count)
{
	ssize_t r;

	do
		r = write(n->fd, &count, sizeof(count));
	while (r < 0 && errno == EINTR);
}

void notify_post(struct notify *n)
{
	notify_add(n, 1);
}

int notify_enter(struct notify *n)
{
	bool open;

	pthread_mutex_lock(&n->lock);
	open = !n->closing;
	n->waiters += open;
	pthread_mutex_unlock(&n->lock);
	return open ? 0 : -ECANCELED;
}

void notify_leave(struct notify *n)
{
	pthread_mutex_lock(&n->lock);
	if (--n->waiters == 0 && n->closing)
		pthread_cond_signal(&n->left);
	pthread_mutex_unlock(&n->lock);
}

bool notify_blocks(const struct notify *n)
{
	int flags = fcntl(n->fd, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

static bool notify_closing(struct notify *n)
{
	bool closing;

	pthread_mutex_lock(&n->lock);
	closing = n->closing;
	pthread_mutex_unlock(&n->lock);
	return closing;
}

int notify_wait(struct notify *n)
{
	uint64_t one;
	ssize_t r;
	int err;

	do
		r = read(n->fd, &one, sizeof(one));
	while (r < 0 && errno == EINTR);
	err = r < 0 ? -errno : 0;
	return notify_closing(n) ? -ECANCELED : err;
}

void notify_close(struct notify *n)
{
	if (n->fd < 0)
		return;
	pthread_mutex_lock(&n->lock);
	n->closing = true;
	if (n->waiters > 0)
		notify_add(n, n->waiters);
	while (n->waiters > 0)
		pthread_cond_wait(&n->left, &n->lock);
	pthread_mutex_unlock(&n->lock);
	close(n->fd);
	n->fd = -1;
	pthread_cond_destroy(&n->left);
	pthread_mutex_destroy(&n->lock);
}
