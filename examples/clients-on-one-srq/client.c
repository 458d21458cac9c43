/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT COUNT -- COUNT clients in one process
 *
 * Each sends two messages and expects them back, before the next one has its turn.
 */

#include "common/steps.h"

enum { SIZE = 32, MOST = 16 };

struct client {
	struct rpma_mr_local *mr;
	char question[SIZE];
	char answer[SIZE];
};

static void ask(struct client *c, struct rpma_conn *conn, size_t who)
{
	int len = snprintf(c->question, SIZE, "client %zu is here", who);

	must(rpma_recv(conn, c->mr, offsetof(struct client, answer), SIZE, NULL));
	must(rpma_send(conn, c->mr, offsetof(struct client, question), (size_t)len,
		RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	take(cq_of(conn));
	if (memcmp(c->question, c->answer, (size_t)len))
		quit("client: asked %s, got %.*s\n", c->question, SIZE, c->answer);
	printf("client: %zu has its answer\n", who);
}

int main(int argc, char **argv)
{
	static struct client c;
	struct rpma_conn *conns[MOST];

	if (argc != 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST)
		quit("usage: client ADDR PORT COUNT, at most %d\n", MOST);
	size_t count = (size_t)atoi(argv[3]);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, &c, sizeof(c), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &c.mr));
	for (size_t i = 0; i < count; i++)
		conns[i] = join(peer, argv, NULL);
	for (size_t i = 0; i < 2 * count; i++)
		ask(&c, conns[i % count], i % count + 1);
	for (size_t i = 0; i < count; i++)
		leave(&conns[i]);
	must(rpma_mr_dereg(&c.mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
