/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * place.c -- what each kind of segment does when it arrives; see conn.h
 *
 * All checks of a segment come before its first byte is placed. The Terminate
 * codes are those of RFC 5040 section 4.8 and RFC 5041 section 8.2.
 */

#include "base/log.h"
#include "tcp/conn.h"

static const enum iwarp_err write_error[MEM_ERRS] = {
	[MEM_OK] = IWARP_OK,
	[MEM_STAG] = IWARP_DDP_T_STAG,
	[MEM_PD] = IWARP_DDP_T_STREAM,
	[MEM_ACCESS] = IWARP_RDMAP_ACCESS,
	[MEM_BOUNDS] = IWARP_DDP_T_BOUNDS,
	[MEM_WRAP] = IWARP_DDP_T_WRAP,
	[MEM_GONE] = IWARP_RDMAP_CATASTROPHIC,
};

static bool refuse(struct tcp_conn *c, enum iwarp_err err, const struct fpdu *f)
{
	conn_terminate(c, err, f);
	return false;
}

/* ---- payload of tagged segments ---------------------------------------------------- */

/* An answer goes to the oldest request and nowhere else, whatever it names. */
static enum iwarp_err check_read_resp(const struct tcp_conn *c, const struct fpdu *f)
{
	const struct orq_entry *o = orq_head(c);

	if (ring_count(&c->orq) == 0 || (o->type != ORQ_READ && o->type != ORQ_PROBE))
		return IWARP_RDMAP_OPCODE;
	if (f->stag != o->sink_stag)
		return IWARP_DDP_T_STAG;
	if (f->to != o->sink_to + o->got || f->payload_len > o->size - o->got ||
		f->last != (f->payload_len == o->size - o->got))
		return IWARP_DDP_T_BOUNDS;
	return IWARP_OK;
}

enum iwarp_err place_check(const struct tcp_conn *c, const struct fpdu *f)
{
	return f->opcode == RDMAP_READ_RESP ? check_read_resp(c, f) : IWARP_OK;
}

enum mem_err place_open(
	struct tcp_conn *c, const struct fpdu *f, uint32_t off, struct tcp_mr **mr, uint64_t *to)
{
	uint32_t len = f->payload_len - off;
	const struct swqe *w;

	if (f->opcode == RDMAP_WRITE) {
		*to = f->to + off;
		return mem_open_remote(c->base.pd, f->stag, *to, len, RPMA_MR_USAGE_WRITE_DST, mr);
	}
	w = sq_entry(c, orq_head(c)->covers - 1);
	*to = w->addr + orq_head(c)->got + off;
	return mem_open_local(c->base.pd, w->lkey, *to, len, RPMA_MR_USAGE_READ_DST, mr);
}

bool place_failed(struct tcp_conn *c, const struct fpdu *f, enum mem_err why)
{
	if (f->opcode == RDMAP_WRITE)
		return refuse(c, write_error[why], f);
	sq_fail(c, orq_head(c)->covers - 1, IBV_WC_LOC_PROT_ERR);
	return refuse(c, IWARP_DDP_LOCAL, f);
}

static enum mem_err place(struct tcp_conn *c, const struct fpdu *f)
{
	struct tcp_mr *mr;
	enum mem_err err;
	uint64_t to;

	if (f->payload_len == 0 || f->payload == NULL) /* nothing, or direct.c has done it */
		return MEM_OK;
	err = place_open(c, f, 0, &mr, &to);
	if (err != MEM_OK)
		return err;
	if (mem_write(mr, to, f->payload, f->payload_len))
		err = MEM_GONE;
	mem_close(mr);
	return err;
}

static bool on_write(struct tcp_conn *c, const struct fpdu *f)
{
	struct rx *rx = &c->rx;
	enum mem_err err = place(c, f);

	if (err != MEM_OK)
		return place_failed(c, f, err);
	rx->write_len = (rx->in_write ? rx->write_len : 0) + f->payload_len;
	rx->in_write = !f->last;
	return true;
}

/* ---- Send and immediate data --------------------------------------------------------- */

/* Nothing is there to receive with: the stream waits for a receive. */
static bool pause_rx(struct tcp_conn *c)
{
	c->rx.paused = true;
	return false;
}

static bool fail_recv(
	struct tcp_conn *c, enum ibv_wc_status status, enum iwarp_err err, const struct fpdu *f)
{
	const struct recv_result r = { .status = status };

	c->rx.in_recv = false;
	rq_complete(c, &c->rx.recv, &r);
	return refuse(c, err, f);
}

static void finish_recv(struct tcp_conn *c)
{
	const struct recv_result r = {
		.status = IBV_WC_SUCCESS,
		.byte_len = c->rx.recv_off,
		.has_imm = c->rx.has_imm,
		.imm = c->rx.imm,
	};

	c->rx.in_recv = c->rx.has_imm = false;
	c->rx.write_len = 0;
	c->rx.send_msn++;
	rq_complete(c, &c->rx.recv, &r);
}

static bool on_send(struct tcp_conn *c, const struct fpdu *f)
{
	struct rx *rx = &c->rx;
	struct tcp_mr *mr;
	int err;

	if (f->msn != rx->send_msn)
		return refuse(c, IWARP_DDP_U_MSN, f);
	if (f->mo != (rx->in_recv ? rx->recv_off : 0))
		return refuse(c, IWARP_DDP_U_MO, f);
	if (f->opcode == RDMAP_SEND_INV || f->opcode == RDMAP_SEND_SE_INV)
		return refuse(c, IWARP_RDMAP_INVALIDATE, f); /* we register nothing for it */
	if (!rx->in_recv) {
		if (!rq_next(c, &rx->recv))
			return pause_rx(c);
		rx->in_recv = true;
		rx->recv_off = 0;
	}
	if (f->payload_len > rx->recv.length - rx->recv_off)
		return fail_recv(c, IBV_WC_LOC_LEN_ERR, IWARP_DDP_U_LENGTH, f);
	if (rx->recv.length > 0) {
		/* The whole of it, used or not, as it was posted. */
		if (mem_open_local(c->base.pd, rx->recv.lkey, rx->recv.addr, rx->recv.length,
			    RPMA_MR_USAGE_RECV, &mr))
			return fail_recv(c, IBV_WC_LOC_PROT_ERR, IWARP_DDP_LOCAL, f);
		err = mem_write(mr, rx->recv.addr + rx->recv_off, f->payload, f->payload_len);
		mem_close(mr);
		if (err)
			return fail_recv(c, IBV_WC_LOC_PROT_ERR, IWARP_DDP_LOCAL, f);
	}
	rx->recv_off += f->payload_len;
	if (f->last)
		finish_recv(c);
	return true;
}

static bool on_imm(struct tcp_conn *c, const struct fpdu *f)
{
	uint64_t imm = fpdu_get_imm(f);
	struct recv_result r = {
		.status = IBV_WC_SUCCESS,
		.by_write = true,
		.byte_len = (uint32_t)c->rx.write_len,
		.has_imm = true,
		.imm = (uint32_t)imm,
	};
	struct rwqe w;

	if (c->rx.in_recv || c->rx.has_imm)
		return refuse(c, IWARP_RDMAP_OPCODE, f);
	if (f->msn != c->rx.send_msn)
		return refuse(c, IWARP_DDP_U_MSN, f);
	if (imm >> 32 == IMM_FOR_SEND) {
		c->rx.has_imm = true;
		c->rx.imm = (uint32_t)imm;
	} else {
		if (!rq_next(c, &w))
			return pause_rx(c);
		rq_complete(c, &w, &r);
	}
	c->rx.send_msn++;
	c->rx.write_len = 0;
	return true;
}

/* ---- requests of the peer ---------------------------------------------------------------- */

/* The zero-length Read by which a peer says that it is this library. */
static bool is_magic(const struct rdmap_read_req *r)
{
	return r->size == 0 && r->src_stag == 1 && r->sink_stag == 1 && r->src_to == MPA_CAP_MAGIC;
}

static bool on_request(struct tcp_conn *c, const struct fpdu *f)
{
	struct irq_entry *q = &c->irq_ring[c->irq.tail & (c->depth - 1)];
	enum iwarp_err err;

	if (f->msn != c->rx.read_msn)
		return refuse(c, IWARP_DDP_U_MSN, f);
	if (ring_count(&c->irq) >= c->ird)
		return refuse(c, IWARP_DDP_U_NO_BUFFER, f);
	*q = (struct irq_entry){ .opcode = f->opcode, .msn = f->msn };
	if (f->opcode == RDMAP_READ_REQ) {
		fpdu_get_read_req(f, &q->read);
		if (is_magic(&q->read))
			handshake_peer_caps(c, q->read.sink_to);
	} else if (f->opcode == RDMAP_ATOMIC_REQ) {
		fpdu_get_atomic_req(f, &q->atomic);
	} else {
		fpdu_get_flush_req(f, &q->flush);
	}
	/* A bad one is found now, before anything behind it is looked at. */
	err = answer_check(c, q);
	if (err != IWARP_OK)
		return refuse(c, err, f);
	c->rx.read_msn++;
	c->irq.tail++;
	answer_work(c);
	return conn_carries_fpdus(c);
}

/* ---- answers to us --------------------------------------------------------------------------- */

/* The oldest request that waits has its answer: it and all before it are over. */
static void answered(struct tcp_conn *c)
{
	struct orq_entry *o = orq_head(c);

	c->orq.head++;
	if (o->type == ORQ_PROBE)
		c->tx.probes--;
	c->tx.acked = o->mark;
	sq_succeed(c, o->covers);
	sq_settle(c);
	if (c->state == CONN_CAPS)
		conn_established(c);
}

static bool on_read_resp(struct tcp_conn *c, const struct fpdu *f)
{
	enum iwarp_err bad = check_read_resp(c, f);
	enum mem_err err;

	if (bad != IWARP_OK)
		return refuse(c, bad, f);
	err = place(c, f);
	if (err != MEM_OK)
		return place_failed(c, f, err);
	orq_head(c)->got += f->payload_len;
	if (f->last)
		answered(c);
	return true;
}

static bool on_response(struct tcp_conn *c, const struct fpdu *f)
{
	struct orq_entry *o = orq_head(c);
	struct rdmap_atomic_resp r;
	int type = f->opcode == RDMAP_FLUSH_RESP ? ORQ_FLUSH : ORQ_ATOMIC;

	if (f->msn != c->rx.resp_msn)
		return refuse(c, IWARP_DDP_U_MSN, f);
	if (ring_count(&c->orq) == 0 || (int)o->type != type)
		return refuse(c, IWARP_RDMAP_OPCODE, f);
	if (type == ORQ_ATOMIC) {
		fpdu_get_atomic_resp(f, &r);
		if (r.id != o->msn)
			return refuse(c, IWARP_RDMAP_UNSPECIFIED, f);
	}
	c->rx.resp_msn++;
	answered(c);
	return true;
}

/* ---- all ---------------------------------------------------------------------------------------- */

static bool on_terminate(struct tcp_conn *c, const struct fpdu *f)
{
	rx_terminate(c, f);
	return false;
}

bool rx_segment(struct tcp_conn *c, const struct fpdu *f)
{
	static bool (*const handler[RDMAP_OPCODES])(struct tcp_conn *, const struct fpdu *) = {
		[RDMAP_WRITE] = on_write,
		[RDMAP_READ_REQ] = on_request,
		[RDMAP_READ_RESP] = on_read_resp,
		[RDMAP_SEND] = on_send,
		[RDMAP_SEND_INV] = on_send,
		[RDMAP_SEND_SE] = on_send,
		[RDMAP_SEND_SE_INV] = on_send,
		[RDMAP_TERMINATE] = on_terminate,
		[RDMAP_IMM] = on_imm,
		[RDMAP_IMM_SE] = on_imm,
		[RDMAP_ATOMIC_REQ] = on_request,
		[RDMAP_ATOMIC_RESP] = on_response,
		[RDMAP_FLUSH_REQ] = on_request,
		[RDMAP_FLUSH_RESP] = on_response,
	};

	/* The first segment, whatever it is, tells that the peer has our reply. */
	c->tx.gated = false;
	if (c->state == CONN_FIRST && f->opcode != RDMAP_TERMINATE)
		conn_established(c);
	return handler[f->opcode](c, f);
}
