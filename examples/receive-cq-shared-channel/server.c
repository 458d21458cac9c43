/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- double numbers, waiting for two completion queues at once
 *
 * The queue for receives and the other one share a channel, so that there is one
 * descriptor and one call to wait with: rpma_conn_wait() tells which of them has
 * something, and rpma_cq_wait() is not allowed.
 */

#include "common/steps.h"

enum { QUESTION, ANSWER };

struct server {
	uint64_t numbers[2];
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	uint64_t count;
	uint64_t received;
	uint64_t sent;
};

/* Take what there is: the channel tells again only of what comes later. */
static void serve(struct server *s, struct rpma_cq *cq, bool is_rcq)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0) {
		if (wc.status != IBV_WC_SUCCESS)
			quit("server: %s\n", ibv_wc_status_str(wc.status));
		if (!is_rcq) {
			s->sent++;
			continue;
		}
		/* A question comes only when the answer before has arrived: its place is free. */
		s->numbers[ANSWER] = 2 * s->numbers[QUESTION];
		/* One that nobody sends to would end with an error when the client goes. */
		if (++s->received < s->count)
			must(rpma_recv(s->conn, s->mr, 0, 8, NULL));
		must(rpma_send(s->conn, s->mr, 8, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	}
	if (ret != RPMA_E_NO_COMPLETION)
		must_be_zero(ret, "rpma_cq_get_wc");
}

int main(int argc, char **argv)
{
	struct server s = { 0 };
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_cq *cq;
	bool is_rcq;

	if (argc != 4)
		quit("usage: server ADDR PORT COUNT\n");
	s.count = strtoull(argv[3], NULL, 10);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, s.numbers, sizeof(s.numbers),
		RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &s.mr));
	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_rcq_size(cfg, 10));
	must(rpma_conn_cfg_set_compl_channel(cfg, true));
	struct rpma_ep *ep = listen_at(peer, argv);
	must(rpma_ep_next_conn_req(ep, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_conn_req_recv(req, s.mr, 0, 8, NULL));
	must(rpma_conn_req_connect(&req, NULL, &s.conn));
	await_start(s.conn);

	while (s.sent < s.count) {
		must(rpma_conn_wait(s.conn, 0, &cq, &is_rcq));
		serve(&s, cq, is_rcq);
	}
	printf("server: %d received, %d sent\n", (int)s.received, (int)s.sent);
	await_end(&s.conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&s.mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
