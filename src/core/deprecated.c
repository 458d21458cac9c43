/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * deprecated.c -- completions as release 0.10 had them
 *
 * The fifth call of that release, rpma_write_atomic(), is in op.c.
 */

#include <arpa/inet.h>

#include "base/log.h"
#include "core/core.h"

/* Opcodes of newer verbs headers; their names would clash there. */
enum {
	OPCODE_FLUSH = 8,
	OPCODE_ATOMIC_WRITE = 9,
};

/* A flush is a read for the programs of that time, which knew no other. */
static int op_from_opcode(int opcode, enum rpma_op *op)
{
	switch (opcode) {
	case IBV_WC_RDMA_READ:
	case OPCODE_FLUSH:
		*op = RPMA_OP_READ;
		return 0;
	case IBV_WC_RDMA_WRITE:
	case OPCODE_ATOMIC_WRITE:
		*op = RPMA_OP_WRITE;
		return 0;
	case IBV_WC_SEND:
		*op = RPMA_OP_SEND;
		return 0;
	case IBV_WC_RECV:
		*op = RPMA_OP_RECV;
		return 0;
	case IBV_WC_RECV_RDMA_WITH_IMM:
		*op = RPMA_OP_RECV_RDMA_WITH_IMM;
		return 0;
	default:
		rp_log_error("completion with unknown opcode %d", opcode);
		return RPMA_E_NOSUPP;
	}
}

static bool is_receive(enum rpma_op op)
{
	return op == RPMA_OP_RECV || op == RPMA_OP_RECV_RDMA_WITH_IMM;
}

/* Fields are written as far as they are known: the first two always, the others
 * only of an operation that succeeded. */
static int get_completion(struct rpma_cq *cq, struct rpma_completion *cmpl)
{
	struct ibv_wc wc = { 0 };
	int got, ret;

	ret = core_cq_get_wc(cq, 1, &wc, &got);
	if (ret)
		return ret;

	cmpl->op_context = (void *)(uintptr_t)wc.wr_id;
	cmpl->op_status = wc.status;
	if (wc.status != IBV_WC_SUCCESS) {
		rp_log_warning("operation failed, status %d", wc.status);
		return 0;
	}
	ret = op_from_opcode(wc.opcode, &cmpl->op);
	if (ret)
		return ret;
	cmpl->byte_len = wc.byte_len;
	cmpl->flags = wc.wc_flags;
	if (is_receive(cmpl->op) && (wc.wc_flags & IBV_WC_WITH_IMM))
		cmpl->imm = ntohl(wc.imm_data);
	return 0;
}

int rpma_cq_get_completion(struct rpma_cq *cq, struct rpma_completion *cmpl)
{
	if (!cq || !cmpl)
		return RPMA_E_INVAL;

	return get_completion(cq, cmpl);
}

int rpma_conn_completion_get(struct rpma_conn *conn, struct rpma_completion *cmpl)
{
	if (!conn || !cmpl)
		return RPMA_E_INVAL;

	return get_completion(conn->cq, cmpl);
}

int rpma_conn_completion_wait(struct rpma_conn *conn)
{
	return conn ? core_cq_wait(conn->cq) : RPMA_E_INVAL;
}

int rpma_conn_get_completion_fd(const struct rpma_conn *conn, int *fd)
{
	if (!conn || !fd)
		return RPMA_E_INVAL;

	*fd = conn->cq->channel->fd;
	return 0;
}
