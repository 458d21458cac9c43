/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- many clients, one shared receive queue
 *
 * The receives belong to the queue, and what is received is told by the queue's own
 * completion queue: with DEPTH buffers and one place to wait this serves any number
 * of clients. Who has sent a message is told by the number of its queue pair.
 */

#include "common/steps.h"

enum { DEPTH = 4, SIZE = 32, MOST = 16 };

struct server {
	struct rpma_conn *conns[MOST];
	size_t count;
	struct rpma_mr_local *mr;
	char messages[DEPTH][SIZE];
};

static struct rpma_conn *conn_of(struct server *s, uint32_t qp_num)
{
	uint32_t number;

	for (size_t i = 0; i < s->count; i++) {
		must(rpma_conn_get_qp_num(s->conns[i], &number));
		if (number == qp_num)
			return s->conns[i];
	}
	quit("server: nobody has sent that\n");
}

static void post(struct server *s, struct rpma_srq *srq, size_t slot)
{
	must(rpma_srq_recv(
		srq, s->mr, offsetof(struct server, messages[slot]), SIZE, (void *)slot));
}

/* Answer one message by the same text, to whom it came from. */
static void answer(struct server *s, struct rpma_srq *srq)
{
	struct rpma_cq *rcq;

	must(rpma_srq_get_rcq(srq, &rcq));
	struct ibv_wc wc = take(rcq);
	struct rpma_conn *conn = conn_of(s, wc.qp_num);
	printf("server: %.*s\n", (int)wc.byte_len, s->messages[wc.wr_id]);
	must(rpma_send(conn, s->mr, offsetof(struct server, messages[wc.wr_id]), wc.byte_len,
		RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	post(s, srq, wc.wr_id);
}

int main(int argc, char **argv)
{
	static struct server s;
	struct rpma_srq_cfg *srq_cfg;
	struct rpma_srq *srq;
	struct rpma_conn_cfg *cfg;

	if (argc != 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST)
		quit("usage: server ADDR PORT COUNT, at most %d\n", MOST);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, &s, sizeof(s), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &s.mr));
	must(rpma_srq_cfg_new(&srq_cfg));
	must(rpma_srq_cfg_set_rq_size(srq_cfg, DEPTH));
	must(rpma_srq_cfg_set_rcq_size(srq_cfg, DEPTH));
	must(rpma_srq_new(peer, srq_cfg, &srq));
	must(rpma_srq_cfg_delete(&srq_cfg));
	for (size_t slot = 0; slot < DEPTH; slot++)
		post(&s, srq, slot);
	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_srq(cfg, srq));

	struct rpma_ep *ep = listen_at(peer, argv);
	while (s.count < (size_t)atoi(argv[3]))
		s.conns[s.count++] = admit(ep, cfg, NULL);
	for (size_t i = 0; i < 2 * s.count; i++)
		answer(&s, srq);
	for (size_t i = 0; i < s.count; i++)
		await_end(&s.conns[i]);

	must(rpma_ep_shutdown(&ep));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_srq_delete(&srq)); /* after the connections that use it */
	must(rpma_mr_dereg(&s.mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
