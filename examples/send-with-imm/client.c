/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT NUMBER -- send a message and a number of 32 bits beside it
 *
 * The number is given in the byte order of the host; the other side gets it in the
 * byte order of the network, whence its ntohl().
 */

#include "common/steps.h"

int main(int argc, char **argv)
{
	static char text[] = "message number";
	struct rpma_mr_local *mr;

	if (argc != 4)
		quit("usage: client ADDR PORT NUMBER\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_SEND, &mr));
	struct rpma_conn *conn = join(peer, argv, NULL);
	must(rpma_send_with_imm(conn, mr, 0, strlen(text), RPMA_F_COMPLETION_ALWAYS,
		(uint32_t)strtoul(argv[3], NULL, 10), NULL));
	take(cq_of(conn));
	printf("client: sent\n");

	leave(&conn);
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
