/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- let a client write to a file, and save the file
 *
 * This client only writes. To make it durable is left to the server, who does so
 * when the client has gone. (flush-to-persistent does without its help.)
 */

#include "common/steps.h"

enum { SIZE = 1 << 20 };

int main(int argc, char **argv)
{
	struct rpma_mr_local *mr;
	char desc[32];

	if (argc != 4)
		quit("usage: server ADDR PORT FILE\n");
	char *mem = map_target(argv[3], SIZE);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	/* READ_SRC: the client reads back to learn that its writes have arrived. */
	must(rpma_mr_reg(peer, mem, SIZE, RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC, &mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	struct rpma_conn *conn = admit(ep, NULL, &offer);
	await_end(&conn);
	if (msync(mem, SIZE, MS_SYNC))
		quit("msync: %s\n", strerror(errno));
	printf("server: saved: %.60s\n", mem);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
