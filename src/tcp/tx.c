/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * tx.c -- queues to socket; see conn.h
 *
 * tx_run() stages as many FPDUs as a buffer takes, hands them to the socket in
 * one call, and goes on until nothing is left or the socket is full. Headers,
 * trailers and payload are staged as copies, so that what the CRC covers is what
 * is sent even when the program, or another peer, writes to the memory meanwhile;
 * large payload that no CRC covers is sent in place. User memory is touched
 * within tx_run() only: what the socket does not take at once is copied then.
 *
 * Answers and requests take turns. Towards a foreign peer messages are never
 * interleaved. Towards our own kind an answer may go between the segments of a
 * request, for the sake of the other direction: a peer that has no receive posted
 * lets our messages wait, but must still find our answers behind them. It can look
 * behind a limited number of bytes (RX_STALL_MAX), so while a message of ours may
 * be waiting no more than WINDOW bytes of requests are under way; probes find out.
 */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/env.h"
#include "tcp/iwarp/crc.h"

enum {
	TX_ROOM = POOL_BUF_SIZE - (int)sizeof(struct tx_batch),
	TX_OVERHEAD = FPDU_HDR_MAX + FPDU_TRAILER_MAX,
	TX_IN_PLACE = 8192,	/* payload from here on is not copied without CRC */
	TX_PIECE = 8192,	/* copied, then summed while it is near */
	TX_ROUNDS = 64,		/* batches in one go; the engine goes on from there */
	PROBES_MAX = 8,		/* of the requests that may wait for answers, 16 unless set */
	WINDOW = 1024 * 1024,	/* see above */
	FLUSH_PIECE = 1 << 30,	/* of one request on the wire, in bytes */
	SINK_STAG = 0x72706d61, /* our Reads name no memory of ours: answers are
				 * placed by the order of the requests */
};

/* ---- staging --------------------------------------------------------------------- */

static size_t room(const struct tcp_conn *c)
{
	return (size_t)TX_ROOM - c->tx.fill;
}

static uint8_t *stage_at(struct tcp_conn *c)
{
	return c->tx.batch->bytes + c->tx.fill;
}

/* The next len bytes of the stage go out. */
static void stage(struct tcp_conn *c, size_t len)
{
	struct tx *tx = &c->tx;
	struct iovec *last = tx->n_iov ? &tx->batch->iov[tx->n_iov - 1] : NULL;

	if (last != NULL && (uint8_t *)last->iov_base + last->iov_len == stage_at(c))
		last->iov_len += len;
	else
		tx->batch->iov[tx->n_iov++] = (struct iovec){ stage_at(c), len };
	tx->fill += len;
}

static void stage_in_place(struct tcp_conn *c, struct tcp_mr *mr, uint64_t addr, size_t len)
{
	struct tx *tx = &c->tx;

	tx->batch->iov[tx->n_iov++] = (struct iovec){ (void *)(uintptr_t)addr, len };
	tx->batch->held[tx->n_held++] = mr;
}

static void release_held(struct tcp_conn *c)
{
	while (c->tx.n_held > 0)
		mem_close(c->tx.batch->held[--c->tx.n_held]);
}

/* What the socket did not take of payload in place is copied: once tx_run() has
 * returned, the memory may go. Fits, since a batch never holds more payload in
 * place than it has room (see have_room). */
static void copy_rest(struct tcp_conn *c)
{
	struct tx *tx = &c->tx;
	const uint8_t *from = tx->batch->bytes, *to = from + TX_ROOM;

	if (tx->n_held == 0)
		return;
	for (unsigned i = tx->next_iov; i < tx->n_iov; i++) {
		struct iovec *v = &tx->batch->iov[i];
		uint8_t *p = v->iov_base;

		if (p >= from && p < to)
			continue;
		memcpy(stage_at(c), p, v->iov_len);
		v->iov_base = stage_at(c);
		tx->fill += v->iov_len;
	}
	release_held(c);
}

static size_t in_place_bytes(const struct tcp_conn *c)
{
	size_t n = 0;

	if (c->tx.n_held == 0)
		return 0;
	for (unsigned i = 0; i < c->tx.n_iov; i++)
		if (c->tx.batch->iov[i].iov_len >= TX_IN_PLACE)
			n += c->tx.batch->iov[i].iov_len;
	return n;
}

/* What goes to a foreign peer in one piece is whole FPDUs that fit a segment of TCP, so
 * that each segment begins with one. RFC 5044 recommends it, and siw depends on it: it
 * loses its place when a header, or a trailer, comes in two parts. */
static bool fits_segment(const struct tcp_conn *c, size_t payload)
{
	return c->own_peer || c->tx.n_iov == 0 ||
	       c->tx.fill + in_place_bytes(c) + payload + TX_OVERHEAD <= c->max_ulpdu;
}

/* Room for an FPDU of this payload: by the copying of copy_rest, too. */
static bool have_room(const struct tcp_conn *c, size_t payload)
{
	return c->tx.n_iov + 3 <= TX_IOV && c->tx.n_held < TX_HELD &&
	       room(c) >= in_place_bytes(c) + payload + TX_OVERHEAD && fits_segment(c, payload);
}

/* An FPDU of hdr_len bytes of headers and len of payload that both stand at the
 * stage already. */
static void stage_fpdu(struct tcp_conn *c, size_t hdr_len, size_t len)
{
	uint8_t *p = stage_at(c);

	stage(c, hdr_len + len +
			 fpdu_put_trailer(p + hdr_len + len, p, hdr_len, p + hdr_len, len, c->crc));
	c->tx.any_sent = true;
}

static void stage_headers(struct tcp_conn *c, size_t hdr_len)
{
	stage_fpdu(c, hdr_len, 0);
}

/* The payload of the headers at p. It is what was copied that is summed: the memory
 * may change at any time. A file's is copied by the system, better at once. */
static int copy_payload(struct tcp_conn *c, uint8_t *p, size_t hdr_len, struct tcp_mr *mr,
	uint64_t addr, size_t len)
{
	size_t end = hdr_len + len, most = mr->file_backed ? len : TX_PIECE;
	uint32_t sum = c->crc ? crc32c(0, p, hdr_len) : 0;

	for (size_t at = hdr_len, n; at < end; at += n) {
		int err;

		n = end - at < most ? end - at : most;
		err = mem_read(mr, addr + (at - hdr_len), p + at, n);
		if (err)
			return err;
		if (c->crc)
			sum = crc32c(sum, p + at, n);
	}
	stage(c, end + fpdu_put_end(p + end, end, sum, c->crc));
	c->tx.any_sent = true;
	return 0;
}

/* An FPDU of hdr_len bytes of headers at the stage and len bytes of the region. */
static int stage_payload(
	struct tcp_conn *c, size_t hdr_len, struct tcp_mr *mr, uint64_t addr, size_t len)
{
	uint8_t *p = stage_at(c);
	int err;

	if (!c->crc && len >= TX_IN_PLACE && !mr->file_backed) {
		stage(c, hdr_len);
		stage_in_place(c, mr, addr, len);
		stage(c, fpdu_put_trailer(stage_at(c), p, hdr_len, NULL, len, false));
		c->tx.any_sent = true;
		return 0;
	}
	err = copy_payload(c, p, hdr_len, mr, addr, len);
	mem_close(mr);
	return err;
}

/* ---- our requests ------------------------------------------------------------------ */

/* Payload of the next segment of a message that has rest bytes to go. */
static uint32_t segment(const struct tcp_conn *c, uint64_t rest, size_t ddp_hdr)
{
	uint32_t max = c->max_ulpdu - (uint32_t)ddp_hdr;

	max &= max >= 8192 ? ~4095u : ~7u;
	return rest < max ? (uint32_t)rest : max;
}

/* The local side of a request is not as it should be: the connection ends, as an
 * adapter's does; but first what was posted before is seen to its own end. */
static void local_error(struct tcp_conn *c)
{
	uint32_t i = c->tx.staged;

	if (c->sq.done != i && c->tx.off == 0 && !c->tx.imm_sent) {
		c->sq.signaled = i;
		return;
	}
	sq_fail(c, i, IBV_WC_LOC_PROT_ERR);
	conn_terminate(c, IWARP_RDMAP_LOCAL, NULL);
}

/* May a request have len more bytes under way? */
static bool window_open(const struct tcp_conn *c, uint32_t len)
{
	const struct tx *tx = &c->tx;

	if (!c->own_peer || (int32_t)(tx->receiver - c->sq.done) <= 0 || tx->bytes == tx->acked)
		return true;
	return tx->bytes - tx->acked + len <= WINDOW;
}

/* One segment of a SEND or WRITE; false: not now, or the connection has ended. */
static bool put_segment(struct tcp_conn *c, struct swqe *w)
{
	struct tx *tx = &c->tx;
	bool tagged = w->opcode == RP_OP_WRITE;
	uint64_t rest = w->length - tx->off;
	uint32_t len = segment(c, rest, tagged ? DDP_TAGGED_HDR : DDP_UNTAGGED_HDR);
	bool last = len == rest;
	struct tcp_mr *mr;
	size_t hdr;
	int usage = tagged ? RPMA_MR_USAGE_WRITE_SRC : RPMA_MR_USAGE_SEND;

	if (!have_room(c, len) || !window_open(c, len))
		return false;
	if (tagged)
		hdr = fpdu_put_tagged(stage_at(c), RDMAP_WRITE, last, w->rkey ? w->rkey : 1,
			w->remote_addr + tx->off, len);
	else
		hdr = fpdu_put_untagged(stage_at(c), RDMAP_SEND, last, DDP_QN_SEND, tx->send_msn,
			(uint32_t)tx->off, len);
	if (w->flags & RP_WR_INLINE) {
		memcpy(stage_at(c) + hdr, w->data + tx->off, len);
		stage_fpdu(c, hdr, len);
	} else if (len == 0) {
		stage_fpdu(c, hdr, 0);
	} else if (mem_open_local(c->base.pd, w->lkey, w->addr + tx->off, len, usage, &mr) ||
		   stage_payload(c, hdr, mr, w->addr + tx->off, len)) {
		local_error(c);
		return false;
	}
	tx->off += len;
	tx->bytes += len + hdr;
	return true;
}

static bool put_imm(struct tcp_conn *c, const struct swqe *w)
{
	uint64_t high = w->opcode == RP_OP_SEND ? IMM_FOR_SEND : 0;

	if (!have_room(c, 0) || !window_open(c, FPDU_IMM_HDR))
		return false;
	stage_headers(c, fpdu_put_imm(stage_at(c), c->tx.send_msn++, high << 32 | w->imm));
	c->tx.imm_sent = true;
	c->tx.bytes += FPDU_IMM_HDR;
	return true;
}

/* SEND: [immediate data,] segments. */
static bool put_send(struct tcp_conn *c, struct swqe *w)
{
	if ((w->flags & RP_WR_IMM) && !c->tx.imm_sent && !put_imm(c, w))
		return false;
	w->msn = c->tx.send_msn;
	do
		if (!put_segment(c, w))
			return false;
	while (c->tx.off < w->length);
	c->tx.send_msn++;
	return true;
}

/* WRITE: segments[, immediate data], in two steps that may be apart. */
static bool put_write(struct tcp_conn *c, struct swqe *w)
{
	while (!c->tx.data_sent) {
		if (!put_segment(c, w))
			return false;
		c->tx.data_sent = c->tx.off == w->length;
	}
	w->msn = c->tx.send_msn;
	return !(w->flags & RP_WR_IMM) || put_imm(c, w);
}

/* A slot among the requests that wait for an answer; NULL: as many as agreed, or
 * no room. last: the answer tells that the requests before covers are over. */
static struct orq_entry *orq_add(
	struct tcp_conn *c, int type, uint32_t covers, bool last, uint32_t size)
{
	struct orq_entry *o;

	if (ring_count(&c->orq) >= c->ord || !have_room(c, 0))
		return NULL;
	o = &c->orq_ring[c->orq.tail++ & (c->depth - 1)];
	*o = (struct orq_entry){
		.type = type,
		.covers = covers,
		.msn = c->tx.read_msn++,
		.sink_stag = SINK_STAG,
		.size = size,
		.mark = c->tx.bytes,
	};
	c->tx.asked = c->tx.bytes;
	if (last)
		c->sq.covered = covers;
	return o;
}

static void stage_read(
	struct tcp_conn *c, const struct orq_entry *o, uint32_t rkey, uint64_t remote_addr)
{
	struct rdmap_read_req r = {
		.sink_stag = o->sink_stag,
		.size = o->size,
		.src_stag = rkey ? rkey : 1,
		.src_to = remote_addr,
	};

	stage_headers(c, fpdu_put_read_req(stage_at(c), o->msn, &r));
}

/* The sink is judged before the request goes out: an answer that has nowhere to
 * go costs the connection, too, but later. */
static bool put_read(struct tcp_conn *c, struct swqe *w)
{
	struct tcp_mr *mr;
	struct orq_entry *o;

	if (w->length > 0) {
		if (mem_open_local(
			    c->base.pd, w->lkey, w->addr, w->length, RPMA_MR_USAGE_READ_DST, &mr)) {
			local_error(c);
			return false;
		}
		mem_close(mr);
	}
	o = orq_add(c, ORQ_READ, c->tx.staged + 1, true, (uint32_t)w->length);
	if (o == NULL)
		return false;
	w->msn = o->msn;
	stage_read(c, o, w->rkey, w->remote_addr);
	return true;
}

static bool put_flush(struct tcp_conn *c, struct swqe *w)
{
	do {
		uint64_t rest = w->length - c->tx.off;
		bool last = rest <= FLUSH_PIECE;
		struct rdmap_flush_req r = {
			.stag = w->rkey,
			.length = last ? (uint32_t)rest : FLUSH_PIECE,
			.to = w->remote_addr + c->tx.off,
			.flags = w->flush_flags,
		};
		struct orq_entry *o = orq_add(c, ORQ_FLUSH, c->tx.staged + last, last, 0);

		if (o == NULL)
			return false;
		w->msn = o->msn;
		stage_headers(c, fpdu_put_flush_req(stage_at(c), o->msn, &r));
		c->tx.off += r.length;
	} while (c->tx.off < w->length);
	return true;
}

/* The compare and swap that compares nothing and swaps all: a store. */
static bool put_atomic_write(struct tcp_conn *c, struct swqe *w)
{
	struct orq_entry *o = orq_add(c, ORQ_ATOMIC, c->tx.staged + 1, true, 0);
	struct rdmap_atomic_req r = {
		.op = RDMAP_CMP_SWAP,
		.stag = w->rkey,
		.to = w->remote_addr,
		.mask = UINT64_MAX,
	};

	if (o == NULL)
		return false;
	w->msn = r.id = o->msn;
	memcpy(&r.data, w->data, sizeof(r.data));
	stage_headers(c, fpdu_put_atomic_req(stage_at(c), o->msn, &r));
	return true;
}

/* An answer of several segments is begun and not ended. */
static bool in_answer(const struct tcp_conn *c)
{
	const struct irq_entry *q = irq_head(c);

	return ring_count(&c->irq) > 0 && q->opcode == RDMAP_READ_REQ && q->sent > 0;
}

/* Make the next request, if there is one and it may go, the one begun. */
static bool begin_request(struct tcp_conn *c)
{
	struct tx *tx = &c->tx;
	uint32_t end = c->sq.limited ? c->sq.limit : c->sq.posted;

	if (tx->staged == end || tx->gated || c->state == CONN_CAPS || c->state == CONN_TERM ||
		(!c->own_peer && in_answer(c)))
		return false;
	if ((sq_entry(c, tx->staged)->flags & RP_WR_FENCE) && ring_count(&c->orq) > 0)
		return false;
	tx->in_request = true;
	tx->off = 0;
	tx->imm_sent = tx->data_sent = false;
	return true;
}

static void end_request(struct tcp_conn *c, const struct swqe *w)
{
	bool message = w->opcode == RP_OP_SEND || w->opcode == RP_OP_WRITE;

	c->tx.in_request = false;
	c->tx.staged++;
	if (message && (w->flags & RP_WR_SIGNALED))
		c->sq.signaled = c->tx.staged;
}

/* The next request, or the rest of the one begun; false: nothing could be
 * staged, for want of room, of a free read slot, or of a request. */
static bool put_request(struct tcp_conn *c)
{
	static bool (*const put[RP_OP_MAX])(struct tcp_conn *, struct swqe *) = {
		[RP_OP_SEND] = put_send,
		[RP_OP_WRITE] = put_write,
		[RP_OP_READ] = put_read,
		[RP_OP_FLUSH] = put_flush,
		[RP_OP_ATOMIC_WRITE] = put_atomic_write,
	};
	struct tx *tx = &c->tx;
	struct swqe *w = sq_entry(c, tx->staged);

	if (!tx->in_request && !begin_request(c))
		return false;
	if (w->opcode == RP_OP_SEND || (w->flags & RP_WR_IMM))
		tx->receiver = tx->staged + 1;
	if (put[w->opcode](c, w)) {
		end_request(c, w);
		return true;
	}
	/* Nothing of it is on the way: something else may go first. */
	if (tx->off == 0 && !tx->imm_sent && !tx->data_sent)
		tx->in_request = false;
	return false;
}

/* ---- messages of our own ------------------------------------------------------------ */

/* A probe tells us that what went before has arrived. Needed where somebody waits
 * for that and no later request will tell; while more is being sent one at a time
 * is enough. */
static bool probe_due(const struct tcp_conn *c, bool busy)
{
	const struct tx *tx = &c->tx;
	uint32_t wanted = c->state == CONN_DRAIN ? tx->staged : c->sq.signaled;

	if (!c->own_peer || c->state == CONN_TERM || tx->gated)
		return false;
	if ((int32_t)(tx->receiver - c->sq.done) > 0 && tx->bytes - tx->asked >= WINDOW / 4)
		return true;
	return (int32_t)(wanted - c->sq.covered) > 0 && tx->probes < (busy ? 1 : PROBES_MAX);
}

static bool put_probe(struct tcp_conn *c, bool busy)
{
	struct orq_entry *o;

	if (!probe_due(c, busy))
		return false;
	o = orq_add(c, ORQ_PROBE, c->tx.staged, true, 0);
	if (o == NULL)
		return false;
	c->tx.probes++;
	stage_read(c, o, 1, 0);
	return true;
}

/* The first FPDU of the active side, or the magic Read of the passive one. */
static bool put_rtr(struct tcp_conn *c)
{
	struct rdmap_read_req r = { .sink_stag = 1, .src_stag = 1 };
	struct orq_entry *o;

	if (!c->tx.rtr_read) {
		stage_headers(c, fpdu_put_tagged(stage_at(c), RDMAP_WRITE, true, 1, 0, 0));
	} else {
		o = orq_add(c, ORQ_PROBE, c->tx.staged, false, 0);
		if (o == NULL)
			return false;
		c->tx.probes++;
		o->sink_stag = 1;
		if (c->tx.rtr_magic) {
			r.src_to = MPA_CAP_MAGIC;
			r.sink_to = o->sink_to = handshake_own_caps();
		}
		stage_headers(c, fpdu_put_read_req(stage_at(c), o->msn, &r));
	}
	c->tx.rtr_due = false;
	return true;
}

/* ---- answers --------------------------------------------------------------------------- */

/* One segment of the answer to a Read; false: no room, or *err. */
static bool put_read_segment(struct tcp_conn *c, struct irq_entry *q, enum iwarp_err *err)
{
	uint32_t rest = q->read.size - q->sent;
	uint32_t len = segment(c, rest, DDP_TAGGED_HDR);
	uint64_t src = q->read.src_to + q->sent;
	struct tcp_mr *mr;
	size_t hdr;

	if (!have_room(c, len))
		return false;
	hdr = fpdu_put_tagged(stage_at(c), RDMAP_READ_RESP, len == rest, q->read.sink_stag,
		q->read.sink_to + q->sent, len);
	if (len == 0) {
		stage_fpdu(c, hdr, 0);
		return true;
	}
	*err = answer_open_read(c, q->read.src_stag, src, len, &mr);
	if (*err == IWARP_OK && stage_payload(c, hdr, mr, src, len))
		*err = IWARP_RDMAP_CATASTROPHIC;
	if (*err == IWARP_OK)
		q->sent += len;
	return *err == IWARP_OK;
}

static bool put_read_answer(struct tcp_conn *c, struct irq_entry *q)
{
	enum iwarp_err err = IWARP_OK;

	do {
		if (put_read_segment(c, q, &err))
			continue;
		if (err != IWARP_OK)
			answer_fail(c, q, err);
		return false;
	} while (q->sent < q->read.size);
	return true;
}

static bool put_answer(struct tcp_conn *c)
{
	struct irq_entry *q = irq_head(c);

	if (ring_count(&c->irq) == 0 || c->tx.gated || !have_room(c, 0) ||
		(!c->own_peer && c->tx.in_request))
		return false;
	if (q->opcode == RDMAP_READ_REQ) {
		if (!put_read_answer(c, q))
			return false;
	} else if (!q->ready) {
		return false;
	} else if (q->opcode == RDMAP_FLUSH_REQ) {
		stage_headers(c, fpdu_put_flush_resp(stage_at(c), c->tx.resp_msn++));
	} else {
		struct rdmap_atomic_resp r = { q->atomic.id, q->original };

		stage_headers(c, fpdu_put_atomic_resp(stage_at(c), c->tx.resp_msn++, &r));
	}
	c->irq.head++;
	answer_work(c);
	return true;
}

static bool put_terminate(struct tcp_conn *c)
{
	if (c->state != CONN_TERM || c->cause.err == IWARP_OK || ring_count(&c->irq) > 0 ||
		!have_room(c, 0))
		return false;
	stage_headers(c, terminate_encode(stage_at(c), &c->cause));
	c->cause.err = IWARP_OK;
	return true;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool put_next(struct tcp_conn *c)
{
	bool done;

	if (c->tx.rtr_due)
		return put_rtr(c);
	if (!c->tx.in_request)
		c->tx.turn = !c->tx.turn;
	done = c->tx.turn ? put_answer(c) || put_request(c) : put_request(c) || put_answer(c);
	if (done)
		put_probe(c, true);
	return done || put_probe(c, false) || put_terminate(c);
}

static bool anything_to_send(const struct tcp_conn *c)
{
	return c->tx.rtr_due || c->tx.staged != c->sq.posted || ring_count(&c->irq) > 0 ||
	       c->state == CONN_TERM || c->tx.in_request ||
	       (int32_t)(c->sq.signaled - c->sq.covered) > 0 || c->state == CONN_DRAIN;
}

static bool batch_empty(const struct tcp_conn *c)
{
	return c->tx.batch == NULL || c->tx.n_iov == 0;
}

/* Fill an empty batch. False: there is nothing to send now. */
static bool fill(struct tcp_conn *c)
{
	if (!anything_to_send(c))
		return false;
	if (c->tx.batch == NULL) {
		c->tx.batch = (struct tx_batch *)pool_get();
		if (c->tx.batch == NULL) {
			conn_note(c, RP_LOG_ERROR, "no memory for a send buffer");
			conn_dead(c, RPMA_CONN_LOST);
			return false;
		}
	}
	while (put_next(c))
		;
	return !batch_empty(c);
}

static void batch_reset(struct tcp_conn *c)
{
	if (c->tx.batch == NULL)
		return;
	release_held(c);
	c->tx.fill = 0;
	c->tx.n_iov = c->tx.next_iov = 0;
}

static void batch_release(struct tcp_conn *c)
{
	batch_reset(c);
	pool_put((uint8_t *)c->tx.batch);
	c->tx.batch = NULL;
}

void tx_drop(struct tcp_conn *c)
{
	batch_release(c);
	c->tx.in_request = false;
	c->tx.blocked = false;
	c->tx.rtr_due = false;
}

bool tx_idle(const struct tcp_conn *c)
{
	return batch_empty(c) && !c->tx.in_request && !c->tx.rtr_due;
}

static void advance(struct tx *tx, size_t n)
{
	while (tx->next_iov < tx->n_iov) {
		struct iovec *v = &tx->batch->iov[tx->next_iov];

		if (n < v->iov_len) {
			v->iov_base = (uint8_t *)v->iov_base + n;
			v->iov_len -= n;
			return;
		}
		n -= v->iov_len;
		tx->next_iov++;
	}
}

/* Hand the batch to the socket. False: it is full, or broken. */
static bool send_batch(struct tcp_conn *c)
{
	const int piece = c->own_peer ? 0 : MSG_EOR; /* nothing is added to its segment */
	struct tx *tx = &c->tx;

	while (tx->next_iov < tx->n_iov) {
		struct msghdr msg = {
			.msg_iov = &tx->batch->iov[tx->next_iov],
			.msg_iovlen = tx->n_iov - tx->next_iov,
		};
		ssize_t n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT | piece);

		if (n >= 0) {
			advance(tx, (size_t)n);
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN) {
			tx->blocked = true;
			copy_rest(c);
			return false;
		}
		rx_broken(c, errno);
		return false;
	}
	batch_reset(c);
	return true;
}

/* All that was staged has left us. */
static void sent_all(struct tcp_conn *c)
{
	c->sq.sent = c->tx.staged;
	sq_settle(c);
	if (c->state == CONN_TERM && c->cause.err == IWARP_OK && tx_idle(c)) {
		shutdown(c->fd, SHUT_WR);
		c->state = CONN_LINGER;
		c->ended = true;
		conn_event(c, c->end_event);
	}
}

void tx_run(struct tcp_conn *c)
{
	int rounds = TX_ROUNDS;

	if (c->tx.blocked)
		return;
	while (c->fd >= 0 && (!batch_empty(c) || fill(c))) {
		if (rounds-- == 0) {
			watch_kick(&c->watch); /* others want to be served, too */
			return;
		}
		if (!send_batch(c))
			return;
		sent_all(c);
	}
	batch_release(c);
}
