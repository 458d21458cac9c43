/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * request.c -- requests in one piece, see provider.h: what core has built in place,
 * and what is said when it cannot be posted
 */

#include "provider.h"

void rp_sq_get(const struct rp_sq *sq, struct rp_send_wr *wr)
{
	static const struct {
		enum rp_opcode opcode;
		unsigned flags;
	} known[] = {
		[IBV_WR_SEND] = { RP_OP_SEND, 0 },
		[IBV_WR_SEND_WITH_IMM] = { RP_OP_SEND, RP_WR_IMM },
		[IBV_WR_RDMA_WRITE] = { RP_OP_WRITE, 0 },
		[IBV_WR_RDMA_WRITE_WITH_IMM] = { RP_OP_WRITE, RP_WR_IMM },
		[IBV_WR_RDMA_READ] = { RP_OP_READ, 0 },
	};
	const enum ibv_wr_opcode opcode = sq->wr.opcode;

	*wr = (struct rp_send_wr){ .wr_id = sq->wr.wr_id, .flags = sq->wr.send_flags };
	if (opcode == RP_WR_FLUSH) {
		wr->opcode = RP_OP_FLUSH;
		wr->length = sq->flush.length;
		wr->flush_type = sq->flush.type;
	} else {
		wr->opcode =
			opcode == RP_WR_ATOMIC_WRITE ? RP_OP_ATOMIC_WRITE : known[opcode].opcode;
		wr->addr = sq->sge.addr;
		wr->length = sq->sge.length;
		wr->lkey = wr->flags & RP_WR_INLINE ? 0 : sq->sge.lkey;
		wr->flags |= opcode == RP_WR_ATOMIC_WRITE ? 0 : known[opcode].flags;
	}
	if (wr->flags & RP_WR_IMM)
		wr->imm = ntohl(sq->wr.imm_data);
	if (wr->opcode != RP_OP_SEND) {
		wr->remote_addr = sq->wr.wr.rdma.remote_addr;
		wr->rkey = sq->wr.wr.rdma.rkey;
	}
}

void rp_rq_get(const struct rp_rq *rq, struct rp_recv_wr *wr)
{
	*wr = (struct rp_recv_wr){
		.wr_id = rq->wr.wr_id,
		.addr = rq->sge.addr,
		.length = rq->sge.length,
		.lkey = rq->sge.lkey,
	};
}

int rp_send_failed(const struct rp_send_wr *wr, int err)
{
	static const char *const names[RP_OP_MAX] = {
		[RP_OP_SEND] = "send",
		[RP_OP_WRITE] = "write",
		[RP_OP_READ] = "read",
		[RP_OP_FLUSH] = "flush",
		[RP_OP_ATOMIC_WRITE] = "atomic write",
	};

	rp_log_error("cannot post a %s of %" PRIu64 " bytes, local address 0x%" PRIx64
		     ", remote address 0x%" PRIx64 ", key 0x%" PRIx32 ": %s",
		names[wr->opcode], wr->length, wr->addr, wr->remote_addr, wr->rkey,
		RP_STRERROR(-err));
	return RPMA_E_PROVIDER;
}

int rp_recv_failed(const struct rp_recv_wr *wr, int err)
{
	rp_log_error("cannot post a receive of %" PRIu32 " bytes, address 0x%" PRIx64 ": %s",
		wr->length, wr->addr, RP_STRERROR(-err));
	return RPMA_E_PROVIDER;
}
