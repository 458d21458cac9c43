/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * connect.c -- the active side's way to a connected socket; see conn.h
 *
 * All addresses of the host are tried in turn, as long as the timeout lasts; one
 * that is silent gets an equal share of the time left.
 */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/env.h"

static bool is_loopback(const struct sockaddr *sa)
{
	const struct in6_addr *a = &((const struct sockaddr_in6 *)sa)->sin6_addr;
	uint32_t v4 = ((const struct sockaddr_in *)sa)->sin_addr.s_addr;

	if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(a))
		return true;
	if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(a))
		memcpy(&v4, a->s6_addr + 12, sizeof(v4));
	else if (sa->sa_family != AF_INET)
		return false;
	return ntohl(v4) >> 24 == IN_LOOPBACKNET;
}

/* Within one host there is no network to be careful with, and algorithms that measure one
 * (bbr paces) halve the bandwidth there. The plain one is always at hand. */
void conn_socket_near(int fd, const struct sockaddr *other)
{
	static const char plain[] = "reno";

	if (is_loopback(other))
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plain, sizeof(plain) - 1);
}

void conn_socket_options(int fd)
{
	int dead_s = (tcp_env()->dead_peer_ms + 999) / 1000;
	int idle = dead_s / 3 ? dead_s / 3 : 1, interval = dead_s / 6 ? dead_s / 6 : 1, count = 4;
	int on = 1;

	/* None of these can fail on a TCP socket in a way that matters. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

void conn_set_name(struct tcp_conn *c, const struct sockaddr *sa, socklen_t len)
{
	char host[64] = "?", port[8] = "?";

	getnameinfo(
		sa, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(c->name, sizeof(c->name), strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* ---- addresses ------------------------------------------------------------------- */

static int keep_routed(struct handshake *hs, const struct addrinfo *ai)
{
	int err = -EADDRNOTAVAIL;

	for (; ai != NULL && hs->n_addrs < CONN_ADDRS; ai = ai->ai_next) {
		int r = resolve_route(ai->ai_addr, ai->ai_addrlen);

		if (r) {
			err = r;
			continue;
		}
		memcpy(&hs->addr[hs->n_addrs], ai->ai_addr, ai->ai_addrlen);
		hs->addr_len[hs->n_addrs++] = ai->ai_addrlen;
	}
	return hs->n_addrs > 0 ? 0 : err;
}

int conn_create(
	struct rp_pd *pd, const char *addr, const char *port, int timeout_ms, struct rp_conn **conn)
{
	struct addrinfo *ai;
	struct tcp_conn *c;
	int err;

	err = resolve(addr, port, false, &ai);
	if (err)
		return err;
	err = conn_new(pd, false, conn_serve, &c);
	if (err == 0) {
		c->hs->timeout_ms = timeout_ms;
		conn_set_name(c, ai->ai_addr, ai->ai_addrlen);
		err = keep_routed(c->hs, ai);
		if (err)
			conn_destroy(&c->base);
	}
	freeaddrinfo(ai);
	if (err == 0)
		*conn = &c->base;
	return err;
}

/* ---- the socket --------------------------------------------------------------------- */

static int time_left(const struct handshake *hs)
{
	int64_t left;

	if (hs->deadline == 0)
		return -1;
	left = hs->deadline - engine_now();
	return left > 0 ? (int)left : 0;
}

static enum rpma_conn_event event_of(int err)
{
	switch (err) {
	case ECONNREFUSED:
	case ECONNRESET:
		return RPMA_CONN_REJECTED;
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
		return RPMA_CONN_UNREACHABLE;
	default:
		return RPMA_CONN_LOST;
	}
}

/* On one host a connect to a free port may by chance meet itself. */
static bool met_itself(int fd, const struct sockaddr_storage *peer, socklen_t len)
{
	struct sockaddr_storage me;
	socklen_t ml = sizeof(me);

	memset(&me, 0, sizeof(me));
	return getsockname(fd, (struct sockaddr *)&me, &ml) == 0 && ml == len &&
	       !memcmp(&me, peer, ml);
}

/* How the connect to address i ended: 0 or -errno. */
static int outcome(const struct handshake *hs, unsigned i, int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	if (err == 0 && met_itself(fd, &hs->addr[i], hs->addr_len[i]))
		err = ECONNREFUSED;
	return -err;
}

static void connected(struct tcp_conn *c)
{
	c->state = CONN_REPLY;
	watch_timer(&c->watch, time_left(c->hs));
	handshake_send_request(c);
}

/* On one host it is connected at once: then the engine need not be asked. */
static bool is_over(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1;
}

/* Begin with one address; -errno: no socket could be had, or it failed at once. */
static int start(struct tcp_conn *c, unsigned i)
{
	struct handshake *hs = c->hs;
	bool over = false;
	int fd, err, left;

	fd = socket(hs->addr[i].ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	conn_socket_options(fd);
	conn_socket_near(fd, (struct sockaddr *)&hs->addr[i]);
	err = connect(fd, (struct sockaddr *)&hs->addr[i], hs->addr_len[i]) ? errno : 0;
	err = err == EINPROGRESS || err == EINTR ? 0 : -err;
	if (err == 0) {
		over = is_over(fd);
		err = over ? outcome(hs, i, fd) : 0;
	}
	if (err == 0)
		err = watch_attach(&c->watch, fd, (over ? EPOLLIN : EPOLLOUT) | EPOLLONESHOT);
	if (err) {
		close(fd);
		return err;
	}
	c->fd = fd;
	c->state = CONN_TCP;
	conn_set_name(c, (struct sockaddr *)&hs->addr[i], hs->addr_len[i]);
	if (over) {
		connected(c);
		return 0;
	}
	left = time_left(hs);
	watch_timer(&c->watch, left < 0 ? -1 : left / (int)(hs->n_addrs - i));
	return 0;
}

/* Go on with the next address that can be begun with. -errno: none is left. */
static int start_next(struct tcp_conn *c)
{
	struct handshake *hs = c->hs;

	conn_close_socket(c);
	while (hs->next_addr < hs->n_addrs) {
		int err = start(c, hs->next_addr++);

		if (err == 0)
			return 0;
		hs->last_error = -err;
	}
	return -hs->last_error;
}

static void failed(struct tcp_conn *c, int err)
{
	c->hs->last_error = err;
	if (start_next(c) == 0)
		return;
	conn_note(c, RP_LOG_WARNING, "cannot connect: %s", RP_STRERROR(c->hs->last_error));
	conn_dead(c, event_of(c->hs->last_error));
}

void connect_serve(struct tcp_conn *c)
{
	int err = outcome(c->hs, c->hs->next_addr - 1, c->fd);

	if (err)
		failed(c, -err);
	else
		connected(c);
}

void connect_timer(struct tcp_conn *c)
{
	if (c->state == CONN_TCP && c->hs->next_addr < c->hs->n_addrs) {
		failed(c, ETIMEDOUT);
		return;
	}
	conn_note(c, RP_LOG_WARNING, "no answer within %d ms", c->hs->timeout_ms);
	conn_dead(c, RPMA_CONN_UNREACHABLE);
}

int conn_connect(struct rp_conn *base, const void *data, size_t len)
{
	struct tcp_conn *c = tcp_conn(base);
	struct handshake *hs = c->hs;
	int err;

	if (len > MPA_DATA_MAX || c->state != CONN_IDLE)
		return -EINVAL;
	if (len > 0)
		memcpy(hs->data, data, len);
	hs->request.data = hs->data;
	hs->request.data_len = (uint16_t)len;
	err = conn_open_events(c);
	if (err)
		return err;
	conn_lock(c);
	hs->deadline = hs->timeout_ms ? engine_now() + hs->timeout_ms : 0;
	err = start_next(c);
	if (err && event_of(-err) != RPMA_CONN_LOST) {
		conn_dead(c, event_of(-err)); /* the network's answer, not the system's */
		err = 0;
	}
	conn_unlock(c);
	return err;
}
