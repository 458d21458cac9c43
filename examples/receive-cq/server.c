/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- double numbers, with a completion queue for receives only
 *
 * What comes in is told by one queue, what went out by the other: a thread of its own
 * could wait for each. Here one waits for both in turn.
 */

#include "common/steps.h"

enum { QUESTION, ANSWER };

int main(int argc, char **argv)
{
	uint64_t numbers[2];
	struct rpma_mr_local *mr;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *rcq;

	if (argc != 4)
		quit("usage: server ADDR PORT COUNT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(
		peer, numbers, sizeof(numbers), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));
	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_rcq_size(cfg, 1)); /* 0, the default: no such queue */
	must(rpma_conn_cfg_set_rq_size(cfg, 1));
	struct rpma_ep *ep = listen_at(peer, argv);
	must(rpma_ep_next_conn_req(ep, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_conn_req_recv(req, mr, 0, 8, NULL));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	await_start(conn);

	must(rpma_conn_get_rcq(conn, &rcq));
	for (uint64_t left = strtoull(argv[3], NULL, 10); left > 0; left--) {
		take(rcq);
		numbers[ANSWER] = 2 * numbers[QUESTION];
		must(rpma_recv(conn, mr, 0, 8, NULL));
		must(rpma_send(conn, mr, 8, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
		take(cq_of(conn));
	}
	await_end(&conn);
	printf("server: the client has gone\n");

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
