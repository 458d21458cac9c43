/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rx.c -- socket to FPDUs, and how a connection ends from the other side; see
 * conn.h
 *
 * An FPDU is handled when it is whole, so its CRC is checked before any of it is
 * used. A buffer is held only while a part of one is waiting.
 *
 * A message that finds no receive posted waits, and all that the peer sends behind
 * it waits, too; but not the answers to our own requests: the other direction goes
 * on. So while paused, segments are read on into a larger buffer, [start, scan)
 * being those that wait, and answers among them are handled at once and taken out.
 * When that buffer is full the socket waits as well.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tcp/conn.h"

enum {
	RX_READS = 16,		    /* of the socket, in one go; the rest is for later */
	RX_STALL_MAX = 1536 * 1024, /* that may wait; more than tx.c's WINDOW */
};

static void free_buf(struct rx *rx)
{
	if (rx->size == POOL_BUF_SIZE)
		pool_put(rx->buf);
	else
		free(rx->buf);
	rx->buf = NULL;
}

void rx_drop(struct tcp_conn *c)
{
	struct rx *rx = &c->rx;

	free_buf(rx);
	rx->start = rx->scan = rx->end = rx->parked = 0;
	rx->paused = rx->full = false;
	rx->direct.f.payload_len = 0;
}

/* ---- the peer's end ------------------------------------------------------------- */

static bool inside_message(const struct tcp_conn *c)
{
	return c->rx.start != c->rx.end || direct_under_way(c) || c->rx.in_recv || c->rx.in_write ||
	       c->rx.has_imm || (ring_count(&c->orq) > 0 && orq_head(c)->got > 0);
}

/* Nothing more will come. */
static void rx_eof(struct tcp_conn *c)
{
	switch (c->state) {
	case CONN_OPEN:
	case CONN_DRAIN:
		if (!c->rx.paused && inside_message(c)) {
			conn_note(c, RP_LOG_WARNING,
				"the other side closed in the middle of a message");
			conn_dead(c, RPMA_CONN_LOST);
		} else {
			conn_dead(c, RPMA_CONN_CLOSED);
		}
		break;
	case CONN_FIN:
		conn_dead(c, RPMA_CONN_CLOSED);
		break;
	default:
		conn_dead(c, RPMA_CONN_LOST);
		break;
	}
}

static void rx_error(struct tcp_conn *c, int err)
{
	if (c->state == CONN_FIN)
		conn_dead(c, RPMA_CONN_CLOSED);
	if (c->state != CONN_DEAD && c->state != CONN_LINGER)
		conn_note(c, RP_LOG_WARNING, "lost: %s", RP_STRERROR(err));
	conn_dead(c, RPMA_CONN_LOST);
}

void rx_broken(struct tcp_conn *c, int err)
{
	c->tx.blocked = true; /* nothing goes out any more */
	rx_run(c);
	rx_error(c, err);
}

/* What a Terminate means for the request it is about. */
static enum ibv_wc_status status_of(const struct terminate_info *t)
{
	switch (t->err) {
	case IWARP_DDP_T_STAG:
	case IWARP_DDP_T_BOUNDS:
	case IWARP_DDP_T_STREAM:
	case IWARP_DDP_T_WRAP:
	case IWARP_RDMAP_STAG:
	case IWARP_RDMAP_BOUNDS:
	case IWARP_RDMAP_ACCESS:
	case IWARP_RDMAP_STREAM:
	case IWARP_RDMAP_WRAP:
	case IWARP_RDMAP_INVALIDATE:
		return IBV_WC_REM_ACCESS_ERR;
	case IWARP_DDP_U_LENGTH:
	case IWARP_RDMAP_OPCODE:
		return IBV_WC_REM_INV_REQ_ERR;
	case IWARP_DDP_U_NO_BUFFER:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	default:
		return IBV_WC_REM_OP_ERR;
	}
}

/* Is this the request that segment belonged to? */
static bool is_about(const struct swqe *w, const struct terminate_info *t)
{
	if (t->tagged)
		return w->opcode == RP_OP_WRITE && w->rkey == t->stag &&
		       t->to - w->remote_addr <= w->length;
	if (t->qn == DDP_QN_SEND)
		return (w->opcode == RP_OP_SEND || (w->flags & RP_WR_IMM)) &&
		       (t->msn == w->msn || ((w->flags & RP_WR_IMM) && t->msn == w->msn - 1));
	if (t->msn == 0 && t->has_read_req) /* siw's: known by its source */
		return w->opcode == RP_OP_READ && w->rkey == t->read_req.src_stag &&
		       t->read_req.src_to - w->remote_addr <= w->length;
	return t->qn == DDP_QN_READ && w->opcode != RP_OP_SEND && w->opcode != RP_OP_WRITE &&
	       t->msn == w->msn;
}

void rx_terminate(struct tcp_conn *c, const struct fpdu *f)
{
	struct terminate_info t;
	uint32_t i = c->sq.done;
	uint32_t end = c->tx.staged + c->tx.in_request; /* the one begun counts, too */

	terminate_decode(f->payload, f->payload_len, c->tx.any_sent, &t);
	conn_note(c, RP_LOG_WARNING, "ended by the other side, Terminate %u/%u/%02x: %s", t.layer,
		t.etype, t.code, t.err ? iwarp_err_info[t.err].text : "not registered");
	while (t.has_ddp && i != end && !is_about(sq_entry(c, i), &t))
		i++;
	if (t.has_ddp && i != end)
		sq_fail(c, i, status_of(&t));
	conn_dead(c, RPMA_CONN_LOST);
}

/* ---- the stream --------------------------------------------------------------------- */

static bool is_answer(const struct fpdu *f)
{
	return f->opcode == RDMAP_READ_RESP || f->opcode == RDMAP_ATOMIC_RESP ||
	       f->opcode == RDMAP_FLUSH_RESP || f->opcode == RDMAP_TERMINATE;
}

/* The segment of size bytes at scan, while others wait before it. */
static void rx_behind(struct tcp_conn *c, const struct fpdu *f, size_t size)
{
	struct rx *rx = &c->rx;
	uint8_t *p = rx->buf + rx->scan;

	if (!is_answer(f)) {
		rx->scan += size;
	} else if (rx_segment(c, f)) {
		memmove(p, p + size, rx->end - rx->scan - size);
		rx->end -= size;
	}
}

/* The FPDU of size bytes at scan. */
static void rx_one(struct tcp_conn *c, const uint8_t *p, size_t size)
{
	struct rx *rx = &c->rx;
	struct fpdu f;
	enum iwarp_err err = fpdu_decode(p, c->crc, c->opcodes, &f);

	if (err != IWARP_OK)
		conn_terminate(c, err, &f);
	else if (rx->paused)
		rx_behind(c, &f, size);
	else if (rx_segment(c, &f))
		rx->start = rx->scan += size;
	else if (rx->paused && rx->scan < rx->parked)
		rx->scan = rx->parked; /* looked at when it came */
}

/* Handle all whole FPDUs that are buffered. */
static void rx_parse(struct tcp_conn *c)
{
	struct rx *rx = &c->rx;

	if (!direct_end(c))
		return;
	while (rx->end - rx->scan >= 2 && conn_carries_fpdus(c)) {
		const uint8_t *p = rx->buf + rx->scan;
		size_t size = fpdu_wire_size(fpdu_peek_len(p));

		if (rx->end - rx->scan < size) {
			direct_begin(c);
			break;
		}
		rx->direct.habit -= rx->direct.habit > 0;
		rx_one(c, p, size);
	}
	rx->parked = 0;
}

static bool rx_resize(struct rx *rx, size_t size)
{
	uint8_t *buf = size == POOL_BUF_SIZE ? pool_get() : malloc(size);

	if (buf == NULL)
		return false;
	if (rx->buf != NULL) {
		memcpy(buf, rx->buf + rx->start, rx->end - rx->start);
		rx->scan -= rx->start;
		rx->end -= rx->start;
		rx->start = 0;
		free_buf(rx);
	}
	rx->buf = buf;
	rx->size = size;
	return true;
}

/* Room for the rest of the FPDU at scan, at least. False: there is none. */
static bool rx_make_room(struct tcp_conn *c)
{
	struct rx *rx = &c->rx;

	if (rx->buf == NULL)
		return rx_resize(rx, POOL_BUF_SIZE);
	if (rx->start == rx->end)
		rx->start = rx->scan = rx->end = 0;
	if (rx->size - rx->scan >= FPDU_MAX)
		return true;
	if (rx->start > 0) {
		memmove(rx->buf, rx->buf + rx->start, rx->end - rx->start);
		rx->scan -= rx->start;
		rx->end -= rx->start;
		rx->start = 0;
	}
	if (rx->size - rx->scan >= FPDU_MAX)
		return true;
	return rx->size < RX_STALL_MAX && rx_resize(rx, RX_STALL_MAX);
}

/* After the Terminate, or our FIN, what still comes is of no use. */
static void rx_discard(struct tcp_conn *c)
{
	if (c->state != CONN_FIN && c->state != CONN_LINGER)
		return;
	c->rx.start = c->rx.scan = c->rx.end = 0;
	c->rx.direct.f.payload_len = 0;
	c->rx.direct.habit = 0; /* or it would be read by the header */
}

static void no_room(struct tcp_conn *c)
{
	if (c->rx.paused) {
		c->rx.full = true;
		return;
	}
	conn_note(c, RP_LOG_ERROR, "no memory for a receive buffer");
	conn_dead(c, RPMA_CONN_LOST);
}

static ssize_t receive(struct tcp_conn *c, size_t *want)
{
	struct rx *rx = &c->rx;
	ssize_t n;

	if (direct_under_way(c))
		return direct_recv(c, want);
	*want = direct_most(c, rx->size - rx->end);
	n = recv(c->fd, rx->buf + rx->end, *want, MSG_DONTWAIT);
	if (n > 0)
		rx->end += (size_t)n;
	return n;
}

/* Once from the socket. False: it had nothing more, or is at its end. */
static bool rx_read(struct tcp_conn *c)
{
	size_t want;
	ssize_t n;

	if (!rx_make_room(c)) {
		no_room(c);
		return false;
	}
	do
		n = receive(c, &want);
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		rx_eof(c);
	} else if (n < 0 && errno != EAGAIN) {
		rx_error(c, errno);
	} else if (n > 0) {
		rx_parse(c);
		rx_discard(c);
	}
	return n > 0 && (size_t)n == want;
}

void rx_run(struct tcp_conn *c)
{
	int reads = RX_READS;

	if (c->fd < 0)
		return;
	rx_discard(c);
	while (c->fd >= 0 && !c->rx.full && c->state != CONN_TERM && reads-- > 0)
		if (!rx_read(c))
			break;
	if (c->rx.buf != NULL && c->rx.start == c->rx.end && !direct_under_way(c))
		rx_drop(c);
}

void rx_resume(struct tcp_conn *c)
{
	if (!c->rx.paused)
		return;
	c->rx.paused = c->rx.full = false;
	c->rx.parked = c->rx.scan;
	c->rx.scan = c->rx.start;
	rx_parse(c);
}
