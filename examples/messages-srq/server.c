/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- double numbers, with receives from a shared receive queue
 *
 * As in messages, but the receives are posted to the queue rather than to the
 * connection, and more than one at once: as many questions may arrive together as
 * there are receives, whoever asks. clients-on-one-srq has several who do.
 */

#include "common/steps.h"

enum { DEPTH = 4 };

/* A question and its answer; the place a receive is posted for is its op_context. */
struct place {
	uint64_t question;
	uint64_t answer;
};

static void post(struct rpma_srq *srq, struct rpma_mr_local *mr, struct place *places, size_t i)
{
	must(rpma_srq_recv(
		srq, mr, i * sizeof(*places) + offsetof(struct place, question), 8, &places[i]));
}

int main(int argc, char **argv)
{
	struct place places[DEPTH];
	struct rpma_mr_local *mr;
	struct rpma_srq_cfg *srq_cfg;
	struct rpma_srq *srq;
	struct rpma_conn_cfg *cfg;

	if (argc != 4)
		quit("usage: server ADDR PORT COUNT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(
		peer, places, sizeof(places), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));

	/* No completion queue of its own: what it receives is told by the connection's. */
	must(rpma_srq_cfg_new(&srq_cfg));
	must(rpma_srq_cfg_set_rq_size(srq_cfg, DEPTH));
	must(rpma_srq_cfg_set_rcq_size(srq_cfg, 0));
	must(rpma_srq_new(peer, srq_cfg, &srq));
	must(rpma_srq_cfg_delete(&srq_cfg));
	for (size_t i = 0; i < DEPTH; i++)
		post(srq, mr, places, i);

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_srq(cfg, srq));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn *conn = admit(ep, cfg, NULL);
	must(rpma_conn_cfg_delete(&cfg));
	for (uint64_t left = 2 * strtoull(argv[3], NULL, 10); left > 0; left--) {
		struct ibv_wc wc = take(cq_of(conn));
		struct place *place = (void *)(uintptr_t)wc.wr_id;
		size_t at = (size_t)(place - places);

		if (wc.opcode != IBV_WC_RECV) {
			post(srq, mr, places, at); /* the answer is sent, the place is free */
			continue;
		}
		place->answer = 2 * place->question;
		must(rpma_send(conn, mr, at * sizeof(*place) + offsetof(struct place, answer), 8,
			RPMA_F_COMPLETION_ALWAYS, place));
	}
	await_end(&conn);
	printf("server: the client has gone\n");

	must(rpma_ep_shutdown(&ep));
	must(rpma_srq_delete(&srq));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
