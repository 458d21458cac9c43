/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * serve.c -- what the engine calls when a connection's socket, timer or another
 * thread has something for it; see conn.h
 */

#include <netinet/tcp.h>
#include <netinet/in.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/env.h"

/* Something of ours is outstanding: is there still a host that acknowledges? An
 * application that is slow, or posts no receive, is no dead peer: its TCP answers
 * to probes. Nor is one that had no reason to say something: the time before the
 * request does not count. */
static void patrol(struct tcp_conn *c)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	c->patrol = 0;
	c->looks++;
	if (getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	if (info.tcpi_unacked == 0 && info.tcpi_probes == 0)
		c->looks = 0;
	if (c->looks < PATROLS || info.tcpi_last_ack_recv < (unsigned)tcp_env()->dead_peer_ms)
		return;
	conn_note(c, RP_LOG_WARNING, "lost: no sign of life for %u ms", info.tcpi_last_ack_recv);
	conn_dead(c, RPMA_CONN_LOST);
}

static void on_timer(struct tcp_conn *c)
{
	switch (c->state) {
	case CONN_TCP:
	case CONN_REPLY:
	case CONN_CAPS:
		connect_timer(c);
		break;
	case CONN_FIRST:
		conn_note(c, RP_LOG_WARNING, "lost: no first message within %d ms",
			tcp_env()->handshake_ms);
		conn_dead(c, RPMA_CONN_LOST);
		break;
	case CONN_OPEN:
		if (c->patrol && engine_now() >= c->patrol)
			patrol(c);
		if (c->state == CONN_OPEN)
			drive_tick(c);
		break;
	case CONN_DRAIN:
	case CONN_FIN:
		conn_dead(c, RPMA_CONN_CLOSED);
		break;
	case CONN_TERM:
	case CONN_LINGER:
		conn_dead(c, RPMA_CONN_LOST);
		break;
	default:
		break;
	}
}

/* Reading waits for a receive of ours (or for nothing any more), and the peer is
 * gone: the message that waits has no sender left to care for it. */
static bool gone_while_paused(const struct tcp_conn *c, uint32_t events)
{
	return (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) &&
	       (c->rx.full || c->state == CONN_TERM);
}

void serve_socket(struct tcp_conn *c, uint32_t events)
{
	switch (c->state) {
	case CONN_TCP:
		connect_serve(c);
		break;
	case CONN_REPLY:
		handshake_read_reply(c);
		break;
	default:
		if (gone_while_paused(c, events)) {
			conn_dead(c, c->state == CONN_TERM ? RPMA_CONN_LOST : RPMA_CONN_CLOSED);
			break;
		}
		if (events & WATCH_KICK)
			rx_resume(c);
		if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
			rx_run(c);
		break;
	}
}

void serve_events(struct tcp_conn *c, uint32_t events)
{
	if (events & EPOLLOUT)
		c->tx.blocked = false;
	if ((events & WATCH_TIMER))
		on_timer(c);
	if (c->fd >= 0 && (events & ~(uint32_t)WATCH_TIMER))
		serve_socket(c, events);
	conn_progress(c);
}

void conn_serve(struct watch *w, uint32_t events)
{
	struct tcp_conn *c = container_of(w, struct tcp_conn, watch);

	atomic_fetch_or(&c->missed, events);
	if (pthread_mutex_trylock(&c->lock))
		return; /* who has it sees to them */
	serve_events(c, atomic_exchange(&c->missed, 0));
	conn_unlock(c);
}
