/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- offer a text to be read
 *
 * The server takes no part in the read: it only waits for the client to go.
 */

#include "common/steps.h"

int main(int argc, char **argv)
{
	static char text[4096] = "a text that lies in the memory of the server";
	struct rpma_mr_local *mr;
	char desc[32];

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_READ_SRC, &mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	struct rpma_conn *conn = admit(ep, NULL, &offer);
	await_end(&conn);
	printf("server: the client has gone\n");

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
