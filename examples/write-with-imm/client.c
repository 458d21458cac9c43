/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT OFFSET -- write into the memory of a server and tell it where
 */

#include "common/steps.h"

int main(int argc, char **argv)
{
	static char text[] = "look what I have written";
	struct rpma_mr_local *src;

	if (argc != 4)
		quit("usage: client ADDR PORT OFFSET\n");
	uint32_t at = (uint32_t)strtoul(argv[3], NULL, 10);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_WRITE_SRC, &src));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *dst = described(conn);
	must(rpma_write_with_imm(
		conn, dst, at, src, 0, strlen(text), RPMA_F_COMPLETION_ALWAYS, at, NULL));
	take(cq_of(conn));
	printf("client: written\n");

	must(rpma_mr_remote_delete(&dst));
	leave(&conn);
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
