/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* flush_file.c -- persistent flushes of mapped files */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define FILE_SIZE ((size_t)1 << 20)

/* What was flushed is in the file for whoever reads it by other means. */
static void write_and_flush_file(struct pair *p, struct region *file, int fd)
{
	struct region src;
	char *got = malloc(FILE_SIZE);

	assert_non_null(got);
	region_open(&src, p->side[CLIENT].peer, FILE_SIZE, USAGE_ALL);
	fill(src.data, FILE_SIZE, 8);
	for (uint64_t i = 0; i < 40; i++) {
		size_t off = i * 26001, len = i == 39 ? FILE_SIZE - off : 1 + i * 700;
		struct xfer x = {
			.by = &p->side[CLIENT],
			.local = &src,
			.local_off = off,
			.remote = file,
			.remote_off = off,
			.len = len,
			.flags = RPMA_F_COMPLETION_ON_ERROR,
			.ctx = CTX(i),
		};

		op_post(&ops[OP_WRITE], &x);
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		op_post(&ops[OP_FLUSH_PERSISTENT], &x);
		expect_done(x.by, CTX(i));
		assert_int_equal(pread(fd, got, len, (off_t)off), len);
		assert_memory_equal(got, src.data + off, len);
	}
	region_close(&src);
	free(got);
}

static void with_file(int fd)
{
	struct region file = { .size = FILE_SIZE };
	struct rpma_peer_cfg *pcfg = NULL;
	struct pair p;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)FILE_SIZE), 0);
	file.data = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file.data, MAP_FAILED);
	pair_open(&p, NULL);
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_conn_apply_remote_peer_cfg(p.side[CLIENT].conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	assert_ok(rpma_mr_reg(p.side[SERVER].peer, file.data, FILE_SIZE,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &file.mr));
	file.remote = remote_of(file.mr);
	write_and_flush_file(&p, &file, fd);
	assert_ok(rpma_mr_remote_delete(&file.remote));
	assert_ok(rpma_mr_dereg(&file.mr));
	pair_close(&p);
	munmap(file.data, FILE_SIZE);
	close(fd);
}

static void ordinary_file(void **state)
{
	char name[] = "conform-flush-XXXXXX";
	int fd;

	(void)state;
	require_trait(any_file);
	fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	with_file(fd);
}

static void file_in_memory(void **state)
{
	(void)state;
	require_trait(any_file);
	with_file(memfd_create("conform-flush", MFD_CLOEXEC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_file),
		cmocka_unit_test(file_in_memory),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-flush-file", tests, NULL, NULL);
}
