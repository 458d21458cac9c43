/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* atomic.c -- rpma_write_atomic(): data, flush, then the pointer that makes them valid */

#include "old.h"

static void last_is(struct rpma_conn *conn, const void *context)
{
	struct rpma_completion c;
	int ret;

	do {
		must(rpma_conn_completion_wait(conn));
		ret = rpma_conn_completion_get(conn, &c);
	} while (ret == RPMA_E_NO_COMPLETION);
	must(ret);
	require(c.op_status == IBV_WC_SUCCESS);
	require(c.op == RPMA_OP_WRITE);
	require(c.op_context == context);
}

static void client(struct end *e)
{
	memcpy(e->mem, "the data", 8);
	memcpy(e->mem + 13, "pointer", 8); /* any address will do for the source */
	require(rpma_write_atomic(e->conn, e->far, 68, e->mr, 13, 3, e) == RPMA_E_INVAL);
	require(rpma_write_atomic(e->conn, e->far, 64, e->mr, 13, 0, e) == RPMA_E_INVAL);
	require(rpma_write_atomic(e->conn, e->far, 64, NULL, 13, 3, e) == RPMA_E_INVAL);

	must(rpma_write(e->conn, e->far, 0, e->mr, 0, 8, RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_flush(e->conn, e->far, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_write_atomic(e->conn, e->far, 64, e->mr, 13, RPMA_F_COMPLETION_ALWAYS, e));
	last_is(e->conn, e);
	/* The server looks when this has come. */
	must(rpma_send(e->conn, NULL, 0, 0, RPMA_F_COMPLETION_ON_ERROR, NULL));
}

static void server(struct end *e)
{
	struct rpma_completion c;
	int ret;

	do {
		must(rpma_conn_completion_wait(e->conn));
		ret = rpma_conn_completion_get(e->conn, &c);
	} while (ret == RPMA_E_NO_COMPLETION);
	must(ret);
	require(c.op_status == IBV_WC_SUCCESS);
	require(!memcmp(e->mem, "the data", 8));
	require(!memcmp(e->mem + 64, "pointer", 8));
	require(e->mem[63] == 0 && e->mem[72] == 0);
}

int main(void)
{
	return run(client, server, 0);
}
