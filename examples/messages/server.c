/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- double the numbers that a client sends
 */

#include "common/steps.h"

enum { QUESTION, ANSWER };

int main(int argc, char **argv)
{
	uint64_t numbers[2];
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	if (argc != 4)
		quit("usage: server ADDR PORT COUNT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(
		peer, numbers, sizeof(numbers), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));
	struct rpma_ep *ep = listen_at(peer, argv);

	/* Once connected the client sends at any time: the first receive is posted
	 * before. */
	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_recv(req, mr, 0, 8, NULL));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	await_start(conn);
	uint64_t count = strtoull(argv[3], NULL, 10), asked = 0, answered = 0;
	while (answered < count) {
		/* The next question may be received before we are told that the last
		 * answer has been sent: so each completion is looked at for what it is. */
		struct ibv_wc wc = take(cq_of(conn));
		if (wc.opcode != IBV_WC_RECV) {
			answered++;
			continue;
		}
		if (wc.byte_len != 8)
			quit("server: %u bytes are no question\n", wc.byte_len);
		/* A question comes only when the answer before has arrived: its place is free. */
		numbers[ANSWER] = 2 * numbers[QUESTION];
		if (++asked < count)
			must(rpma_recv(conn, mr, 0, 8, NULL));
		must(rpma_send(conn, mr, 8, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	}
	await_end(&conn);
	printf("server: the client has gone\n");

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
