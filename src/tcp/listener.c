/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * listener.c -- endpoints, their doors and their strangers; see listener.h
 */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/env.h"
#include "tcp/listener.h"
#include "tcp/pd.h"

enum {
	ACCEPTS = 64,	/* in one go */
	RETRY_MS = 100, /* when the system is out of descriptors or memory */
	BACKLOG = 4096, /* the system may lower it */
};

/* ---- strangers ------------------------------------------------------------------ */

bool half_open_take(struct tcp_listener *l, struct tcp_conn *c)
{
	bool mine = !list_empty(&c->node);

	list_del(&c->node);
	l->n_half_open -= mine;
	if (l->guest == c) {
		l->guest = NULL;
		notify_post(&l->notify); /* its socket is to be watched no more */
	}
	return mine;
}

/* The engine's: l->lock held. */
static void half_open_watch(struct tcp_conn *c)
{
	int64_t left = c->hs->deadline - engine_now();

	if (watch_attach(&c->watch, c->fd, EPOLLIN))
		left = 0;
	watch_timer(&c->watch, left > 0 ? (int)left : 0);
}

void half_open_return(struct tcp_listener *l, struct tcp_conn *c)
{
	list_add_tail(&l->half_open, &c->node);
	l->n_half_open++;
	half_open_watch(c);
}

/* l->lock held. The request is whole: the application's turn. */
static void make_pending(struct tcp_listener *l, struct tcp_conn *c)
{
	watch_detach(&c->watch);
	watch_timer(&c->watch, -1);
	c->watch.fn = conn_serve;
	c->state = CONN_PENDING;
	list_add_tail(&l->pending, &c->node);
	l->n_pending++;
	notify_post(&l->notify);
}

void turn_away(struct tcp_conn *c, int why)
{
	if (why < 0)
		rp_log_info("%s is no client of ours: %s", c->name, RP_STRERROR(-why));
	else
		rp_log_warning(
			"too many requests wait for the application, %s is refused", c->name);
	conn_destroy(&c->base);
}

static void half_open_drop(struct tcp_listener *l, struct tcp_conn *c, int why)
{
	turn_away(c, why);
	pthread_mutex_lock(&l->lock);
	l->leaving = false;
	pthread_cond_signal(&l->left);
	pthread_mutex_unlock(&l->lock);
}

static void half_open_serve(struct watch *w, uint32_t events)
{
	struct tcp_conn *c = container_of(w, struct tcp_conn, watch);
	struct tcp_listener *l = c->listener;
	bool drop = false;
	int r = 0;

	conn_lock(c); /* conn_destroy() may be closing the socket */
	if (c->fd >= 0)
		r = events & WATCH_TIMER ? -ETIMEDOUT : handshake_read_request(c);
	conn_unlock(c);
	if (r == 0)
		return;
	pthread_mutex_lock(&l->lock);
	if (half_open_take(l, c)) {
		drop = r < 0 || l->n_pending >= tcp_env()->half_open;
		l->leaving = drop;
		if (!drop)
			make_pending(l, c);
	}
	pthread_mutex_unlock(&l->lock);
	if (drop)
		half_open_drop(l, c, r);
}

static void drop_oldest(struct tcp_listener *l)
{
	struct tcp_conn *c = NULL;

	pthread_mutex_lock(&l->lock);
	if (l->n_half_open >= tcp_env()->half_open) {
		c = container_of(l->half_open.next, struct tcp_conn, node);
		half_open_take(l, c);
	}
	pthread_mutex_unlock(&l->lock);
	if (c != NULL)
		conn_destroy(&c->base);
}

/* Admitted by a thread that attends it is its guest; the guest before goes to the
 * engine. */
static void admit(
	struct tcp_listener *l, int fd, const struct sockaddr *sa, socklen_t len, bool attended)
{
	struct tcp_conn *c;

	if (conn_new(l->base.pd, true, half_open_serve, &c)) {
		close(fd);
		return;
	}
	conn_set_name(c, sa, len);
	c->fd = fd;
	c->listener = l;
	c->hs->deadline = engine_now() + tcp_env()->handshake_ms;
	drop_oldest(l);
	pthread_mutex_lock(&l->lock);
	list_add_tail(&l->half_open, &c->node);
	l->n_half_open++;
	if (attended && l->guest != NULL)
		half_open_watch(l->guest);
	if (attended) {
		l->guest = c;
		watch_timer(&c->watch, tcp_env()->handshake_ms);
	} else {
		half_open_watch(c);
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- accepting ---------------------------------------------------------------------- */

bool out_of_resources(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

int door_accept(struct door *d, bool attended)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(d->fd, (struct sockaddr *)&sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return errno;
	conn_socket_near(fd, (struct sockaddr *)&sa); /* of a door that is open to all */
	admit(d->listener, fd, (struct sockaddr *)&sa, len, attended);
	return 0;
}

/* The client stays in the system's queue; we try again. */
void door_rest(struct door *d, int err)
{
	rp_log_error("cannot accept a connection: %s", RP_STRERROR(err));
	pthread_mutex_lock(&d->listener->lock);
	watch_detach(&d->watch);
	watch_timer(&d->watch, RETRY_MS);
	pthread_mutex_unlock(&d->listener->lock);
}

static bool door_reopen(struct door *d)
{
	struct tcp_listener *l = d->listener;
	int err;

	pthread_mutex_lock(&l->lock);
	err = watch_attach(&d->watch, d->fd, l->attended ? 0 : EPOLLIN);
	pthread_mutex_unlock(&l->lock);
	if (err)
		watch_timer(&d->watch, RETRY_MS);
	return err == 0;
}

static void door_serve(struct watch *w, uint32_t events)
{
	struct door *d = container_of(w, struct door, watch);
	int err;

	if ((events & WATCH_TIMER) && !door_reopen(d))
		return;
	for (int i = 0; i < ACCEPTS; i++) {
		err = door_accept(d, false);
		if (out_of_resources(err))
			door_rest(d, err);
		if (err != 0 && err != ECONNABORTED && err != EINTR)
			return;
	}
}

static void set_port(struct sockaddr *sa, in_port_t port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)sa)->sin_port = port;
	else if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = port;
}

static in_port_t get_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return 0;
	return ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&ss)->sin6_port
					: ((struct sockaddr_in *)&ss)->sin_port;
}

static int bind_door(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	conn_socket_options(fd); /* accepted sockets inherit them */
	conn_socket_near(fd, ai->ai_addr);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int open_door(struct tcp_listener *l, const struct addrinfo *ai)
{
	struct door *d = &l->doors[l->n_doors];
	int err;

	d->fd = bind_door(ai);
	if (d->fd < 0)
		return d->fd;
	d->listener = l;
	watch_add(tcp_engine(), &d->watch, door_serve);
	err = watch_attach(&d->watch, d->fd, EPOLLIN);
	if (err) {
		close(d->fd);
		return err;
	}
	l->n_doors++;
	return 0;
}

/* An address of a family that the system has switched off does not count, as long
 * as another one works. */
static int open_doors(struct tcp_listener *l, struct addrinfo *ai)
{
	int err = -EADDRNOTAVAIL;
	in_port_t port = 0;

	for (; ai != NULL && l->n_doors < CONN_ADDRS; ai = ai->ai_next) {
		if (port != 0)
			set_port(ai->ai_addr, port);
		err = open_door(l, ai);
		if (err == 0)
			port = get_port(l->doors[0].fd);
		else if (err != -EADDRNOTAVAIL && err != -EAFNOSUPPORT)
			return err;
	}
	return l->n_doors > 0 ? 0 : err;
}

int listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **listener)
{
	struct tcp_listener *l = calloc(1, sizeof(*l));
	struct addrinfo *ai;
	int err;

	if (l == NULL)
		return -ENOMEM;
	err = notify_init(&l->notify);
	if (err) {
		free(l);
		return err;
	}
	l->base = (struct rp_listener){ .pd = pd, .fd = l->notify.fd };
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->left, NULL);
	pd_use(pd);
	list_init(&l->half_open);
	list_init(&l->pending);
	err = resolve(addr, port, true, &ai);
	if (err == 0) {
		err = open_doors(l, ai);
		freeaddrinfo(ai);
	}
	if (err) {
		listener_destroy(&l->base);
		return err;
	}
	*listener = &l->base;
	return 0;
}

/* ---- the application's side ------------------------------------------------------------ */

static struct tcp_conn *pop(struct tcp_listener *l, struct list *from, unsigned *count)
{
	struct list *node;

	pthread_mutex_lock(&l->lock);
	node = list_pop(from);
	*count -= node != NULL;
	pthread_mutex_unlock(&l->lock);
	return node ? container_of(node, struct tcp_conn, node) : NULL;
}

int listener_next(struct rp_listener *base, struct rp_conn **conn)
{
	struct tcp_listener *l = container_of(base, struct tcp_listener, base);
	struct tcp_conn *c = NULL;
	int err = notify_enter(&l->notify);

	if (err)
		return err;
	if (notify_blocks(&l->notify))
		c = attend_doors(l);
	while (err == 0 && c == NULL) {
		err = notify_wait(&l->notify);
		if (err == 0)
			c = pop(l, &l->pending, &l->n_pending);
	}
	notify_leave(&l->notify);
	if (c == NULL)
		return err;
	c->listener = NULL;
	*conn = &c->base;
	return 0;
}

static void wait_leaving(struct tcp_listener *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->leaving)
		pthread_cond_wait(&l->left, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

int listener_destroy(struct rp_listener *base)
{
	struct tcp_listener *l = container_of(base, struct tcp_listener, base);
	struct tcp_conn *c;

	attend_stop(l);
	for (unsigned i = 0; i < l->n_doors; i++) {
		watch_del(&l->doors[i].watch);
		close(l->doors[i].fd);
	}
	while ((c = pop(l, &l->half_open, &l->n_half_open)) != NULL)
		conn_destroy(&c->base);
	wait_leaving(l);
	notify_close(&l->notify); /* nobody posts any more */
	while ((c = pop(l, &l->pending, &l->n_pending)) != NULL) {
		conn_reject(&c->base);
		conn_destroy(&c->base);
	}
	pd_unuse(base->pd);
	pthread_cond_destroy(&l->left);
	pthread_mutex_destroy(&l->lock);
	free(l);
	return 0;
}
