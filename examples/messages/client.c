/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT COUNT -- send numbers to a server and get their doubles back
 *
 * Each message needs a receive that is posted where it arrives: so the receive for
 * the answer is posted before the question is sent. The servers of messages-srq,
 * receive-cq and receive-cq-shared-channel answer this client as well; how the other
 * side receives is not seen from here.
 */

#include "common/steps.h"

enum { QUESTION, ANSWER };

int main(int argc, char **argv)
{
	uint64_t numbers[2];
	struct rpma_mr_local *mr;

	if (argc != 4)
		quit("usage: client ADDR PORT COUNT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(
		peer, numbers, sizeof(numbers), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));
	struct rpma_conn *conn = join(peer, argv, NULL);

	for (uint64_t i = 1; i <= strtoull(argv[3], NULL, 10); i++) {
		numbers[QUESTION] = i;
		must(rpma_recv(conn, mr, 8, 8, &numbers[ANSWER]));
		must(rpma_send(conn, mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, &numbers[QUESTION]));
		/* Two completions: of the send and of the receive, in any order. */
		for (int seen = 0; seen < 2; seen++) {
			struct ibv_wc wc = take(cq_of(conn));
			if (wc.opcode == IBV_WC_RECV && wc.byte_len != 8)
				quit("client: %u bytes are no answer\n", wc.byte_len);
		}
		printf("client: %d is answered by %d\n", (int)i, (int)numbers[ANSWER]);
	}

	leave(&conn);
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
