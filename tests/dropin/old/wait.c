/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* wait.c -- rpma_conn_completion_wait() and rpma_conn_completion_get(), in two steps */

#include "old.h"

static struct rpma_completion next(struct rpma_conn *conn)
{
	struct rpma_completion c;
	int ret;

	memset(&c, 0, sizeof(c));
	do {
		must(rpma_conn_completion_wait(conn));
		ret = rpma_conn_completion_get(conn, &c);
	} while (ret == RPMA_E_NO_COMPLETION);
	must(ret);
	require(c.op_status == IBV_WC_SUCCESS);
	return c;
}

static void done(struct rpma_conn *conn, enum rpma_op op, const void *context)
{
	struct rpma_completion c = next(conn);

	require(c.op == op);
	require(c.op_context == context);
}

static void trust_the_server(struct rpma_conn *conn)
{
	struct rpma_peer_cfg *pcfg = NULL;

	must(rpma_peer_cfg_new(&pcfg));
	must(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	must(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	must(rpma_peer_cfg_delete(&pcfg));
}

static void client(struct end *e)
{
	static const char text[] = "written, flushed and read back";
	char *mark = e->mem; /* op_context is any pointer */

	trust_the_server(e->conn);
	strcpy(e->mem, text);
	must(rpma_write(e->conn, e->far, 0, e->mr, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, mark));
	done(e->conn, RPMA_OP_WRITE, mark);
	must(rpma_flush(e->conn, e->far, 0, SIZE / 2, RPMA_FLUSH_TYPE_PERSISTENT,
		RPMA_F_COMPLETION_ALWAYS, mark + 1));
	/* A flush is a read to these programs, and known by its context. */
	done(e->conn, RPMA_OP_READ, mark + 1);
	must(rpma_flush(e->conn, e->far, 0, SIZE / 2, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, mark + 2));
	done(e->conn, RPMA_OP_READ, mark + 2);
	must(rpma_read(
		e->conn, e->mr, SIZE / 2, e->far, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, mark + 3));
	done(e->conn, RPMA_OP_READ, mark + 3);
	require(!strcmp(e->mem + SIZE / 2, text));
	must(rpma_send_with_imm(e->conn, e->mr, 0, 100, RPMA_F_COMPLETION_ALWAYS, IMM, mark + 4));
	done(e->conn, RPMA_OP_SEND, mark + 4);
	require(rpma_conn_completion_get(e->conn, &(struct rpma_completion){ 0 }) ==
		RPMA_E_NO_COMPLETION);
}

static void server(struct end *e)
{
	struct rpma_completion c = next(e->conn);

	require(c.op == RPMA_OP_RECV);
	require(c.op_context == e->mem);
	require(c.byte_len == 100);
	require(c.flags & IBV_WC_WITH_IMM);
	require(c.imm == IMM); /* host order, unlike in struct ibv_wc */
}

int main(void)
{
	return run(client, server, 0);
}
