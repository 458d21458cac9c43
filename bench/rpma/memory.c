/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory.c -- pages of a file made durable, and the registration of a large one
 */

#include "rpma/rpma.h"

enum { PAGE = 4096, PAGES = 1024 };

/* A page of its own for each request under way. */
static void post_page(
	const struct link *l, struct rpma_mr_local *mr, char *pages, uint64_t i, unsigned depth)
{
	size_t from = i % depth * PAGE, to = i % PAGES * PAGE;

	memset(pages + from, (int)i, PAGE);
	must(rpma_write(l->conn, l->dst, to, mr, from, PAGE, RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_flush(l->conn, l->dst, to, PAGE, RPMA_FLUSH_TYPE_PERSISTENT,
		RPMA_F_COMPLETION_ALWAYS, NULL));
}

void durable(char **argv)
{
	struct target target = target_start(TARGET_BLOCK, PAGE * PAGES, 1, argv[0]);
	unsigned depth = (unsigned)strtoul(argv[1], NULL, 10);
	int64_t ns = ns_of(argv[2]);
	struct rpma_peer *peer = peer_open();
	struct link l = link_open(peer, target.port, 0, 2 * depth);
	char *pages = anonymous((size_t)depth * PAGE);
	struct samples s = { 0 };
	struct rpma_mr_local *mr;
	uint64_t posted = 0;

	must(rpma_mr_reg(peer, pages, (size_t)depth * PAGE, RPMA_MR_USAGE_WRITE_SRC, &mr));
	target_up(&target);
	samples_begin(&s);
	for (int64_t t = s.start; t < s.start + ns; t = samples_add(&s, t)) {
		while (posted < s.count + depth)
			post_page(&l, mr, pages, posted++, depth);
		while (!link_done(&l)) /* several may come at once, with one event */
			must(rpma_cq_wait(l.cq));
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
