/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * handshake.c -- MPA start-up (RFC 5044 section 7, RFC 6581), both roles; see
 * conn.h
 *
 * Frames are read to their last byte and not beyond, so what follows them is the
 * business of rx.c.
 *
 * Two peers of this library learn of each other by the trailers of the two
 * frames. Where the user's data leaves no room for one of them, the responder asks
 * for a Read as RTR message, the initiator sends a magic one, and is answered by a
 * magic Read before the answer to its own; so both know before ESTABLISHED.
 */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/env.h"

enum {
	OWN_CAPS = MPA_CAP_FLUSH | MPA_CAP_ATOMIC | MPA_CAP_IMM,
	OWN_MAX_ULPDU = 64768,
	MULPDU_MIN = 128, /* RFC 5044 */
	MULPDU_MAX = 64768,
};

/* ---- frames ---------------------------------------------------------------------- */

/* *err: 0, or errno when nothing more will come. */
static enum mpa_result read_frame(struct tcp_conn *c, bool reply, struct mpa_frame *f, int *err)
{
	struct handshake *hs = c->hs;
	enum mpa_result r;
	size_t size;
	ssize_t n;

	*err = 0;
	for (;;) {
		r = mpa_decode(hs->in, hs->in_len, reply, f, &size);
		if (r != MPA_MORE)
			return r;
		do
			n = recv(c->fd, hs->in + hs->in_len, mpa_missing(hs->in, hs->in_len),
				MSG_DONTWAIT);
		while (n < 0 && errno == EINTR);
		if (n <= 0) {
			*err = n == 0 ? ECONNRESET : errno == EAGAIN ? 0 : errno;
			return r;
		}
		hs->in_len += (size_t)n;
	}
}

static int send_frame(struct tcp_conn *c, const struct mpa_frame *f)
{
	uint8_t out[MPA_FRAME_MAX];
	size_t size = mpa_encode(out, f);
	ssize_t n = send(c->fd, out, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	return n == (ssize_t)size ? 0 : -EMSGSIZE; /* an empty socket takes it all */
}

static int keep_peer_data(struct tcp_conn *c, const struct mpa_frame *f)
{
	if (f->data_len == 0)
		return 0;
	/* More than the API can tell of comes from foreign peers only. */
	if (f->data_len > MPA_DATA_MAX)
		return -EMSGSIZE;
	c->peer_data = malloc(f->data_len);
	if (c->peer_data == NULL)
		return -ENOMEM;
	memcpy(c->peer_data, f->data, f->data_len);
	c->base.peer_data.ptr = c->peer_data;
	c->base.peer_data.len = (uint8_t)f->data_len;
	return 0;
}

/* ---- what the two agree on --------------------------------------------------------- */

static void set_foreign_limits(struct tcp_conn *c)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (getsockopt(c->fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) || mss < MULPDU_MIN + 10)
		mss = MULPDU_MIN + 10;
	c->max_ulpdu = (uint32_t)(mss - (6 + mss % 4));
	if (c->max_ulpdu > MULPDU_MAX)
		c->max_ulpdu = MULPDU_MAX;
}

static void set_peer_caps(struct tcp_conn *c, unsigned caps, unsigned max_ulpdu)
{
	if (c->ord == 0 || max_ulpdu < MULPDU_MIN)
		return; /* acknowledging takes a Read; it is as good as foreign */
	caps &= OWN_CAPS;
	c->own_peer = true;
	c->max_ulpdu = max_ulpdu < tcp_env()->max_ulpdu ? max_ulpdu : tcp_env()->max_ulpdu;
	c->opcodes |= (caps & MPA_CAP_FLUSH ? RDMAP_SET_FLUSH : 0) |
		      (caps & MPA_CAP_ATOMIC ? RDMAP_SET_ATOMIC : 0) |
		      (caps & MPA_CAP_IMM ? RDMAP_SET_IMM : 0);
	atomic_store_explicit(&c->caps, caps, memory_order_release);
	atomic_store_explicit(&c->base.caps,
		(caps & MPA_CAP_FLUSH ? RP_CAP_FLUSH : 0) |
			(caps & MPA_CAP_ATOMIC ? RP_CAP_ATOMIC_WRITE : 0),
		memory_order_release);
}

uint64_t handshake_own_caps(void)
{
	return OWN_CAPS | (uint64_t)OWN_MAX_ULPDU << 16;
}

void handshake_peer_caps(struct tcp_conn *c, uint64_t sink_to)
{
	/* In its place only: the first message of the active side, or the passive
	 * one's answer to that. */
	if (!tcp_env()->caps || c->own_peer ||
		(c->passive ? c->tx.any_sent || c->sq.posted != c->tx.staged
			    : c->state != CONN_CAPS))
		return;
	set_peer_caps(c, sink_to & 0xffff, sink_to >> 16 & 0xffff);
	if (c->passive)
		c->tx.rtr_due = c->tx.rtr_read = c->tx.rtr_magic = true;
}

static uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- initiator ------------------------------------------------------------------------ */

void handshake_send_request(struct tcp_conn *c)
{
	const struct tcp_env *env = tcp_env();
	struct mpa_frame *f = &c->hs->request;
	int err;

	f->revision = 2;
	f->crc = env->crc;
	f->enhanced = true;
	f->peer_to_peer = true;
	f->rtr_write = f->rtr_read = true;
	f->ird = f->ord = (uint16_t)env->depth;
	f->has_trailer = env->caps && mpa_trailer_fits(f->data_len);
	f->caps = OWN_CAPS;
	f->max_ulpdu = OWN_MAX_ULPDU;
	err = send_frame(c, f);
	if (err) {
		conn_note(c, RP_LOG_WARNING, "cannot send the request: %s", RP_STRERROR(-err));
		conn_dead(c,
			err == -ECONNRESET || err == -EPIPE ? RPMA_CONN_REJECTED : RPMA_CONN_LOST);
	}
}

/* Depths, and the kind of RTR message. */
static enum iwarp_err agree(struct tcp_conn *c, const struct mpa_frame *reply)
{
	uint32_t depth = tcp_env()->depth;

	c->ird = depth;
	c->ord = reply->ird == MPA_DEPTH_NONE ? depth : lower(depth, reply->ird);
	if (reply->ord != MPA_DEPTH_NONE && reply->ord > c->ird)
		return IWARP_MPA_IRD;
	if (reply->peer_to_peer && !reply->rtr_write && !reply->rtr_read)
		return IWARP_MPA_RTR;
	c->tx.rtr_due = true;
	c->tx.rtr_read = reply->peer_to_peer && !reply->rtr_write;
	if (c->tx.rtr_read && c->ord == 0)
		c->ord = 1; /* the one that the responder asked for */
	return IWARP_OK;
}

static void accepted(struct tcp_conn *c, const struct mpa_frame *reply)
{
	enum iwarp_err err;

	c->state = CONN_CAPS; /* FPDUs from here on */
	c->crc = c->hs->request.crc || reply->crc;
	set_foreign_limits(c);
	err = agree(c, reply);
	if (err == IWARP_OK && keep_peer_data(c, reply))
		err = IWARP_MPA_LOCAL;
	if (err != IWARP_OK) {
		conn_terminate(c, err, NULL);
		return;
	}
	if (c->hs->request.has_trailer && reply->has_trailer)
		set_peer_caps(c, reply->caps, reply->max_ulpdu);
	if (c->tx.rtr_read && !c->own_peer && tcp_env()->caps)
		c->tx.rtr_magic = true;
	else
		conn_established(c);
}

static const char *frame_error(enum mpa_result r, const struct mpa_frame *f)
{
	switch (r) {
	case MPA_E_KEY:
		return "it does not speak MPA";
	case MPA_E_REVISION:
		return "unknown MPA revision";
	case MPA_E_LENGTH:
		return "private data too long";
	case MPA_E_ENHANCED:
		return "malformed private data";
	default:
		return f->markers ? "it wants markers" : "it speaks an older MPA";
	}
}

void handshake_read_reply(struct tcp_conn *c)
{
	struct mpa_frame f;
	int err;
	enum mpa_result r = read_frame(c, true, &f, &err);

	if (r == MPA_MORE && err == 0)
		return;
	if (r == MPA_MORE) {
		/* It closed without a word: nobody there wants to talk to us. */
		conn_note(c, RP_LOG_WARNING, "closed without a reply: %s", RP_STRERROR(err));
		conn_dead(c, err == ECONNRESET ? RPMA_CONN_REJECTED : RPMA_CONN_LOST);
	} else if (r == MPA_OK && f.reject) {
		if (keep_peer_data(c, &f))
			c->base.peer_data.len = 0;
		conn_dead(c, RPMA_CONN_REJECTED);
	} else if (r != MPA_OK || f.markers || !f.enhanced) {
		conn_note(c, RP_LOG_WARNING, "no usable reply: %s", frame_error(r, &f));
		conn_dead(c, RPMA_CONN_LOST);
	} else {
		accepted(c, &f);
	}
}

/* ---- responder --------------------------------------------------------------------------- */

static int send_reject(struct tcp_conn *c)
{
	struct mpa_frame f = {
		.reply = true,
		.revision = c->hs->request.revision,
		.reject = true,
		.crc = true,
		.enhanced = c->hs->request.enhanced,
	};

	return send_frame(c, &f);
}

int handshake_read_request(struct tcp_conn *c)
{
	struct mpa_frame *f = &c->hs->request;
	int err;
	enum mpa_result r = read_frame(c, false, f, &err);

	if (r == MPA_MORE)
		return -err;
	if (r != MPA_OK)
		return -EPROTO;
	if (f->markers) {
		send_reject(c);
		return -EPROTO;
	}
	err = keep_peer_data(c, f);
	return err ? err : 1;
}

int conn_reject(struct rp_conn *base)
{
	struct tcp_conn *c = tcp_conn(base);

	if (c->state != CONN_PENDING)
		return -EINVAL;
	send_reject(c); /* if it is gone already, so much the better */
	return 0;
}

/* A Read as RTR message can tell what the trailers could not. */
static bool wants_read_rtr(const struct mpa_frame *request, size_t len)
{
	if (!request->rtr_read)
		return false;
	if (!request->rtr_write)
		return true;
	return tcp_env()->caps && !(mpa_trailer_fits(request->data_len) &&
					  (!request->has_trailer || mpa_trailer_fits(len)));
}

static void fill_reply(struct tcp_conn *c, struct mpa_frame *f)
{
	const struct mpa_frame *q = &c->hs->request;
	const struct tcp_env *env = tcp_env();

	f->reply = true;
	f->revision = q->revision;
	f->crc = env->crc || q->crc;
	f->enhanced = q->enhanced;
	f->peer_to_peer = q->peer_to_peer;
	f->rtr_read = wants_read_rtr(q, f->data_len);
	f->rtr_write = !f->rtr_read;
	f->ird = q->ord == MPA_DEPTH_NONE ? MPA_DEPTH_NONE : (uint16_t)env->depth;
	f->ord = q->ird == MPA_DEPTH_NONE ? MPA_DEPTH_NONE : (uint16_t)lower(env->depth, q->ird);
	f->has_trailer = q->has_trailer && env->caps && mpa_trailer_fits(f->data_len);
	f->caps = q->caps & OWN_CAPS;
	f->max_ulpdu = OWN_MAX_ULPDU;
}

/* The passive side is established by the first FPDU; towards an initiator that has
 * not agreed to send one at once (kernel siw) by the reply. */
static void replied(struct tcp_conn *c, const struct mpa_frame *reply)
{
	const struct mpa_frame *q = &c->hs->request;

	c->crc = reply->crc;
	c->ird = tcp_env()->depth;
	c->ord = !reply->enhanced || reply->ord == MPA_DEPTH_NONE ? c->ird : reply->ord;
	set_foreign_limits(c);
	if (reply->has_trailer)
		set_peer_caps(c, reply->caps, q->max_ulpdu);
	c->tx.gated = true;
	c->state = CONN_FIRST;
	if (q->enhanced && q->peer_to_peer) {
		watch_timer(&c->watch, tcp_env()->handshake_ms);
		return;
	}
	conn_note(c, RP_LOG_NOTICE, "established, CRC %s; requests wait until the client has sent",
		c->crc ? "on" : "off");
	conn_established(c);
}

int conn_accept(struct rp_conn *base, const void *data, size_t len)
{
	struct tcp_conn *c = tcp_conn(base);
	struct mpa_frame f = { .data = data, .data_len = (uint16_t)len };
	int err;

	if (len > MPA_DATA_MAX || c->state != CONN_PENDING)
		return -EINVAL;
	err = conn_open_events(c);
	if (err)
		return err;
	conn_lock(c);
	fill_reply(c, &f);
	err = watch_attach(&c->watch, c->fd, EPOLLIN | EPOLLONESHOT);
	if (err == 0 && send_frame(c, &f))
		conn_dead(c, RPMA_CONN_LOST); /* the client did not wait for us */
	else if (err == 0)
		replied(c, &f);
	conn_unlock(c);
	return err;
}
