/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT COUNT -- several connections at once
 *
 * On each, in turn, the client sends the descriptor of a text; the server reads the
 * text and ends the connection. Also the client of multiple-connections-shared-channel.
 */

#include "common/steps.h"

enum { MOST = 16, SIZE = 64, DESC = 32 };

struct line {
	struct rpma_conn *conn;
	struct rpma_mr_local *text_mr;
	char text[SIZE];
	char desc[DESC];
};

int main(int argc, char **argv)
{
	static struct line lines[MOST];
	struct rpma_mr_local *out;

	if (argc != 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST)
		quit("usage: client ADDR PORT COUNT, at most %d\n", MOST);
	size_t count = (size_t)atoi(argv[3]);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, lines, sizeof(lines), RPMA_MR_USAGE_SEND, &out));
	for (size_t i = 0; i < count; i++) {
		snprintf(lines[i].text, SIZE, "text %zu", i + 1);
		must(rpma_mr_reg(
			peer, lines[i].text, SIZE, RPMA_MR_USAGE_READ_SRC, &lines[i].text_mr));
		describe(lines[i].text_mr, lines[i].desc);
		lines[i].conn = join(peer, argv, NULL);
	}
	printf("client: %zu connections are open\n", count);

	for (size_t i = 0; i < count; i++) {
		must(rpma_send(lines[i].conn, out,
			i * sizeof(struct line) + offsetof(struct line, desc), DESC,
			RPMA_F_COMPLETION_ON_ERROR, NULL));
		await_end(&lines[i].conn); /* the server ends it when it has the text */
		must(rpma_mr_dereg(&lines[i].text_mr));
	}
	must(rpma_mr_dereg(&out));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
