/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * post.c -- requests and receives, from the queues to the device; and their slots
 */

#include <stdlib.h>

#include "verbs/verbs.h"

/* On InfiniBand none, as 0 bytes in one are 2^31 to some; on iWARP one, as siw takes no
 * receive without and reads what it finds in the place of the element for a read. */
int rv_no_data(const struct rp_pd *pd)
{
	return rv_is_iwarp(pd->dev->context);
}

/* ---- requests -------------------------------------------------------------- */

static __attribute__((cold, noinline)) int refuse_send(struct rp_sq *sq, int err)
{
	struct rp_send_wr wr;

	rp_sq_get(sq, &wr);
	lock_release(&sq->lock);
	return rp_send_failed(&wr, err);
}

int rv_post_send_early(struct rp_sq *sq)
{
	return refuse_send(sq, -EINVAL);
}

/* One more than there are has been taken: free what has been polled meanwhile, or give
 * it back. Needs the queue's lock. */
static __attribute__((noinline)) bool find_free(struct rv_conn *conn)
{
	const struct rp_cq *cq = &conn->send_cq->base;
	struct rv_sends *sends = &conn->sends;
	const uint32_t polled = atomic_load(&cq->sends);

	if (atomic_load(&cq->failed)) {
		sends->free = INT32_MAX;
		return true;
	}
	sends->free += (int32_t)(polled - sends->done);
	for (; sends->quiet > 0 && sends->done != polled; sends->done++) {
		uint32_t *silent = &sends->silent[sends->done & sends->mask];

		sends->free += (int32_t)*silent;
		sends->quiet -= *silent;
		*silent = 0;
	}
	sends->done = polled;
	if (sends->free >= 0)
		return true;
	sends->free = 0;
	return false;
}

static __attribute__((noinline)) void count_silent(struct rv_conn *conn)
{
	struct rv_sends *sends = &conn->sends;

	sends->silent[sends->signaled & sends->mask]++;
	sends->quiet++;
}

static __attribute__((noinline)) int post_native(struct rv_conn *conn)
{
	struct rp_send_wr wr;

	rp_sq_get(&conn->base.sq, &wr);
	return rv_post_native(conn->qp, &wr);
}

int rv_post_send(struct rp_sq *sq)
{
	struct rv_conn *conn = container_of(sq, struct rv_conn, base.sq);
	struct rv_sends *sends = &conn->sends;
	int err;

	if (--sends->free < 0 && !find_free(conn))
		return refuse_send(sq, -ENOMEM);
	if (sq->wr.opcode < RP_WR_FLUSH)
		err = ibv_post_send(conn->qp, &sq->wr, &sends->bad);
	else
		err = post_native(conn);
	if (err) {
		sends->free++;
		return refuse_send(sq, -abs(err));
	}
	if (sq->wr.send_flags & IBV_SEND_SIGNALED)
		sends->signaled++;
	else
		count_silent(conn);
	lock_release(&sq->lock);
	return 0;
}

/* ---- receives -------------------------------------------------------------- */

static __attribute__((cold, noinline)) int refuse_recv(struct rp_rq *rq, int err)
{
	struct rp_recv_wr wr;

	rp_rq_get(rq, &wr);
	lock_release(&rq->lock);
	return rp_recv_failed(&wr, err);
}

int rv_post_recv_refused(struct rp_rq *rq)
{
	return refuse_recv(rq, -EINVAL);
}

/* Likewise. */
static bool find_free_recvs(struct rv_recvs *recvs, const struct rp_cq *cq)
{
	const uint32_t polled = atomic_load(&cq->recvs);

	if (atomic_load(&cq->failed))
		recvs->free = INT32_MAX;
	else
		recvs->free += (int32_t)(polled - recvs->done);
	recvs->done = polled;
	if (recvs->free >= 0)
		return true;
	recvs->free = 0;
	return false;
}

int rv_post_recv(struct rp_rq *rq)
{
	struct rv_conn *conn = container_of(rq, struct rv_conn, base.rq);
	struct rv_recvs *recvs = &conn->recvs;
	int err;

	if (--recvs->free < 0 && !find_free_recvs(recvs, &conn->recv_cq->base))
		return refuse_recv(rq, -ENOMEM);
	err = recvs->post(conn->qp, &rq->wr, &recvs->bad);
	if (err) {
		recvs->free++;
		return refuse_recv(rq, -abs(err));
	}
	lock_release(&rq->lock);
	return 0;
}

int rv_srq_post_recv(struct rp_rq *rq)
{
	struct rv_srq *srq = container_of(rq, struct rv_srq, base.rq);
	struct ibv_recv_wr *bad;
	int err = ibv_post_srq_recv(srq->ibv, &rq->wr, &bad);

	if (err)
		return refuse_recv(rq, -abs(err));
	lock_release(&rq->lock);
	return 0;
}
