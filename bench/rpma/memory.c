/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory.c -- pages of a file made durable, and the registration of a large one
 */

#include "rpma/rpma.h"

enum { PAGE = 4096, PAGES = 1024 };

void durable(char **argv)
{
	static char page[PAGE];
	struct target target = target_start(TARGET_BLOCK, PAGE * PAGES, 1, argv[0]);
	int64_t ns = ns_of(argv[1]);
	struct rpma_peer *peer = peer_open();
	struct link l = link_open(peer, target.port, 0, 0);
	struct samples s = { 0 };
	struct rpma_mr_local *mr;

	must(rpma_mr_reg(peer, page, PAGE, RPMA_MR_USAGE_WRITE_SRC, &mr));
	target_up(&target);
	samples_begin(&s);
	for (int64_t t = s.start; t < s.start + ns; t = samples_add(&s, t)) {
		size_t at = s.count % PAGES * PAGE;

		memset(page, (int)s.count, sizeof(page));
		must(rpma_write(l.conn, l.dst, at, mr, 0, PAGE, RPMA_F_COMPLETION_ON_ERROR, NULL));
		must(rpma_flush(l.conn, l.dst, at, PAGE, RPMA_FLUSH_TYPE_PERSISTENT,
			RPMA_F_COMPLETION_ALWAYS, NULL));
		link_await(&l, false);
	}
	samples_tell(&s);
	target_end(&target);
}

/* A file of which nothing is there but the size. */
static void *sparse(const char *dir, size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/sparse.%d", dir, (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die("%s: %s", path, strerror(errno));
	unlink(path);
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (mem == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return mem;
}

void registration(char **argv)
{
	enum { TIMES = 100 };
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	size_t size = strtoull(argv[1], NULL, 10) << 30;
	void *mem = sparse(argv[0], size);
	struct rpma_peer *peer = peer_open();
	struct rpma_mr_local *mr[TIMES];
	struct samples s = { 0 };

	/* the memory of the samples is not to be counted */
	samples_begin(&s);
	uint64_t before = rss_of(getpid());
	for (int i = 0; i < TIMES; i++) {
		int64_t t = now_ns();

		must(rpma_mr_reg(peer, mem, size, usage, &mr[i]));
		samples_add(&s, t);
	}
	printf("each_bytes %.0f\n", (double)(rss_of(getpid()) - before) / TIMES);
	for (int i = 0; i < TIMES; i++)
		must(rpma_mr_dereg(&mr[i]));
	samples_tell(&s);
}
