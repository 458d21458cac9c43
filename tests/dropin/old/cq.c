/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* cq.c -- rpma_cq_get_completion() on the queues of a connection */

#include "old.h"

static struct rpma_completion next(struct rpma_cq *cq)
{
	struct rpma_completion c;
	int ret;

	memset(&c, 0, sizeof(c));
	do {
		must(rpma_cq_wait(cq));
		ret = rpma_cq_get_completion(cq, &c);
	} while (ret == RPMA_E_NO_COMPLETION);
	must(ret);
	return c;
}

static void client(struct end *e)
{
	struct rpma_completion c = { .byte_len = 77 };
	struct rpma_cq *cq = NULL;

	must(rpma_conn_get_cq(e->conn, &cq));
	require(rpma_cq_get_completion(cq, &c) == RPMA_E_NO_COMPLETION);
	require(c.byte_len == 77);
	must(rpma_write_with_imm(
		e->conn, e->far, 0, e->mr, 0, 10, RPMA_F_COMPLETION_ALWAYS, IMM, e));
	c = next(cq);
	require(c.op_status == IBV_WC_SUCCESS);
	require(c.op == RPMA_OP_WRITE);
	require(c.op_context == e);

	/* Beyond the region: of an operation that failed only two fields are said. */
	must(rpma_write(e->conn, e->far, SIZE, e->mr, 0, 10, RPMA_F_COMPLETION_ON_ERROR, &cq));
	must(rpma_read(e->conn, e->mr, 0, e->far, 0, 10, RPMA_F_COMPLETION_ALWAYS, e));
	c = next(cq);
	require(c.op_status != IBV_WC_SUCCESS);
	require(c.op_context == &cq || c.op_context == e);
	require(c.byte_len == 0);
	e->broken = true;
}

static void server(struct end *e)
{
	struct rpma_completion c;
	struct rpma_cq *rcq = NULL;

	must(rpma_conn_get_rcq(e->conn, &rcq));
	require(rcq != NULL);
	c = next(rcq);
	require(c.op_status == IBV_WC_SUCCESS);
	require(c.op == RPMA_OP_RECV_RDMA_WITH_IMM);
	require(c.op_context == e->mem);
	require(c.byte_len == 10);
	require(c.flags & IBV_WC_WITH_IMM);
	require(c.imm == IMM);
	next_event_is(e, RPMA_CONN_LOST);
	e->broken = true;
}

int main(void)
{
	return run(client, server, 1);
}
