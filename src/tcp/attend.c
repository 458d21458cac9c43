/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * attend.c -- a thread that waits for a request at the doors themselves; see
 * listener.h
 *
 * The descriptors it watches may be closed by others meanwhile: a guest that is
 * dropped, by half_open_take(), which wakes it; the doors, only after attend_stop().
 */

#include <errno.h>
#include <poll.h>

#include "tcp/listener.h"

/* Lock held. */
static void watch_doors(struct tcp_listener *l, uint32_t events)
{
	for (unsigned i = 0; i < l->n_doors; i++)
		watch_events(&l->doors[i].watch, events);
}

static bool begin(struct tcp_listener *l)
{
	bool mine;

	pthread_mutex_lock(&l->lock);
	mine = !l->attended && !l->closing && l->n_pending == 0;
	if (mine) {
		l->attended = true;
		watch_doors(l, 0);
	}
	pthread_mutex_unlock(&l->lock);
	return mine;
}

static struct tcp_conn *guest_take(struct tcp_listener *l)
{
	struct tcp_conn *c;

	pthread_mutex_lock(&l->lock);
	c = l->guest;
	l->guest = NULL;
	if (c != NULL)
		half_open_take(l, c);
	pthread_mutex_unlock(&l->lock);
	return c;
}

static void guest_return(struct tcp_listener *l, struct tcp_conn *c)
{
	pthread_mutex_lock(&l->lock);
	half_open_return(l, c);
	pthread_mutex_unlock(&l->lock);
}

static void end(struct tcp_listener *l)
{
	struct tcp_conn *c = guest_take(l);

	if (c != NULL)
		guest_return(l, c);
	pthread_mutex_lock(&l->lock);
	l->attended = false;
	watch_doors(l, EPOLLIN);
	pthread_cond_signal(&l->left);
	pthread_mutex_unlock(&l->lock);
}

void attend_stop(struct tcp_listener *l)
{
	pthread_mutex_lock(&l->lock);
	l->closing = true;
	if (l->attended)
		notify_post(&l->notify);
	while (l->attended)
		pthread_cond_wait(&l->left, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

/* The guest has said something, maybe all. */
static struct tcp_conn *serve_guest(struct tcp_listener *l)
{
	struct tcp_conn *c = guest_take(l);
	int r;

	if (c == NULL)
		return NULL;
	conn_lock(c);
	r = handshake_read_request(c);
	conn_unlock(c);
	if (r == 1) {
		struct engine *engine = c->watch.engine;

		watch_del(&c->watch);
		watch_add(engine, &c->watch, conn_serve);
		c->state = CONN_PENDING;
		return c;
	}
	if (r == 0)
		guest_return(l, c);
	else
		turn_away(c, r);
	return NULL;
}

/* False: this thread cannot go on. */
static bool open_doors(struct tcp_listener *l, const struct pollfd *p)
{
	for (unsigned i = 0; i < l->n_doors; i++) {
		int err = p[i].revents ? door_accept(&l->doors[i], true) : 0;

		if (out_of_resources(err)) {
			door_rest(&l->doors[i], err);
			return false;
		}
	}
	return true;
}

/* False: something else is to be done than to watch on. */
static bool watch_once(struct tcp_listener *l, struct tcp_conn **client)
{
	struct pollfd p[2 + CONN_ADDRS] = { { .fd = l->notify.fd, .events = POLLIN } };

	pthread_mutex_lock(&l->lock);
	p[1] = (struct pollfd){ .fd = l->guest ? l->guest->fd : -1, .events = POLLIN };
	pthread_mutex_unlock(&l->lock);
	for (unsigned i = 0; i < l->n_doors; i++)
		p[2 + i] = (struct pollfd){ .fd = l->doors[i].fd, .events = POLLIN };
	if (poll(p, 2 + l->n_doors, -1) <= 0)
		return true;
	if (p[0].revents)
		return false;
	if (p[1].revents)
		*client = serve_guest(l);
	return *client == NULL && open_doors(l, p + 2);
}

struct tcp_conn *attend_doors(struct tcp_listener *l)
{
	struct tcp_conn *client = NULL;

	if (!begin(l))
		return NULL;
	while (watch_once(l, &client))
		;
	end(l);
	return client;
}
