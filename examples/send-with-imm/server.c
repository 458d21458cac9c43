/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- receive a message that carries a number beside its bytes
 */

#include <arpa/inet.h>

#include "common/steps.h"

int main(int argc, char **argv)
{
	char text[64];
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_RECV, &mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_recv(req, mr, 0, sizeof(text), NULL));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	await_start(conn);

	struct ibv_wc wc = take(cq_of(conn));
	printf("server: %u bytes: %.*s\n", wc.byte_len, (int)wc.byte_len, text);
	if (wc.wc_flags & IBV_WC_WITH_IMM)
		printf("server: with the number %u\n", ntohl(wc.imm_data));
	await_end(&conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
