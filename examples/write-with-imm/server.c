/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- be told of a write by the number that comes with it
 *
 * A plain write goes unnoticed here. One with a number also consumes a receive, whose
 * completion says that the data is in place; nothing is put where the receive points.
 */

#include <arpa/inet.h>

#include "common/steps.h"

int main(int argc, char **argv)
{
	static char mem[4096];
	char unused[1];
	struct rpma_mr_local *mr, *in;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	char desc[32];

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, mem, sizeof(mem), RPMA_MR_USAGE_WRITE_DST, &mr));
	must(rpma_mr_reg(peer, unused, sizeof(unused), RPMA_MR_USAGE_RECV, &in));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_recv(req, in, 0, sizeof(unused), NULL));
	must(rpma_conn_req_connect(&req, &offer, &conn));
	await_start(conn);

	struct ibv_wc wc = take(cq_of(conn));
	if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(wc.wc_flags & IBV_WC_WITH_IMM))
		quit("server: that is something else\n");
	uint32_t at = ntohl(wc.imm_data);
	if (at >= sizeof(mem))
		quit("server: %u is outside\n", at);
	printf("server: %u bytes were written at %u: %.*s\n", wc.byte_len, at, (int)wc.byte_len,
		mem + at);
	await_end(&conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&in));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
