/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- keep a journal for two clients, one after the other
 */

#include "atomic-write/journal.h"
#include "common/steps.h"

int main(int argc, char **argv)
{
	struct rpma_mr_local *mr;
	char desc[32];

	if (argc != 4)
		quit("usage: server ADDR PORT FILE\n");
	struct journal *journal = map_target(argv[3], sizeof(*journal));
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, journal, sizeof(*journal),
		RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
		&mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	for (int i = 0; i < 2; i++) {
		struct rpma_conn *conn = admit(ep, NULL, &offer);
		await_end(&conn);
		printf("server: %d bytes: %.*s\n", (int)journal->used, (int)journal->used,
			journal->text);
	}

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
