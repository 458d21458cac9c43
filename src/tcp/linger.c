/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * linger.c -- sockets whose connection object is gone; see conn.h
 *
 * Closing a socket that has unread input makes the kernel send RST, which can
 * destroy what the peer has not read yet. So the last bytes are read and thrown
 * away until the peer closes, too, or its time is up.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tcp/conn.h"
#include "tcp/env.h"

enum {
	LINGER_READS = 64, /* in one go, so that a flood does not hold the engine */
};

struct lingering {
	struct watch watch;
	struct list node;
	int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list lingers = { &lingers, &lingers };

static void linger_end(struct lingering *l)
{
	watch_del(&l->watch);
	close(l->fd);
	free(l);
}

/* False when the list does not have it any more: linger_stop() took it. */
static bool linger_take(struct lingering *l)
{
	bool mine;

	pthread_mutex_lock(&lock);
	mine = !list_empty(&l->node);
	list_del(&l->node);
	pthread_mutex_unlock(&lock);
	return mine;
}

/* True when nothing more is to come. */
static bool linger_read(int fd)
{
	char scrap[16384];
	ssize_t n = 1;

	for (int i = 0; i < LINGER_READS && n > 0; i++)
		n = recv(fd, scrap, sizeof(scrap), MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void linger_serve(struct watch *w, uint32_t events)
{
	struct lingering *l = container_of(w, struct lingering, watch);

	if (!(events & WATCH_TIMER) && !linger_read(l->fd))
		return;
	if (linger_take(l))
		linger_end(l);
}

void linger_start(struct engine *engine, int fd)
{
	struct lingering *l = malloc(sizeof(*l));

	shutdown(fd, SHUT_WR);
	if (l == NULL) {
		close(fd);
		return;
	}
	l->fd = fd;
	watch_add(engine, &l->watch, linger_serve);
	/* Under the lock, which the engine needs to end it: it may be quicker. */
	pthread_mutex_lock(&lock);
	list_add_tail(&lingers, &l->node);
	watch_timer(&l->watch, tcp_env()->linger_ms);
	if (watch_attach(&l->watch, fd, EPOLLIN))
		watch_timer(&l->watch, 0);
	pthread_mutex_unlock(&lock);
}

void linger_stop(void)
{
	struct list *node;

	for (;;) {
		pthread_mutex_lock(&lock);
		node = list_pop(&lingers);
		pthread_mutex_unlock(&lock);
		if (node == NULL)
			return;
		linger_end(container_of(node, struct lingering, node));
	}
}
