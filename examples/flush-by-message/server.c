/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- make durable what a client has written when it asks for it
 *
 * "General purpose persistence method": for memory that nothing but the server itself
 * can make durable. Every flush costs a message each way and a wake-up of this
 * process, which rpma_flush() does without.
 */

#include "common/steps.h"
#include "flush-by-message/ask.h"

enum { SIZE = 1 << 20 };

struct server {
	char *mem;
	struct ask ask;
	struct answer answer;
};

static int64_t save(const struct server *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = s->ask.offset & ~(page - 1);

	/* A number from outside is judged before it is used. */
	if (s->ask.offset > SIZE || s->ask.len > SIZE - s->ask.offset)
		return EINVAL;
	return msync(s->mem + start, s->ask.offset + s->ask.len - start, MS_SYNC) ? errno : 0;
}

int main(int argc, char **argv)
{
	struct server s;
	struct rpma_mr_local *mr, *in, *out;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	char desc[32];

	if (argc != 4)
		quit("usage: server ADDR PORT FILE\n");
	s.mem = map_target(argv[3], SIZE);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, s.mem, SIZE, RPMA_MR_USAGE_WRITE_DST, &mr));
	must(rpma_mr_reg(peer, &s.ask, sizeof(s.ask), RPMA_MR_USAGE_RECV, &in));
	must(rpma_mr_reg(peer, &s.answer, sizeof(s.answer), RPMA_MR_USAGE_SEND, &out));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_recv(req, in, 0, sizeof(s.ask), NULL));
	must(rpma_conn_req_connect(&req, &offer, &conn));
	await_start(conn);

	for (int done = 0; done < 2; done++) {
		/* A message comes after the writes before it: they are in place. */
		take(cq_of(conn));
		s.answer.error = save(&s);
		printf("server: saved %d bytes: %.20s\n", (int)s.ask.len, s.mem + s.ask.offset);
		must(rpma_recv(conn, in, 0, sizeof(s.ask), NULL));
		must(rpma_send(conn, out, 0, sizeof(s.answer), RPMA_F_COMPLETION_ON_ERROR, NULL));
	}
	await_end(&conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&out));
	must(rpma_mr_dereg(&in));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
