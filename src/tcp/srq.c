/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * srq.c -- see srq.h and wq.h
 */

#include <errno.h>
#include <stdlib.h>

#include "tcp/cq.h"
#include "tcp/mem.h"
#include "tcp/pd.h"
#include "tcp/srq.h"

/* ---- the ring of receives ------------------------------------------------------- */

int rq_init(struct rq *q, uint32_t size)
{
	*q = (struct rq){ .size = size };
	atomic_init(&q->slots.free, size);
	if (size == 0)
		return 0;
	q->ring = calloc(size, sizeof(*q->ring));
	return q->ring ? 0 : -ENOMEM;
}

void rq_free(struct rq *q)
{
	free(q->ring);
	q->ring = NULL;
}

/* head and tail stay below 2 * size, so that any size may be used. */
static uint32_t rq_next(const struct rq *q, uint32_t i)
{
	return i + 1 == 2 * q->size ? 0 : i + 1;
}

int rq_post(struct rq *q, const struct rp_recv_wr *wr)
{
	if (!wq_slot_take(&q->slots))
		return -ENOMEM;
	q->ring[q->tail % q->size] = (struct rwqe){
		.wr_id = wr->wr_id,
		.addr = wr->addr,
		.length = wr->length,
		.lkey = wr->lkey,
	};
	q->tail = rq_next(q, q->tail);
	return 0;
}

bool rq_take(struct rq *q, struct rwqe *wqe)
{
	if (q->head == q->tail)
		return false;
	*wqe = q->ring[q->head % q->size];
	q->head = rq_next(q, q->head);
	return true;
}

/* ---- the shared queue --------------------------------------------------------------- */

static int srq_post_recv(struct tcp_srq *srq, const struct rp_recv_wr *wr)
{
	struct list *node;
	int err;

	pthread_mutex_lock(&srq->lock);
	err = rq_post(&srq->rq, wr);
	node = err ? NULL : list_pop(&srq->waiting);
	if (node != NULL)
		watch_kick(container_of(node, struct srq_waiter, node)->watch);
	pthread_mutex_unlock(&srq->lock);
	return err;
}

static int recv_door(struct rp_rq *rq)
{
	struct rp_recv_wr wr;
	int err;

	rp_rq_get(rq, &wr);
	lock_release(&rq->lock);
	err = srq_post_recv(container_of(rq, struct tcp_srq, base.rq), &wr);
	return err ? rp_recv_failed(&wr, err) : 0;
}

int srq_create(struct rp_pd *pd, uint32_t size, struct rp_srq **srq_ptr)
{
	struct tcp_srq *srq = calloc(1, sizeof(*srq));

	if (srq == NULL || size > INT32_MAX || rq_init(&srq->rq, size)) {
		free(srq);
		return -ENOMEM;
	}
	srq->base.pd = pd;
	rp_rq_init(&srq->base.rq, recv_door, 0);
	pthread_mutex_init(&srq->lock, NULL);
	list_init(&srq->waiting);
	list_init(&srq->cqs);
	pd_use(pd);
	*srq_ptr = &srq->base;
	return 0;
}

int srq_destroy(struct rp_srq *base)
{
	struct tcp_srq *srq = container_of(base, struct tcp_srq, base);
	bool used;

	pthread_mutex_lock(&srq->lock);
	used = srq->users > 0;
	pthread_mutex_unlock(&srq->lock);
	if (used)
		return -EBUSY;
	list_each (node, tmp, &srq->cqs) {
		struct tcp_cq *cq = container_of(node, struct tcp_cq, served);

		cq_forget(&cq->base, &srq->rq.slots);
		cq->served_lock = NULL;
		list_del(node);
	}
	pthread_mutex_destroy(&srq->lock);
	rq_free(&srq->rq);
	pd_unuse(base->pd);
	free(srq);
	return 0;
}

/* Room in the completion queue is needed once for all connections. */
int srq_join(struct rp_srq *base, struct rp_cq *cq_base)
{
	struct tcp_srq *srq = container_of(base, struct tcp_srq, base);
	struct tcp_cq *cq = container_of(cq_base, struct tcp_cq, base);
	int err = 0;

	pthread_mutex_lock(&srq->lock);
	if (list_empty(&cq->served))
		err = cq_reserve(cq_base, srq->rq.size);
	if (err == 0) {
		list_del(&cq->served);
		list_add_tail(&srq->cqs, &cq->served);
		cq->served_lock = &srq->lock;
		srq->users++;
	}
	pthread_mutex_unlock(&srq->lock);
	return err;
}

void srq_leave(struct rp_srq *base, struct srq_waiter *waiter)
{
	struct tcp_srq *srq = container_of(base, struct tcp_srq, base);
	struct list *node = NULL;

	pthread_mutex_lock(&srq->lock);
	srq->users--;
	list_del(&waiter->node);
	/* We may have been kicked for a receive that we will not take now. */
	if (srq->rq.head != srq->rq.tail)
		node = list_pop(&srq->waiting);
	if (node != NULL)
		watch_kick(container_of(node, struct srq_waiter, node)->watch);
	pthread_mutex_unlock(&srq->lock);
}

bool srq_take(struct rp_srq *base, struct rwqe *wqe, struct srq_waiter *waiter)
{
	struct tcp_srq *srq = container_of(base, struct tcp_srq, base);
	bool found;

	pthread_mutex_lock(&srq->lock);
	found = rq_take(&srq->rq, wqe);
	if (!found && list_empty(&waiter->node))
		list_add_tail(&srq->waiting, &waiter->node);
	pthread_mutex_unlock(&srq->lock);
	return found;
}
