/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn.c -- the life of a connection: states, events, end; see conn.h
 */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/cq.h"
#include "tcp/env.h"
#include "tcp/pd.h"

static uint32_t next_qp_num(void)
{
	static atomic_uint last;

	return (atomic_fetch_add(&last, 1) + 1) & 0xffffff;
}

int conn_new(struct rp_pd *pd, bool passive, watch_fn *fn, struct tcp_conn **conn)
{
	struct tcp_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return -ENOMEM;
	c->hs = calloc(1, sizeof(*c->hs));
	if (c->hs == NULL) {
		free(c);
		return -ENOMEM;
	}
	c->base = (struct rp_conn){ .pd = pd, .event_fd = -1, .qp_num = next_qp_num() };
	pthread_mutex_init(&c->lock, NULL);
	c->passive = passive;
	c->state = passive ? CONN_REQUEST : CONN_IDLE;
	c->fd = -1;
	c->notify.fd = -1;
	c->note_level = -1;
	c->tx.send_msn = c->tx.read_msn = c->tx.resp_msn = 1;
	c->rx.send_msn = c->rx.read_msn = c->rx.resp_msn = 1;
	c->opcodes = RDMAP_SET_BASE;
	list_init(&c->srq_waiter.node);
	list_init(&c->node);
	c->srq_waiter.watch = &c->watch;
	c->flush_job.done = answer_flush_done;
	drive_init(c);
	pd_use(pd);
	watch_add(tcp_engine(), &c->watch, fn);
	*conn = c;
	return 0;
}

/* ---- lock and log ------------------------------------------------------------- */

void conn_lock(struct tcp_conn *c)
{
	pthread_mutex_lock(&c->lock);
}

static void unlock_and_log(struct tcp_conn *c)
{
	char note[sizeof(c->note)], name[sizeof(c->name)];
	int level = c->note_level;

	if (level >= 0) {
		memcpy(note, c->note, sizeof(note));
		memcpy(name, c->name, sizeof(name));
		c->note_level = -1;
	}
	pthread_mutex_unlock(&c->lock);
	if (level >= 0)
		rp_log(level, "connection with %s: %s", name, note);
}

/* Either this finds what the engine has left (conn_serve), or the engine, which has
 * another look after it has left it, finds the lock free: both modify c->missed. */
bool conn_unlock(struct tcp_conn *c)
{
	bool served = false;

	unlock_and_log(c);
	while (atomic_fetch_or(&c->missed, 0) && pthread_mutex_trylock(&c->lock) == 0) {
		serve_events(c, atomic_exchange(&c->missed, 0));
		unlock_and_log(c);
		served = true;
	}
	return served;
}

void conn_note(struct tcp_conn *c, int level, const char *format, ...)
{
	va_list ap;

	if (c->note_level >= 0 || !rp_log_enabled(level))
		return;
	c->note_level = level;
	va_start(ap, format);
	vsnprintf(c->note, sizeof(c->note), format, ap);
	va_end(ap);
}

/* ---- events -------------------------------------------------------------------- */

int conn_open_events(struct tcp_conn *c)
{
	int err = notify_init(&c->notify);

	if (err == 0)
		c->base.event_fd = c->notify.fd;
	return err;
}

void conn_event(struct tcp_conn *c, enum rpma_conn_event event)
{
	if (c->n_events == CONN_EVENTS || c->notify.fd < 0)
		return;
	/* an end that comes right behind stays behind */
	if (c->direct && c->n_events == 0)
		c->untold = true;
	else
		notify_post(&c->notify);
	c->events[c->n_events++] = event;
}

bool conn_take_event(struct tcp_conn *c, enum rpma_conn_event *event)
{
	if (c->n_events == 0)
		return false;
	*event = c->events[0];
	c->n_events--;
	for (unsigned i = 0; i < c->n_events; i++)
		c->events[i] = c->events[i + 1];
	return true;
}

static bool take_event(struct tcp_conn *c, enum rpma_conn_event *event)
{
	bool found;

	conn_lock(c);
	found = conn_take_event(c, event);
	conn_unlock(c);
	return found;
}

int conn_next_event(struct rp_conn *base, enum rpma_conn_event *event)
{
	struct tcp_conn *c = tcp_conn(base);
	int err = notify_enter(&c->notify);
	bool found;

	if (err)
		return err;
	found = notify_blocks(&c->notify) && drive_events(c, event);
	while (!found && err == 0) {
		err = notify_wait(&c->notify);
		found = err == 0 && take_event(c, event);
	}
	notify_leave(&c->notify);
	return err;
}

/* ---- states ----------------------------------------------------------------------- */

/* For a foreign peer (see fits_segment() in tx.c) only one segment waits in the socket:
 * what is posted meanwhile goes together. */
static void keep_one_segment(struct tcp_conn *c)
{
	int most = 1; /* byte not sent: then the socket takes no more */

	setsockopt(c->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof(most));
}

void conn_established(struct tcp_conn *c)
{
	c->state = CONN_OPEN;
	watch_timer(&c->watch, -1);
	if (!c->own_peer)
		keep_one_segment(c);
	free(c->hs);
	c->hs = NULL;
	conn_note(c, RP_LOG_INFO, "established, %s, CRC %s",
		c->own_peer ? "flush and atomic write native" : "a foreign peer: flush by read",
		c->crc ? "on" : "off");
	conn_event(c, RPMA_CONN_ESTABLISHED);
}

void conn_close_socket(struct tcp_conn *c)
{
	if (c->fd < 0)
		return;
	watch_detach(&c->watch);
	close(c->fd);
	c->fd = -1;
}

void conn_dead(struct tcp_conn *c, enum rpma_conn_event event)
{
	if (c->state == CONN_DEAD)
		return;
	c->state = CONN_DEAD;
	watch_timer(&c->watch, -1);
	conn_close_socket(c);
	tx_drop(c);
	rx_drop(c);
	qp_flush(c);
	if (!c->ended) {
		c->ended = true;
		conn_event(c, event);
	}
}

void conn_terminate(struct tcp_conn *c, enum iwarp_err err, const struct fpdu *f)
{
	if (!conn_carries_fpdus(c))
		return;
	terminate_cause_set(&c->cause, err, f);
	conn_terminate_cause(c);
}

void conn_terminate_cause(struct tcp_conn *c)
{
	const struct iwarp_err_info *info = &iwarp_err_info[c->cause.err];

	if (!conn_carries_fpdus(c))
		return;
	conn_note(c, RP_LOG_WARNING, "ended by us, Terminate %u/%u/%02x: %s", info->layer,
		info->etype, info->code, info->text);
	c->state = CONN_TERM;
	c->end_event = RPMA_CONN_LOST;
	watch_timer(&c->watch, tcp_env()->linger_ms);
	qp_flush(c);
}

/* All that was posted before the disconnect is over: say FIN. */
static void drain_done(struct tcp_conn *c)
{
	qp_flush(c);
	rx_drop(c);
	watch_detach(&c->watch); /* or this would wake the engine for nothing */
	shutdown(c->fd, SHUT_WR);
	c->state = CONN_FIN;
	watch_timer(&c->watch, tcp_env()->linger_ms);
}

static bool drained(const struct tcp_conn *c)
{
	return c->sq.done == c->sq.limit && ring_count(&c->irq) == 0 && tx_idle(c);
}

/* A hang-up cannot be masked, only the whole descriptor, so the engine would be
 * woken by each end that somebody else waits for. That watching it again can fail
 * does no harm here: the timer ends the connection. */
static void update_watch_of_end(struct tcp_conn *c)
{
	if (c->attending > 0)
		watch_detach(&c->watch);
	else if (c->watch.fd < 0)
		(void)watch_attach(&c->watch, c->fd, EPOLLIN | EPOLLONESHOT);
	else
		watch_events(&c->watch, EPOLLIN | EPOLLONESHOT);
}

void conn_update_watch(struct tcp_conn *c)
{
	bool polled = c->state == CONN_OPEN && c->polled;
	bool waiting = c->attending > 0 || (c->state == CONN_OPEN && c->waiting > 0);
	uint32_t events = EPOLLIN;

	if (c->fd < 0)
		return;
	if (c->state == CONN_TCP) {
		watch_events(&c->watch, EPOLLOUT | EPOLLONESHOT); /* nobody else waits for it */
		return;
	}
	if (c->state == CONN_FIN) {
		update_watch_of_end(c);
		return;
	}
	if (waiting || polled)
		events = 0; /* somebody else reads */
	if (c->rx.full || c->state == CONN_TERM)
		events = EPOLLRDHUP; /* reading waits, the end of the peer does not */
	/* One that sleeps already may not know that there is something to send. */
	if (c->tx.blocked && !c->at_hand && (waiting || !polled))
		events |= EPOLLOUT;
	watch_events(&c->watch, events | EPOLLONESHOT);
}

static void begin_patrol(struct tcp_conn *c)
{
	c->patrol = engine_now() + tcp_env()->dead_peer_ms / PATROLS;
	conn_set_timer(c);
}

/* While something of ours is unanswered, look now and then whether the other
 * host still answers at all. */
static void keep_patrol(struct tcp_conn *c)
{
	if (c->sq.done == c->sq.posted && !c->tx.blocked)
		c->looks = 0;
	else if (c->patrol == 0 && c->state == CONN_OPEN)
		begin_patrol(c);
}

void conn_set_timer(struct tcp_conn *c)
{
	int64_t left = c->patrol - engine_now();

	if (c->polled || c->holding)
		watch_timer(&c->watch, CONN_TICK_MS);
	else if (c->patrol)
		watch_timer(&c->watch, left > 0 ? (int)left : 0);
	else
		watch_timer(&c->watch, -1);
}

void conn_progress(struct tcp_conn *c)
{
	if (c->state >= CONN_FIRST && c->state <= CONN_TERM && c->state != CONN_FIN) {
		answer_work(c);
		tx_run(c);
	} else if (c->state == CONN_CAPS) {
		tx_run(c);
	}
	if (c->state == CONN_DRAIN && drained(c))
		drain_done(c);
	keep_patrol(c);
	conn_update_watch(c);
}

int conn_disconnect(struct rp_conn *base)
{
	struct tcp_conn *c = tcp_conn(base);

	conn_lock(c);
	switch (c->state) {
	case CONN_OPEN:
		c->state = CONN_DRAIN;
		c->sq.limited = true;
		c->sq.limit = c->sq.posted;
		watch_timer(&c->watch, tcp_env()->linger_ms);
		conn_progress(c);
		break;
	case CONN_TCP:
	case CONN_REPLY:
	case CONN_CAPS:
	case CONN_FIRST:
		conn_dead(c, RPMA_CONN_CLOSED);
		break;
	default: /* it ends, or has ended, already */
		break;
	}
	conn_unlock(c);
	return 0;
}

/* The peer may have to read what is in its socket (a Terminate, the last answer)
 * before it sees the end, so a socket in use is not simply closed. */
static void part_with_socket(struct tcp_conn *c)
{
	int fd = c->fd;

	if (fd < 0)
		return;
	watch_detach(&c->watch);
	c->fd = -1;
	if (c->state == CONN_TCP || c->state == CONN_REQUEST)
		close(fd);
	else
		linger_start(c->watch.engine, fd);
}

int conn_destroy(struct rp_conn *base)
{
	struct tcp_conn *c = tcp_conn(base);

	conn_lock(c);
	c->ended = true;
	part_with_socket(c);
	c->state = CONN_DEAD;
	if (c->srq != NULL)
		qp_flush(c); /* a shared receive that we have begun is not lost */
	conn_unlock(c);
	if (c->setup) {
		cq_clear_driver(c->send_cq, &c->driver);
		cq_clear_driver(c->recv_cq, &c->driver);
	}
	if (c->srq != NULL)
		srq_leave(c->srq, &c->srq_waiter);
	persist_cancel(&c->flush_job);
	watch_del(&c->watch);
	notify_close(&c->notify);
	tx_drop(c);
	rx_drop(c);
	qp_free(c);
	pd_unuse(c->base.pd);
	free(c->peer_data);
	free(c->hs);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return 0;
}
