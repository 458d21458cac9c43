/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- offer a table of numbers to be read
 */

#include "common/steps.h"

enum { NUMBERS = 1 << 20 };

int main(int argc, char **argv)
{
	static uint32_t squares[NUMBERS];
	struct rpma_mr_local *mr;
	char desc[32];

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	for (uint32_t i = 0; i < NUMBERS; i++)
		squares[i] = i * i;
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, squares, sizeof(squares), RPMA_MR_USAGE_READ_SRC, &mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	struct rpma_conn *conn = admit(ep, NULL, &offer);
	await_end(&conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
