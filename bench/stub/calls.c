/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * calls.c -- one call of the library TIMES times, over the stub, to be counted
 *
 * To be run under callgrind, which collects inside that call only. Which librpma is
 * counted is for LD_LIBRARY_PATH to say, so nothing newer than 1.2 is called here.
 * What is posted is polled at once, so that the queues never fill.
 */

#include "common/common.h"
#include "lib/bench.h"

enum { TIMES = 1000, SIZE = 64 };

struct setting {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
};

static struct setting open_setting(void)
{
	static char mem[SIZE];
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct rpma_conn_req *req;
	struct rpma_peer *peer;
	struct setting s;
	enum rpma_conn_event event;
	char desc[64];
	size_t len;

	must(rpma_peer_new(ibv_open_device(devices[0]), &peer));
	must(rpma_mr_reg(peer, mem, SIZE,
		RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
		&s.mr));
	must(rpma_mr_get_descriptor_size(s.mr, &len));
	must(rpma_mr_get_descriptor(s.mr, desc));
	must(rpma_mr_remote_from_descriptor(desc, len, &s.remote));
	must(rpma_conn_req_new(peer, "192.0.2.1", "7204", NULL, &req));
	must(rpma_conn_req_connect(&req, NULL, &s.conn));
	must(rpma_conn_next_event(s.conn, &event));
	if (event != RPMA_CONN_ESTABLISHED)
		die("the stub does not connect");
	must(rpma_conn_get_cq(s.conn, &s.cq));
	return s;
}

static int post(const struct setting *s, const char *name)
{
	const int flags = RPMA_F_COMPLETION_ALWAYS;

	if (!strcmp(name, "read"))
		return rpma_read(s->conn, s->mr, 0, s->remote, 0, SIZE, flags, NULL);
	if (!strcmp(name, "write"))
		return rpma_write(s->conn, s->remote, 0, s->mr, 0, SIZE, flags, NULL);
	if (!strcmp(name, "write_with_imm"))
		return rpma_write_with_imm(s->conn, s->remote, 0, s->mr, 0, SIZE, flags, 1, NULL);
	if (!strcmp(name, "atomic_write"))
		return rpma_atomic_write(s->conn, s->remote, 0, "8 bytes", flags, NULL);
	if (!strcmp(name, "flush"))
		return rpma_flush(
			s->conn, s->remote, 0, SIZE, RPMA_FLUSH_TYPE_VISIBILITY, flags, NULL);
	if (!strcmp(name, "send"))
		return rpma_send(s->conn, s->mr, 0, SIZE, flags, NULL);
	if (!strcmp(name, "send_with_imm"))
		return rpma_send_with_imm(s->conn, s->mr, 0, SIZE, flags, 1, NULL);
	if (!strcmp(name, "recv"))
		return rpma_recv(s->conn, s->mr, 0, SIZE, NULL);
	if (!strcmp(name, "nothing"))
		return 0;
	die("'%s' is nothing that can be posted", name);
}

/* The stub does not touch the completion: what it says is said here. */
static int take(const struct setting *s, const char *name)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .qp_num = 1 };
	int ret;

	wc.opcode = strcmp(name, "recv") ? IBV_WC_SEND : IBV_WC_RECV;
	ret = rpma_cq_get_wc(s->cq, 1, &wc, NULL);
	return ret == RPMA_E_NO_COMPLETION && !strcmp(name, "nothing") ? 0 : ret;
}

int main(int argc, char **argv)
{
	struct setting s;

	if (argc != 2)
		die("usage: calls "
		    "read|write|write_with_imm|atomic_write|flush|send|send_with_imm|recv|"
		    "nothing");
	s = open_setting();
	for (int i = 0; i < TIMES; i++) {
		must_be_zero(post(&s, argv[1]), argv[1]);
		must_be_zero(take(&s, argv[1]), "rpma_cq_get_wc");
	}
	printf("times %d\n", TIMES);
	return 0;
}
