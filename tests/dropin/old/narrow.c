/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* narrow.c -- a completion as 0.9 knew it: 24 bytes, and no byte behind them is written */

#include "old.h"

struct narrow {
	void *op_context;
	enum rpma_op op;
	uint32_t byte_len;
	enum ibv_wc_status op_status;
};

static void client(struct end *e)
{
	must(rpma_send_with_imm(e->conn, e->mr, 0, 33, RPMA_F_COMPLETION_ON_ERROR, IMM, NULL));
}

static void server(struct end *e)
{
	union {
		struct narrow narrow;
		char bytes[sizeof(struct rpma_completion)];
	} c;
	int ret;

	memset(&c, 0x5a, sizeof(c));
	do {
		must(rpma_conn_completion_wait(e->conn));
		ret = rpma_conn_completion_get(e->conn, (struct rpma_completion *)&c);
	} while (ret == RPMA_E_NO_COMPLETION);
	must(ret);
	require(c.narrow.op_status == IBV_WC_SUCCESS);
	require(c.narrow.op == RPMA_OP_RECV);
	require(c.narrow.op_context == e->mem);
	require(c.narrow.byte_len == 33);
	for (size_t i = sizeof(struct narrow); i < sizeof(c); i++)
		require(c.bytes[i] == 0x5a);
}

int main(void)
{
	return run(client, server, 0);
}
