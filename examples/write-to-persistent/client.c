/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- write into the memory of a server, and see it arrive
 *
 * On an adapter the completion of a write says that the other adapter has the bytes,
 * not that they are in memory. A read comes after the writes before it: when it
 * has completed they are in place (and visible, not yet durable).
 */

#include "common/steps.h"

enum { PART = 64 << 10, PARTS = 8 };

int main(int argc, char **argv)
{
	static char text[PARTS * PART] = "written from afar, in eight parts";
	uint64_t back;
	struct rpma_mr_local *src, *check;

	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	memset(text + sizeof(text) - sizeof(back), '.', sizeof(back));
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_WRITE_SRC, &src));
	must(rpma_mr_reg(peer, &back, sizeof(back), RPMA_MR_USAGE_READ_DST, &check));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *dst = described(conn);

	/* Nobody asks for these completions, so only a failure would show. */
	for (size_t i = 0; i < PARTS; i++)
		must(rpma_write(conn, dst, i * PART, src, i * PART, PART,
			RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_read(conn, check, 0, dst, sizeof(text) - sizeof(back), sizeof(back),
		RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	printf("client: %d parts are in place, the last ends with %.8s\n", PARTS, (char *)&back);

	must(rpma_mr_remote_delete(&dst));
	leave(&conn);
	must(rpma_mr_dereg(&check));
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
