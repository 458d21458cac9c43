/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * qp.c -- queue pairs and shared receive queues
 */

#include <stdlib.h>

#include "verbs/verbs.h"

int rv_srq_create(struct rp_pd *pd, uint32_t size, struct rp_srq **out)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = size, .max_sge = 1 } };
	struct rv_srq *srq = calloc(1, sizeof(*srq));
	int ret;

	if (srq == NULL)
		return -ENOMEM;
	srq->ibv = ibv_create_srq(rv_pd(pd)->ibv, &attr);
	if (srq->ibv == NULL) {
		ret = rv_errno();
		free(srq);
		return ret;
	}
	srq->base.pd = pd;
	rp_rq_init(&srq->base.rq, rv_srq_post_recv, rv_no_data(pd));
	srq->size = attr.attr.max_wr > size ? attr.attr.max_wr : size;
	*out = &srq->base;
	return 0;
}

int rv_srq_destroy(struct rp_srq *base)
{
	struct rv_srq *srq = rv_srq(base);
	int ret = -abs(ibv_destroy_srq(srq->ibv));

	free(srq);
	return ret;
}

/* How many completions can be waiting at most. A shared queue is the device's alone,
 * and may take more while some of it wait. */
static int ready_cqs(const struct rp_qp_attr *attr)
{
	uint64_t send = attr->sq_size;
	uint64_t recv = attr->srq ? 2 * (uint64_t)rv_srq(attr->srq)->size : attr->rq_size;
	int ret;

	if (attr->send_cq == attr->recv_cq)
		return rv_cq_ready(rv_cq(attr->send_cq), send + recv);
	ret = rv_cq_ready(rv_cq(attr->send_cq), send);
	return ret ? ret : rv_cq_ready(rv_cq(attr->recv_cq), recv);
}

static int create_qp(struct rv_conn *conn, const struct rp_qp_attr *attr)
{
	const struct rp_pd *pd = conn->base.pd;
	struct ibv_qp_init_attr_ex qp = {
		.send_cq = atomic_load(&rv_cq(attr->send_cq)->ibv),
		.recv_cq = atomic_load(&rv_cq(attr->recv_cq)->ibv),
		.srq = attr->srq ? rv_srq(attr->srq)->ibv : NULL,
		.cap = {
			.max_send_wr = attr->sq_size,
			.max_recv_wr = attr->rq_size,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 8,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rv_pd(conn->base.pd)->ibv,
		.send_ops_flags = rv_send_ops(pd->dev->caps),
	};

	/* asking for nothing would already be too much for many devices */
	if (qp.send_ops_flags)
		qp.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	return rdma_create_qp_ex(conn->cm.id, &qp) ? rv_errno() : 0;
}

/* No queue is the send queue's of two connections, so it is known whose slots they are
 * that its completions free. */
static int init_sends(struct rv_sends *sends, struct rv_cq *cq, uint32_t size)
{
	uint64_t ring = 1; /* for a number per signaled request, and those after the last */

	while (ring <= size)
		ring *= 2;
	sends->silent = calloc(ring, sizeof(*sends->silent));
	if (sends->silent == NULL)
		return -ENOMEM;
	sends->mask = (uint32_t)(ring - 1);
	sends->free = (int32_t)size;
	sends->signaled = sends->done = atomic_load(&cq->base.sends);
	return 0;
}

void rv_qp_free(struct rv_conn *conn)
{
	if (conn->send_cq)
		conn->send_cq->taken = false;
	free(conn->sends.silent);
	conn->sends.silent = NULL;
}

int rv_conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr)
{
	struct rv_conn *conn = rv_conn(base);
	int ret;

	if (rv_cq(attr->send_cq)->taken || attr->sq_size > INT32_MAX || attr->rq_size > INT32_MAX)
		return -EINVAL;
	ret = init_sends(&conn->sends, rv_cq(attr->send_cq), attr->sq_size);
	if (!ret)
		ret = ready_cqs(attr);
	if (!ret)
		ret = create_qp(conn, attr);
	if (ret) {
		rv_qp_free(conn);
		return ret;
	}
	conn->send_cq = rv_cq(attr->send_cq);
	conn->send_cq->taken = true;
	conn->recv_cq = rv_cq(attr->recv_cq);
	conn->recvs.post = conn->cm.id->qp->context->ops.post_recv;
	conn->recvs.free = (int32_t)attr->rq_size;
	conn->recvs.done = atomic_load(&conn->recv_cq->base.recvs);
	rp_sq_init(&base->sq, rv_post_send_early, rv_no_data(base->pd));
	rp_rq_init(
		&base->rq, attr->srq ? rv_post_recv_refused : rv_post_recv, rv_no_data(base->pd));
	conn->qp_caps = base->pd->dev->caps & (RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE);
	rv_conn_find_caps(conn);
	conn->qp = conn->cm.id->qp;
	base->qp_num = conn->qp->qp_num;
	return 0;
}

/* How long the other side is to wait when it has sent and we had no receive posted:
 * the preset is 0.65 s. This is the code for 0.64 ms. */
#define RNR_TIMER 12

void rv_qp_ready(struct rv_conn *conn)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = RNR_TIMER };

	if (atomic_load(&conn->sendable))
		return;
	/* where it is refused (iWARP has no such thing) the preset does */
	ibv_modify_qp(conn->cm.id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	lock_take(&conn->base.sq.lock);
	conn->base.sq.post = rv_post_send;
	lock_release(&conn->base.sq.lock);
	atomic_store(&conn->sendable, true);
}
