/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT TEXT -- append a text to the journal of a server
 *
 * An atomic write stores 8 aligned bytes at once, after everything posted before
 * it: so the four requests of an append need no wait between them.
 */

#include "atomic-write/journal.h"
#include "common/steps.h"

static void append(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src,
	uint64_t used, size_t len)
{
	char new_used[8];
	uint64_t sum = used + len;
	size_t at = offsetof(struct journal, text) + used;

	memcpy(new_used, &sum, sizeof(new_used));
	must(rpma_write(conn, dst, at, src, 0, len, RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_flush(
		conn, dst, at, len, RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_atomic_write(conn, dst, offsetof(struct journal, used), new_used,
		RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_flush(conn, dst, offsetof(struct journal, used), sizeof(sum),
		RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, NULL));
}

int main(int argc, char **argv)
{
	uint64_t used;
	struct rpma_mr_local *src, *in;

	if (argc != 4 || !*argv[3])
		quit("usage: client ADDR PORT TEXT\n");
	size_t len = strlen(argv[3]);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, argv[3], len, RPMA_MR_USAGE_WRITE_SRC, &src));
	must(rpma_mr_reg(peer, &used, sizeof(used), RPMA_MR_USAGE_READ_DST, &in));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *dst = described(conn);

	must(rpma_read(conn, in, 0, dst, offsetof(struct journal, used), sizeof(used),
		RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	printf("client: %d bytes are used\n", (int)used);
	if (used > sizeof(((struct journal *)NULL)->text) - len)
		quit("client: the journal is full\n");
	append(conn, dst, src, used, len);
	take(cq_of(conn));
	printf("client: appended %zu bytes, durably\n", len);

	must(rpma_mr_remote_delete(&dst));
	leave(&conn);
	must(rpma_mr_dereg(&in));
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
