/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- write, and ask the server by a message to make it durable
 */

#include "common/steps.h"
#include "flush-by-message/ask.h"

struct client {
	char text[20];
	struct ask ask;
	struct answer answer;
};

int main(int argc, char **argv)
{
	static const char *const texts[] = { "first piece", "second piece" };
	struct client c = { 0 };
	struct rpma_mr_local *mr;

	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, &c, sizeof(c),
		RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *dst = described(conn);

	for (uint64_t i = 0; i < 2; i++) {
		snprintf(c.text, sizeof(c.text), "%s", texts[i]);
		c.ask = (struct ask){ .offset = 5000 * i, .len = sizeof(c.text) };
		must(rpma_recv(conn, mr, offsetof(struct client, answer), sizeof(c.answer), NULL));
		must(rpma_write(conn, dst, c.ask.offset, mr, offsetof(struct client, text),
			c.ask.len, RPMA_F_COMPLETION_ON_ERROR, NULL));
		must(rpma_send(conn, mr, offsetof(struct client, ask), sizeof(c.ask),
			RPMA_F_COMPLETION_ALWAYS, NULL));
		/* Of the send, and of the receive of the answer. */
		take(cq_of(conn));
		take(cq_of(conn));
		if (c.answer.error)
			quit("client: the server: %s\n", strerror((int)c.answer.error));
		printf("client: durable: %s\n", c.text);
	}

	must(rpma_mr_remote_delete(&dst));
	leave(&conn);
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
