/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * qp.c -- the queue pair: posting, and how each request ends; see conn.h
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/cq.h"
#include "tcp/env.h"

/* Not in the verbs header of older systems. */
enum {
	WC_FLUSH = 8,
	WC_ATOMIC_WRITE = 9,
};

/* ---- the queues as the seam has them ------------------------------------------------- */

static int send_door(struct rp_sq *sq)
{
	struct rp_send_wr wr;
	int err;

	rp_sq_get(sq, &wr);
	lock_release(&sq->lock);
	err = post_send(container_of(sq, struct rp_conn, sq), &wr);
	return err ? rp_send_failed(&wr, err) : 0;
}

static int recv_door(struct rp_rq *rq)
{
	struct rp_recv_wr wr;
	int err;

	rp_rq_get(rq, &wr);
	lock_release(&rq->lock);
	err = post_recv(container_of(rq, struct rp_conn, rq), &wr);
	return err ? rp_recv_failed(&wr, err) : 0;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static int alloc_rings(struct tcp_conn *c, const struct rp_qp_attr *attr)
{
	c->depth = power_of_two(tcp_env()->depth);
	c->sq.size = power_of_two(attr->sq_size ? attr->sq_size : 1);
	c->sq.ring = calloc(c->sq.size, sizeof(*c->sq.ring));
	c->orq_ring = calloc(c->depth, sizeof(*c->orq_ring));
	c->irq_ring = calloc(c->depth, sizeof(*c->irq_ring));
	if (!c->sq.ring || !c->orq_ring || !c->irq_ring)
		return -ENOMEM;
	atomic_init(&c->sq.slots.free, attr->sq_size);
	return rq_init(&c->rq, attr->srq ? 0 : attr->rq_size);
}

int conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr)
{
	struct tcp_conn *c = tcp_conn(base);
	int err;

	if (attr->sq_size > INT32_MAX || attr->rq_size > INT32_MAX)
		return -ENOMEM;
	err = alloc_rings(c, attr);
	if (err == 0)
		err = cq_reserve(attr->send_cq, attr->sq_size);
	if (err == 0 && attr->srq == NULL)
		err = cq_reserve(attr->recv_cq, attr->rq_size);
	if (err == 0 && attr->srq != NULL)
		err = srq_join(attr->srq, attr->recv_cq);
	if (err) {
		qp_free(c);
		return err;
	}
	c->send_cq = attr->send_cq;
	c->recv_cq = attr->recv_cq;
	c->srq = attr->srq;
	c->setup = true;
	rp_sq_init(&base->sq, send_door, 0);
	rp_rq_init(&base->rq, recv_door, 0);
	cq_set_driver(c->send_cq, &c->driver);
	if (c->srq == NULL)
		cq_set_driver(c->recv_cq, &c->driver);
	return 0;
}

void qp_free(struct tcp_conn *c)
{
	if (c->setup) {
		cq_forget(c->send_cq, &c->sq.slots);
		cq_forget(c->recv_cq, &c->rq.slots);
	}
	free(c->sq.ring);
	free(c->orq_ring);
	free(c->irq_ring);
	rq_free(&c->rq);
	c->sq.ring = NULL;
	c->orq_ring = NULL;
	c->irq_ring = NULL;
	c->setup = false;
}

/* ---- requests ---------------------------------------------------------------------- */

static enum ibv_wc_opcode sent_opcode(const struct swqe *w)
{
	static const uint8_t opcode[RP_OP_MAX] = {
		[RP_OP_SEND] = IBV_WC_SEND,
		[RP_OP_WRITE] = IBV_WC_RDMA_WRITE,
		[RP_OP_READ] = IBV_WC_RDMA_READ,
		[RP_OP_FLUSH] = WC_FLUSH,
		[RP_OP_ATOMIC_WRITE] = WC_ATOMIC_WRITE,
	};

	return (enum ibv_wc_opcode)opcode[w->opcode];
}

/* Indices are compared by their distance, so none may fall behind too far. */
static void catch_up(uint32_t *index, uint32_t done)
{
	if ((int32_t)(done - *index) > 0)
		*index = done;
}

/* Request sq.done is over. */
static void sq_end(struct tcp_conn *c, enum ibv_wc_status status)
{
	const struct swqe *w = sq_entry(c, c->sq.done++);
	struct ibv_wc wc = {
		.wr_id = w->wr_id,
		.status = status,
		.opcode = sent_opcode(w),
		.byte_len = (uint32_t)w->length,
		.qp_num = c->base.qp_num,
	};

	catch_up(&c->sq.signaled, c->sq.done);
	catch_up(&c->sq.covered, c->sq.done);
	catch_up(&c->tx.receiver, c->sq.done);
	c->sq.silent++;
	if (status == IBV_WC_SUCCESS && !(w->flags & RP_WR_SIGNALED))
		return;
	cq_push(c->send_cq, &wc, &c->sq.slots, c->sq.silent);
	c->sq.silent = 0;
}

void sq_succeed(struct tcp_conn *c, uint32_t upto)
{
	while ((int32_t)(upto - c->sq.done) > 0)
		sq_end(c, IBV_WC_SUCCESS);
}

static bool needs_answer(const struct swqe *w)
{
	return w->opcode != RP_OP_SEND && w->opcode != RP_OP_WRITE;
}

void sq_settle(struct tcp_conn *c)
{
	if (c->own_peer)
		return;
	while (c->sq.done != c->sq.sent && !needs_answer(sq_entry(c, c->sq.done)))
		sq_end(c, IBV_WC_SUCCESS);
}

void sq_fail(struct tcp_conn *c, uint32_t i, enum ibv_wc_status status)
{
	while ((int32_t)(i - c->sq.done) > 0)
		sq_end(c, needs_answer(sq_entry(c, c->sq.done)) ? IBV_WC_WR_FLUSH_ERR
								: IBV_WC_SUCCESS);
	if (c->sq.done != c->sq.posted)
		sq_end(c, status);
}

/* The receive queue is ours, not shared: its receives end with us. */
static void rq_flush(struct tcp_conn *c)
{
	const struct recv_result flushed = { .status = IBV_WC_WR_FLUSH_ERR };
	struct rwqe w;

	if (c->rx.in_recv)
		rq_complete(c, &c->rx.recv, &flushed);
	c->rx.in_recv = false;
	while (rq_take(&c->rq, &w))
		rq_complete(c, &w, &flushed);
}

void qp_flush(struct tcp_conn *c)
{
	if (!c->setup)
		return;
	while (c->sq.done != c->sq.posted)
		sq_end(c, IBV_WC_WR_FLUSH_ERR);
	c->sq.sent = c->tx.staged = c->sq.signaled = c->sq.covered = c->sq.posted;
	c->orq.head = c->orq.tail;
	c->tx.in_request = false;
	rq_flush(c);
}

static int check_send(const struct tcp_conn *c, const struct rp_send_wr *wr)
{
	unsigned caps = atomic_load_explicit(&c->caps, memory_order_relaxed);

	if (c->state < CONN_FIRST || !c->setup)
		return -ENOTCONN;
	if (c->state >= CONN_OPEN && !(caps & MPA_CAP_IMM) && (wr->flags & RP_WR_IMM))
		return -EOPNOTSUPP;
	if (wr->opcode == RP_OP_FLUSH && !(caps & MPA_CAP_FLUSH))
		return -EOPNOTSUPP;
	if (wr->opcode == RP_OP_ATOMIC_WRITE && !(caps & MPA_CAP_ATOMIC))
		return -EOPNOTSUPP;
	if (wr->opcode == RP_OP_READ && c->ord == 0)
		return -EOPNOTSUPP; /* the peer serves none: it would wait for ever */
	if ((wr->flags & RP_WR_INLINE) && wr->length > sizeof(((struct swqe *)0)->data))
		return -EINVAL;
	return 0;
}

static void fill_swqe(struct swqe *w, const struct rp_send_wr *wr)
{
	*w = (struct swqe){
		.wr_id = wr->wr_id,
		.addr = wr->addr,
		.length = wr->length,
		.remote_addr = wr->remote_addr,
		.lkey = wr->lkey,
		.rkey = wr->rkey,
		.imm = wr->imm,
		.opcode = (uint8_t)wr->opcode,
		.flags = (uint8_t)wr->flags,
		.flush_flags = wr->flush_type == RPMA_FLUSH_TYPE_PERSISTENT ? RDMAP_FLUSH_PERSISTENT
									    : RDMAP_FLUSH_VISIBLE,
	};
	if (wr->flags & RP_WR_INLINE)
		memcpy(w->data, (const void *)(uintptr_t)wr->addr, wr->length);
}

int post_send(struct rp_conn *base, const struct rp_send_wr *wr)
{
	struct tcp_conn *c = tcp_conn(base);
	int err;

	conn_lock(c);
	err = check_send(c, wr);
	if (err == 0 && !wq_slot_take(&c->sq.slots))
		err = -ENOMEM;
	if (err == 0) {
		fill_swqe(sq_entry(c, c->sq.posted++), wr);
		if (c->state > CONN_DRAIN)
			qp_flush(c);
		else if (!drive_hold(c, wr)) {
			conn_progress(c);
			drive_posted(c, wr);
		}
	}
	conn_unlock(c);
	return err;
}

/* ---- receives ------------------------------------------------------------------------ */

int post_recv(struct rp_conn *base, const struct rp_recv_wr *wr)
{
	struct tcp_conn *c = tcp_conn(base);
	int err;

	if (c->srq != NULL || !c->setup)
		return -EINVAL;
	conn_lock(c);
	err = rq_post(&c->rq, wr);
	if (err == 0 && c->state > CONN_DRAIN)
		qp_flush(c);
	else if (err == 0 && c->rx.paused)
		watch_kick(&c->watch);
	conn_unlock(c);
	return err;
}

bool rq_next(struct tcp_conn *c, struct rwqe *wqe)
{
	if (c->srq != NULL)
		return srq_take(c->srq, wqe, &c->srq_waiter);
	return rq_take(&c->rq, wqe);
}

void rq_complete(struct tcp_conn *c, const struct rwqe *wqe, const struct recv_result *r)
{
	struct wq_slots *slots = &c->rq.slots;
	struct ibv_wc wc = {
		.wr_id = wqe->wr_id,
		.status = r->status,
		.opcode = r->by_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		.byte_len = r->byte_len,
		.qp_num = c->base.qp_num,
	};

	if (c->srq != NULL)
		slots = &container_of(c->srq, struct tcp_srq, base)->rq.slots;
	if (r->has_imm) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = htonl(r->imm);
	}
	cq_push(c->recv_cq, &wc, slots, 1);
}
