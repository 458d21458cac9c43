/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * drive.c -- a thread of the program moves its own connection; see conn.h, cq.h
 *
 * Being woken by the engine costs a hand-over between threads for each message.
 * So a thread that waits for a completion watches the socket itself meanwhile, and
 * one that polls all the time reads it at every look; the engine then does not.
 *
 * That a thread polls all the time is seen by POLLS looks in a row, each within
 * POLL_GAP_NS of the one before; likewise that it waits all the time, when it has been
 * away for less than WAIT_GAP_NS between one call of ours and the next. The engine, which
 * would be woken by each answer to what the thread is just sending, then leaves the socket
 * alone. That is given up when it has not looked for a tick (CONN_TICK_MS).
 *
 * A program that posts several requests in a row (a write and its flush, a burst)
 * should not pay for a system call each. When small unsignalled requests were
 * followed by another post at once PAIRS times, the next such one is held: it goes
 * out with what is posted behind it, at the next wait or poll, or at a tick. A
 * program that breaks its habit waits for the tick once.
 */

#include <poll.h>
#include <time.h>

#include "tcp/conn.h"
#include "tcp/env.h"

enum {
	POLLS = 8,
	POLL_GAP_NS = 5000,
	WAIT_GAP_NS = 100000,
	WAIT_LONG_NS = 10000000,
	PAIRS = 4,
	PAIR_GAP_NS = 10000,
	HOLD_MAX = 32,	   /* requests */
	HOLD_BYTES = 4096, /* of one */
	LONG_POST = 32768, /* bytes; to send them takes a while */
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- polling ------------------------------------------------------------------- */

static void becomes_habit(struct tcp_conn *c)
{
	c->polls = c->waits = 0;
	c->polled = c->polled_lately = true;
	conn_set_timer(c);
}

/* A look, one of *looks in a row, gap_ns after the one before: has it become a habit? */
static bool looks_all_the_time(struct tcp_conn *c, unsigned *looks, int64_t gap_ns, int64_t most_ns)
{
	if (c->polled)
		return c->polled_lately = true;
	*looks = gap_ns < most_ns ? *looks + 1 : 0;
	if (*looks >= POLLS)
		becomes_habit(c);
	return c->polled;
}

/* When a thread of the program last left the connection, as far as it is known. */
static int64_t left_at(const struct tcp_conn *c)
{
	return c->last_look > c->last_post ? c->last_look : c->last_post;
}

/* The end of a wait. One that had the habit, and lost it only because this wait took a few
 * ticks, has it again; after a long one it would only make the engine set a timer. */
static void looked(struct tcp_conn *c)
{
	int64_t began = c->last_look;

	if (c->state != CONN_OPEN || c->polled)
		return;
	c->last_look = now_ns();
	if (c->last_look - began > WAIT_LONG_NS)
		c->waits = 0;
	if (c->waits >= POLLS - 1)
		becomes_habit(c);
}

static bool polls_all_the_time(struct tcp_conn *c)
{
	int64_t before = c->last_look;

	if (!c->polled)
		c->last_look = now_ns();
	return looks_all_the_time(c, &c->polls, c->last_look - before, POLL_GAP_NS);
}

static void waits_all_the_time(struct tcp_conn *c)
{
	int64_t left = left_at(c);

	c->last_look = now_ns();
	looks_all_the_time(c, &c->waits, c->last_look - left, WAIT_GAP_NS);
}

static void drive_poll(struct cq_driver *d)
{
	struct tcp_conn *c = container_of(d, struct tcp_conn, driver);

	if (pthread_mutex_trylock(&c->lock))
		return; /* somebody else is at it */
	if (c->state == CONN_OPEN && polls_all_the_time(c)) {
		c->tx.blocked = false; /* if the socket is still full, it says so again */
		rx_run(c);
		conn_progress(c);
	}
	conn_unlock(c);
}

void drive_tick(struct tcp_conn *c)
{
	if (c->polled && !c->polled_lately) {
		c->polled = false;
		c->waits = c->waiting > 0 ? POLLS - 1 : 0;
	}
	c->polled_lately = false;
	c->holding = c->held_lately;
	c->held_lately = false;
	conn_set_timer(c);
}

/* ---- holding -------------------------------------------------------------------- */

static bool may_be_held(const struct rp_send_wr *wr)
{
	return !(wr->flags & RP_WR_SIGNALED) && wr->length <= HOLD_BYTES &&
	       (wr->opcode == RP_OP_WRITE || wr->opcode == RP_OP_SEND);
}

void drive_posted(struct tcp_conn *c, const struct rp_send_wr *wr)
{
	if (wr->length >= LONG_POST)
		c->last_post = now_ns();
}

bool drive_hold(struct tcp_conn *c, const struct rp_send_wr *wr)
{
	int64_t now = now_ns();

	if (now - left_at(c) >= WAIT_GAP_NS)
		c->waits = 0;
	if (c->last_holdable)
		c->pairs = now - c->last_post < PAIR_GAP_NS ? c->pairs + 1 : 0;
	c->last_post = now;
	c->last_holdable = may_be_held(wr);
	if (!c->last_holdable || c->pairs < PAIRS || c->state != CONN_OPEN ||
		c->sq.posted - c->tx.staged >= HOLD_MAX)
		return false;
	c->held_lately = true;
	if (!c->holding) {
		c->holding = true;
		conn_set_timer(c);
	}
	return true;
}

/* ---- waiting -------------------------------------------------------------------- */

/* Look at the socket for a while before going to sleep. Lock held on entry and
 * exit. */
static void spin(struct tcp_conn *c, struct tcp_channel *ch)
{
	int64_t end = tcp_env()->spin_us ? now_ns() + tcp_env()->spin_us * INT64_C(1000) : 0;

	while (end && c->state == CONN_OPEN && !channel_told_me(ch) && now_ns() < end) {
		conn_unlock(c); /* others may want to post */
		conn_lock(c);
		rx_run(c);
		conn_progress(c);
	}
}

/* Sleep until fds[0] is readable or the socket, fds[1], has something. Not after there was
 * something to see to: it may have been what is waited for. Lock held on entry and exit. */
static void sleep_at(struct tcp_conn *c, struct pollfd *fds)
{
	fds[0].revents = fds[1].revents = 0;
	fds[1].fd = c->fd;
	fds[1].events = (short)(POLLIN | (c->tx.blocked ? POLLOUT : 0));
	if (!conn_unlock(c))
		poll(fds, 2, -1);
	conn_lock(c);
	if (fds[1].revents & POLLOUT)
		c->tx.blocked = false;
}

/* What the socket does not take now, the thread itself waits for. */
static void progress(struct tcp_conn *c)
{
	c->at_hand = true;
	conn_progress(c);
	c->at_hand = false;
}

static void drive_wait(struct cq_driver *d, struct tcp_channel *ch)
{
	struct tcp_conn *c = container_of(d, struct tcp_conn, driver);
	struct pollfd fds[] = { { .fd = ch->notify.fd, .events = POLLIN }, { 0 } };

	conn_lock(c);
	c->waiting++;
	if (c->state == CONN_OPEN)
		waits_all_the_time(c);
	progress(c);
	spin(c, ch);
	while (c->state == CONN_OPEN && !c->rx.full && !channel_told_me(ch)) {
		sleep_at(c, fds);
		if (fds[0].revents)
			break;
		rx_run(c);
		progress(c);
	}
	c->waiting--;
	looked(c);
	conn_update_watch(c);
	conn_unlock(c);
}

/* Not while TCP connects: then another address may take the place of this socket. */
static bool to_be_attended(const struct tcp_conn *c)
{
	return c->n_events == 0 && c->state > CONN_TCP && c->fd >= 0 && c->state != CONN_TERM &&
	       !c->rx.full && !(c->state == CONN_OPEN && (c->waiting > 0 || c->polled));
}

/* Lock held. */
static void attend_socket(struct tcp_conn *c, short revents)
{
	c->direct = true;
	if (revents && c->fd >= 0)
		serve_socket(c, (uint32_t)revents);
	progress(c);
	c->direct = false;
}

bool drive_events(struct tcp_conn *c, enum rpma_conn_event *event)
{
	struct pollfd fds[] = { { .fd = c->notify.fd, .events = POLLIN }, { 0 } };
	bool found;

	conn_lock(c);
	c->attending++;
	conn_update_watch(c);
	while (to_be_attended(c)) {
		sleep_at(c, fds);
		if (fds[0].revents)
			break;
		attend_socket(c, fds[1].revents);
	}
	found = c->untold && conn_take_event(c, event);
	c->untold = false;
	c->attending--;
	conn_update_watch(c);
	conn_unlock(c);
	return found;
}

void drive_init(struct tcp_conn *c)
{
	c->driver.poll = drive_poll;
	c->driver.wait = drive_wait;
}
