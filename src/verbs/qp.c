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

/* No queue is the send queue's of two connections, so it can tell whose slot it is
 * that a completion frees. */
static void attach(struct rv_conn *conn, const struct rp_qp_attr *attr)
{
	conn->send_cq = rv_cq(attr->send_cq);
	conn->send_cq->sends = &conn->sends;
	conn->recv_cq = rv_cq(attr->recv_cq);
	if (!conn->has_srq)
		conn->recv_cq->recvs = &conn->recvs;
}

void rv_qp_detach(struct rv_conn *conn)
{
	if (conn->send_cq == NULL)
		return;
	conn->send_cq->sends = NULL;
	if (!conn->has_srq)
		conn->recv_cq->recvs = NULL;
	pthread_mutex_destroy(&conn->sends.lock);
	free(conn->sends.signaled);
}

int rv_conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr)
{
	struct rv_conn *conn = rv_conn(base);
	int ret;

	if (rv_cq(attr->send_cq)->sends)
		return -EINVAL;
	conn->sends.signaled = calloc((size_t)attr->sq_size + 1, sizeof(bool));
	if (conn->sends.signaled == NULL)
		return -ENOMEM;
	ret = ready_cqs(attr);
	if (!ret)
		ret = create_qp(conn, attr);
	if (ret) {
		free(conn->sends.signaled);
		return ret;
	}
	pthread_mutex_init(&conn->sends.lock, NULL);
	conn->sends.size = attr->sq_size;
	conn->recvs.size = attr->rq_size;
	conn->has_srq = attr->srq != NULL;
	attach(conn, attr);
	conn->qp_caps = base->pd->dev->caps & (RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE);
	base->qp_num = conn->cm.id->qp->qp_num;
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
	atomic_store_explicit(&conn->sendable, true, memory_order_release);
}
