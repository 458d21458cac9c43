/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * qp.c -- queue pairs, shared receive queues and what is posted to them
 */

#include <arpa/inet.h>
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

/*
 * How many completions can be waiting at most. Devices round a queue up, but not
 * to more than twice of what was asked for, and only tell when it is made, which
 * needs the completion queue.
 */
static int ready_cqs(const struct rp_qp_attr *attr)
{
	uint64_t send = 2 * (uint64_t)attr->sq_size;
	uint64_t recv = attr->srq ? rv_srq(attr->srq)->size : 2 * (uint64_t)attr->rq_size;
	int ret;

	if (attr->send_cq == attr->recv_cq)
		return rv_cq_ready(rv_cq(attr->send_cq), send + recv);
	ret = rv_cq_ready(rv_cq(attr->send_cq), send);
	return ret ? ret : rv_cq_ready(rv_cq(attr->recv_cq), recv);
}

int rv_conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr)
{
	struct rv_conn *conn = rv_conn(base);
	struct rp_pd *pd = base->pd;
	struct ibv_qp_init_attr_ex qp = {
		.cap = {
			.max_send_wr = attr->sq_size,
			.max_recv_wr = attr->rq_size,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 8,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rv_pd(pd)->ibv,
		.srq = attr->srq ? rv_srq(attr->srq)->ibv : NULL,
		.send_ops_flags = rv_send_ops(pd->dev->caps),
	};
	int ret = ready_cqs(attr);

	if (ret)
		return ret;
	qp.send_cq = atomic_load(&rv_cq(attr->send_cq)->ibv);
	qp.recv_cq = atomic_load(&rv_cq(attr->recv_cq)->ibv);
	/* asking for nothing would already be too much for many devices */
	if (qp.send_ops_flags)
		qp.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (rdma_create_qp_ex(conn->cm.id, &qp))
		return rv_errno();
	conn->has_srq = attr->srq != NULL;
	conn->qp_caps = pd->dev->caps & (RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE);
	conn->base.qp_num = conn->cm.id->qp->qp_num;
	return 0;
}

static const struct {
	enum ibv_wr_opcode plain;
	enum ibv_wr_opcode imm;
} opcodes[] = {
	[RP_OP_SEND] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM },
	[RP_OP_WRITE] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM },
	[RP_OP_READ] = { IBV_WR_RDMA_READ, IBV_WR_RDMA_READ },
};

static unsigned send_flags(unsigned flags)
{
	return (flags & RP_WR_SIGNALED ? IBV_SEND_SIGNALED : 0) |
		(flags & RP_WR_FENCE ? IBV_SEND_FENCE : 0) |
		(flags & RP_WR_INLINE ? IBV_SEND_INLINE : 0);
}

int rv_post_send(struct rp_conn *base, const struct rp_send_wr *wr)
{
	struct rv_conn *conn = rv_conn(base);
	struct ibv_sge sge = {
		.addr = wr->addr,
		.length = (uint32_t)wr->length,
		.lkey = wr->mr ? rv_mr(wr->mr)->ibv->lkey : 0,
	};
	struct ibv_send_wr send = {
		.wr_id = wr->wr_id,
		.sg_list = &sge,
		.num_sge = wr->mr || wr->flags & RP_WR_INLINE,
		.send_flags = send_flags(wr->flags),
		.imm_data = htonl(wr->imm),
		.wr.rdma = { .remote_addr = wr->remote_addr, .rkey = wr->rkey },
	};
	struct ibv_send_wr *bad;

	if (!atomic_load_explicit(&conn->sendable, memory_order_acquire))
		return -EINVAL;
	if (wr->opcode >= sizeof(opcodes) / sizeof(opcodes[0]))
		return rv_post_native(conn->cm.id->qp, wr);
	send.opcode = wr->flags & RP_WR_IMM ? opcodes[wr->opcode].imm : opcodes[wr->opcode].plain;
	return -abs(ibv_post_send(conn->cm.id->qp, &send, &bad));
}

/* A receive of nothing has no element, since 0 bytes in one means 2^31 to some. */
static void recv_wr(const struct rp_recv_wr *wr, struct ibv_recv_wr *recv, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){
		.addr = wr->addr,
		.length = (uint32_t)wr->length,
		.lkey = wr->mr ? rv_mr(wr->mr)->ibv->lkey : 0,
	};
	*recv = (struct ibv_recv_wr){
		.wr_id = wr->wr_id,
		.sg_list = sge,
		.num_sge = wr->mr != NULL,
	};
}

int rv_post_recv(struct rp_conn *base, const struct rp_recv_wr *wr)
{
	struct rv_conn *conn = rv_conn(base);
	struct ibv_recv_wr recv, *bad;
	struct ibv_sge sge;

	if (conn->has_srq)
		return -EINVAL;
	recv_wr(wr, &recv, &sge);
	return -abs(ibv_post_recv(conn->cm.id->qp, &recv, &bad));
}

int rv_srq_post_recv(struct rp_srq *base, const struct rp_recv_wr *wr)
{
	struct ibv_recv_wr recv, *bad;
	struct ibv_sge sge;

	recv_wr(wr, &recv, &sge);
	return -abs(ibv_post_srq_recv(rv_srq(base)->ibv, &recv, &bad));
}
