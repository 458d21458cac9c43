/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT FILE -- read what a server offers into a file
 *
 * The destination is the mapping of the file, so no copy is made here. It is this
 * process's own memory: making it durable is its own affair, msync() here, and
 * pmem_persist() of libpmem for persistent memory.
 */

#include "common/steps.h"

static uint32_t number_in(const char *path, off_t index)
{
	uint32_t number;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || pread(fd, &number, sizeof(number), index * 4) != sizeof(number))
		quit("%s: %s\n", path, strerror(errno));
	close(fd);
	return number;
}

int main(int argc, char **argv)
{
	struct rpma_mr_local *dst;
	size_t size;

	if (argc != 4)
		quit("usage: client ADDR PORT FILE\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *src = described(conn);
	must(rpma_mr_remote_get_size(src, &size));

	void *mem = map_target(argv[3], size);
	must(rpma_mr_reg(peer, mem, size, RPMA_MR_USAGE_READ_DST, &dst));
	must(rpma_read(conn, dst, 0, src, 0, size, RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(conn));
	if (msync(mem, size, MS_SYNC))
		quit("msync: %s\n", strerror(errno));
	printf("client: %zu bytes are in the file\n", size);
	printf("client: number 1000 there is %u\n", number_in(argv[3], 1000));

	must(rpma_mr_remote_delete(&src));
	leave(&conn);
	must(rpma_mr_dereg(&dst));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
