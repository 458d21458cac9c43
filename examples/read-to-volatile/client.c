/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- read the text that a server offers
 */

#include "common/steps.h"

int main(int argc, char **argv)
{
	struct rpma_mr_local *dst;
	char text[4096];
	size_t size;

	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_READ_DST, &dst));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *src = described(conn);
	must(rpma_mr_remote_get_size(src, &size));
	if (size > sizeof(text))
		quit("client: %zu bytes are too many\n", size);

	/* The bytes are there when the completion is, not when the call returns. */
	must(rpma_read(conn, dst, 0, src, 0, size, RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	printf("client: %zu bytes read: %.*s\n", size, (int)size, text);

	must(rpma_mr_remote_delete(&src));
	leave(&conn);
	must(rpma_mr_dereg(&dst));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
