/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * listener.c -- endpoints: accept, keep strangers out, queue requests; see conn.h
 *
 * A connection that was accepted is half open, a stranger, until its MPA request
 * is whole; then it is pending until the application takes it. Strangers are few
 * (RPMA_TCP_HALF_OPEN), have little memory and little time; one too many drops
 * the oldest, so that a flood of them does not keep real clients out.
 *
 * Lock: listener->lock, for the two lists; taken under nothing, before the
 * engine's and the notify's. Whoever takes a half-open connection out of the list
 * owns it; from the list of strangers to that of the pending it goes in one step,
 * so that listener_destroy() finds it in one of them, or sees that it is leaving.
 */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/env.h"
#include "tcp/pd.h"

enum {
	ACCEPTS = 64,	/* in one go */
	RETRY_MS = 100, /* when the system is out of descriptors or memory */
	BACKLOG = 4096, /* the system may lower it */
};

/* A host name may stand for several addresses; we listen on all of them. */
struct door {
	struct tcp_listener *listener;
	struct watch watch;
	int fd;
};

struct tcp_listener {
	struct rp_listener base;
	struct notify notify; /* counts pending */
	struct door doors[CONN_ADDRS];
	unsigned n_doors;
	pthread_mutex_t lock;
	struct list half_open; /* oldest first; tcp_conn.node */
	struct list pending;
	unsigned n_half_open;
	unsigned n_pending;
	bool leaving;	     /* the engine is destroying one taken out */
	pthread_cond_t left; /* ... and is done */
};

/* ---- strangers ------------------------------------------------------------------ */

/* l->lock held. False: it is not in the list any more, somebody else has it. */
static bool half_open_take(struct tcp_listener *l, struct tcp_conn *c)
{
	bool mine = !list_empty(&c->node);

	list_del(&c->node);
	l->n_half_open -= mine;
	return mine;
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

static void half_open_drop(struct tcp_listener *l, struct tcp_conn *c, int why)
{
	if (why < 0)
		rp_log_info("%s is no client of ours: %s", c->name, RP_STRERROR(-why));
	else
		rp_log_warning(
			"too many requests wait for the application, %s is refused", c->name);
	conn_destroy(&c->base);
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
	struct list *node = NULL;

	pthread_mutex_lock(&l->lock);
	if (l->n_half_open >= tcp_env()->half_open)
		node = list_pop(&l->half_open);
	l->n_half_open -= node != NULL;
	pthread_mutex_unlock(&l->lock);
	if (node != NULL)
		conn_destroy(&container_of(node, struct tcp_conn, node)->base);
}

static void admit(struct tcp_listener *l, int fd, const struct sockaddr *sa, socklen_t len)
{
	struct tcp_conn *c;

	if (conn_new(l->base.pd, true, half_open_serve, &c)) {
		close(fd);
		return;
	}
	conn_set_name(c, sa, len);
	c->fd = fd;
	c->listener = l;
	drop_oldest(l);
	pthread_mutex_lock(&l->lock);
	list_add_tail(&l->half_open, &c->node);
	l->n_half_open++;
	pthread_mutex_unlock(&l->lock);
	watch_timer(&c->watch, tcp_env()->handshake_ms);
	if (watch_attach(&c->watch, fd, EPOLLIN))
		watch_timer(&c->watch, 0);
}

/* ---- accepting ---------------------------------------------------------------------- */

static bool out_of_resources(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static void door_serve(struct watch *w, uint32_t events)
{
	struct door *d = container_of(w, struct door, watch);
	struct sockaddr_storage sa;
	socklen_t len;
	int fd, err;

	if ((events & WATCH_TIMER) && watch_attach(w, d->fd, EPOLLIN)) {
		watch_timer(w, RETRY_MS);
		return;
	}
	for (int i = 0; i < ACCEPTS; i++) {
		len = sizeof(sa);
		fd = accept4(d->fd, (struct sockaddr *)&sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			admit(d->listener, fd, (struct sockaddr *)&sa, len);
			continue;
		}
		err = errno;
		if (out_of_resources(err)) {
			/* The client stays in the system's queue; we try again. */
			rp_log_error("cannot accept a connection: %s", RP_STRERROR(err));
			watch_detach(w);
			watch_timer(w, RETRY_MS);
		}
		if (err != ECONNABORTED && err != EINTR)
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
	do {
		err = notify_wait(&l->notify);
		if (err == 0)
			c = pop(l, &l->pending, &l->n_pending);
	} while (err == 0 && c == NULL);
	notify_leave(&l->notify);
	if (err)
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
