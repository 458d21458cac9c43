/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * post.c -- requests and receives: to the device, and back from it
 */

#include <arpa/inet.h>
#include <stdlib.h>

#include "verbs/verbs.h"

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

/* How many elements a request without data has. On InfiniBand none, as 0 bytes in one
 * are 2^31 to some; on iWARP one, as siw takes no receive without and reads what it
 * finds in the place of the element for a read. */
static int no_data(const struct rp_pd *pd)
{
	return rv_is_iwarp(pd->dev->context);
}

static int post_on(const struct rv_conn *conn, const struct rp_send_wr *wr)
{
	struct ibv_qp *qp = conn->cm.id->qp;
	bool data = wr->mr || wr->flags & RP_WR_INLINE;
	struct ibv_sge sge = {
		.addr = wr->addr,
		.length = (uint32_t)wr->length,
		.lkey = wr->mr ? rv_mr(wr->mr)->ibv->lkey : 0,
	};
	struct ibv_send_wr send = {
		.wr_id = wr->wr_id,
		.sg_list = &sge,
		.num_sge = data ? 1 : no_data(conn->base.pd),
		.send_flags = send_flags(wr->flags),
		.imm_data = htonl(wr->imm),
		.wr.rdma = { .remote_addr = wr->remote_addr, .rkey = wr->rkey },
	};
	struct ibv_send_wr *bad;

	if (wr->opcode >= sizeof(opcodes) / sizeof(opcodes[0]))
		return rv_post_native(qp, wr);
	send.opcode = wr->flags & RP_WR_IMM ? opcodes[wr->opcode].imm : opcodes[wr->opcode].plain;
	return -abs(ibv_post_send(qp, &send, &bad));
}

/* Needs sends->lock. */
static void take_slot(struct rv_sends *sends, bool signaled)
{
	if (sends->used == sends->size)
		return; /* broken */
	sends->signaled[(sends->first + sends->used++) % sends->size] = signaled;
}

int rv_post_send(struct rp_conn *base, const struct rp_send_wr *wr)
{
	struct rv_conn *conn = rv_conn(base);
	struct rv_sends *sends = &conn->sends;
	int ret = -ENOMEM;

	if (!atomic_load_explicit(&conn->sendable, memory_order_acquire))
		return -EINVAL;
	pthread_mutex_lock(&sends->lock);
	if (sends->used < sends->size || sends->broken)
		ret = post_on(conn, wr);
	if (!ret)
		take_slot(sends, wr->flags & RP_WR_SIGNALED);
	pthread_mutex_unlock(&sends->lock);
	return ret;
}

/* The oldest signaled request has been polled, and with it those before it. */
static void free_slots(struct rv_sends *sends)
{
	bool signaled = false;

	pthread_mutex_lock(&sends->lock);
	while (sends->used > 0 && !signaled) {
		signaled = sends->signaled[sends->first];
		sends->first = (sends->first + 1) % sends->size;
		sends->used--;
	}
	pthread_mutex_unlock(&sends->lock);
}

static void give_up(struct rv_cq *cq)
{
	if (cq->sends) {
		pthread_mutex_lock(&cq->sends->lock);
		cq->sends->broken = true;
		pthread_mutex_unlock(&cq->sends->lock);
	}
	if (cq->recvs)
		atomic_store(&cq->recvs->broken, true);
}

void rv_polled(struct rv_cq *cq, const struct ibv_wc *wc)
{
	/* of one that failed nothing else is known */
	if (wc->status != IBV_WC_SUCCESS)
		give_up(cq);
	else if (!(wc->opcode & IBV_WC_RECV) && cq->sends)
		free_slots(cq->sends);
	else if (wc->opcode & IBV_WC_RECV && cq->recvs)
		atomic_fetch_sub(&cq->recvs->used, 1);
}

static struct ibv_recv_wr recv_wr(
	const struct rp_pd *pd, const struct rp_recv_wr *wr, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){
		.addr = wr->addr,
		.length = (uint32_t)wr->length,
		.lkey = wr->mr ? rv_mr(wr->mr)->ibv->lkey : 0,
	};
	return (struct ibv_recv_wr){
		.wr_id = wr->wr_id,
		.sg_list = sge,
		.num_sge = wr->mr ? 1 : no_data(pd),
	};
}

int rv_post_recv(struct rp_conn *base, const struct rp_recv_wr *wr)
{
	struct rv_conn *conn = rv_conn(base);
	struct rv_recvs *recvs = &conn->recvs;
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, recv = recv_wr(base->pd, wr, &sge);
	int ret = -ENOMEM;

	if (conn->has_srq)
		return -EINVAL;
	if (atomic_fetch_add(&recvs->used, 1) < recvs->size || atomic_load(&recvs->broken))
		ret = -abs(ibv_post_recv(conn->cm.id->qp, &recv, &bad));
	if (ret)
		atomic_fetch_sub(&recvs->used, 1);
	return ret;
}

int rv_srq_post_recv(struct rp_srq *base, const struct rp_recv_wr *wr)
{
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, recv = recv_wr(base->pd, wr, &sge);

	return -abs(ibv_post_srq_recv(rv_srq(base)->ibv, &recv, &bad));
}
