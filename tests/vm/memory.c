/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory.c -- what can be registered, and what a persistent flush of it does
 *
 * Environment, beside that of pair_env.h
 *   RPMA_MEMORY_DISK	a directory of an ordinary file system on a disk
 *   RPMA_MEMORY_PMEM	one of a file system with DAX
 *   RPMA_MEMORY_DAX	a device of the kind /dev/dax0.0
 *   RPMA_VM_KERNEL	"6.1": the kernel lets devices keep pages of a file
 *   RPMA_VM_NATIVE	set: the device flushes by itself
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory_calls.h"
#include "pair_log.h"
#include "pair_ops.h"
#include "pair_wait.h"

/* A device of this kind, and huge pages, map in multiples of this only. */
#define SIZE ((size_t)2 << 20)
#define LEN ((size_t)10000)
#define OFFSET ((size_t)12345)

/* ---- what it says ------------------------------------------------------------ */

static char said[1024];

static void listen_to(const char *text)
{
	strncat(said, text, sizeof(said) - strlen(said) - 1);
}

static bool is_tcp(void)
{
	return strcmp(getenv("RPMA_PROVIDER"), "tcp") == 0;
}

/* ---- mappings ---------------------------------------------------------------- */

static void *map_shared(int fd, int flags)
{
	void *p;

	assert_true(fd >= 0);
	p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static int file_in(const char *dir)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s/memory-XXXXXX", dir);
	fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(posix_fallocate(fd, 0, SIZE), 0);
	return fd;
}

static const char *need(const char *variable)
{
	const char *value = getenv(variable);

	if (value == NULL) {
		print_message("%s is not set\n", variable);
		skip();
	}
	return value;
}

/* ---- what is expected -------------------------------------------------------- */

enum durable { BY_NOTHING, BY_MSYNC, BY_CPU };

/* HAVE_PMEM: the library is built with libpmem. */
#ifndef HAVE_PMEM
#define HAVE_PMEM 0
#endif
#define CPU_SAYS (HAVE_PMEM ? "CPU cache flush" : "built without libpmem")

struct kind {
	const char *says; /* of its persistent flush, in the log */
	enum durable durable;
	bool refused; /* by devices */
	bool no_msync;
};

static struct rpma_mr_local *reg(struct rpma_peer *peer, void *p, int usage, int expected)
{
	struct rpma_mr_local *mr = NULL;
	int ret;

	said[0] = '\0';
	ret = rpma_mr_reg(peer, p, SIZE, usage, &mr);
	if (said[0])
		print_message("%s\n", said);
	assert_rpma(expected, ret);
	return mr;
}

static void check_calls(const struct kind *k)
{
	print_message(
		"the flush: msync %d times, cache flush %d times\n", calls.msync, calls.persist);
	assert_int_equal(calls.partial, 0);
	if (!is_tcp() || k->durable == BY_NOTHING)
		assert_int_equal(calls.msync + calls.persist, 0);
	else if (k->durable == BY_MSYNC || !HAVE_PMEM)
		assert_true(calls.msync > 0 && calls.persist == 0);
	else
		assert_true(calls.msync == 0 && calls.persist > 0);
}

/* Write and flush; what was written is there. */
static bool use(struct pair *p, struct rpma_mr_local *mr, char *at, int op, const struct kind *k)
{
	struct region file = { .remote = remote_of(mr), .size = SIZE };
	struct region src;
	struct xfer x = {
		.by = &p->side[CLIENT],
		.local = &src,
		.remote = &file,
		.remote_off = OFFSET,
		.len = LEN,
		.flags = RPMA_F_COMPLETION_ON_ERROR,
		.ctx = CTX(1),
	};
	const bool fails = is_tcp() && k->no_msync && !HAVE_PMEM;

	region_open(&src, p->side[CLIENT].peer, LEN, RPMA_MR_USAGE_WRITE_SRC);
	fill(src.data, LEN, 1);
	memset(at, 0, SIZE);
	calls_watch(at + OFFSET, LEN);
	op_post(&ops[OP_WRITE], &x);
	x.flags = RPMA_F_COMPLETION_ALWAYS;
	op_post(&ops[op], &x);
	expect_status(x.by, CTX(1), fails ? IBV_WC_REM_OP_ERR : IBV_WC_SUCCESS);
	calls_watch(NULL, 0);
	assert_memory_equal(at + OFFSET, src.data, LEN);
	check_calls(k);
	region_close(&src);
	assert_ok(rpma_mr_remote_delete(&file.remote));
	return !fails;
}

static void declare_direct_write(struct pair *p)
{
	struct rpma_peer_cfg *pcfg = NULL;

	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_conn_apply_remote_peer_cfg(p->side[CLIENT].conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
}

static void with(void *map, const struct kind *k)
{
	/* a device that flushes by itself takes nothing else for a persistent flush */
	const bool persistent = !getenv("RPMA_VM_NATIVE") || is_tcp() || k->durable == BY_CPU;
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
			  (persistent ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
				      : RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	struct rpma_mr_local *mr;
	bool good = true;
	struct pair p;

	pair_open(&p, NULL);
	declare_direct_write(&p);
	if (!is_tcp() && k->refused) {
		reg(p.side[SERVER].peer, map, usage, RPMA_E_PROVIDER);
		assert_non_null(strstr(said, k->says));
	} else {
		mr = reg(p.side[SERVER].peer, map, usage, 0);
		if (is_tcp())
			assert_non_null(strstr(said, k->says));
		good = use(&p, mr, map, persistent ? OP_FLUSH_PERSISTENT : OP_FLUSH_VISIBILITY, k);
		assert_ok(rpma_mr_dereg(&mr));
	}
	if (good)
		pair_disconnect(&p);
	pair_drop(&p);
	munmap(map, SIZE);
}

/* ---- cases ------------------------------------------------------------------- */

static void anonymous_memory(void **state)
{
	const struct kind k = { "memory without a file", BY_NOTHING, false, false };

	(void)state;
	with(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), &k);
}

static void file_in_tmpfs(void **state)
{
	const struct kind k = { "msync; it will not survive", BY_MSYNC, false, false };
	int fd = file_in("/dev/shm");

	(void)state;
	with(map_shared(fd, MAP_SHARED), &k);
	close(fd);
}

static void huge_pages(void **state)
{
	const struct kind k = { "msync; it will not survive", BY_MSYNC, false, false };
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_HUGETLB);
	void *map;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		close(fd);
		print_message("there are no huge pages\n");
		skip();
	}
	with(map, &k);
	close(fd);
}

/* Newer kernels let no device keep pages that a file system writes back. */
static void ordinary_file(void **state)
{
	const char *kernel = getenv("RPMA_VM_KERNEL");
	const bool newer = kernel && strcmp(kernel, "6.1") != 0;
	const struct kind k = { is_tcp() ? "msync, /" : "mapping of a file", BY_MSYNC, newer,
		false };
	int fd = file_in(need("RPMA_MEMORY_DISK"));

	(void)state;
	with(map_shared(fd, MAP_SHARED), &k);
	close(fd);
}

static void dax_file(void **state)
{
	const struct kind k = {
		is_tcp() ? CPU_SAYS : "file on a DAX file system",
		BY_CPU,
		true,
		false,
	};
	int fd = file_in(need("RPMA_MEMORY_PMEM"));

	(void)state;
	with(map_shared(fd, MAP_SHARED_VALIDATE | MAP_SYNC), &k);
	close(fd);
}

/* Without MAP_SYNC the file system has not promised anything. */
static void dax_file_not_synchronous(void **state)
{
	const struct kind k = {
		is_tcp() ? "msync, /" : "file on a DAX file system",
		BY_MSYNC,
		true,
		false,
	};
	int fd = file_in(need("RPMA_MEMORY_PMEM"));

	(void)state;
	with(map_shared(fd, MAP_SHARED), &k);
	close(fd);
}

static void dax_device(void **state)
{
	const struct kind k = { CPU_SAYS, BY_CPU, false, true };
	int fd = open(need("RPMA_MEMORY_DAX"), O_RDWR | O_CLOEXEC);

	(void)state;
	with(map_shared(fd, MAP_SHARED), &k);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anonymous_memory),
		cmocka_unit_test(file_in_tmpfs),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(ordinary_file),
		cmocka_unit_test(dax_file),
		cmocka_unit_test(dax_file_not_synchronous),
		cmocka_unit_test(dax_device),
	};

	test_init();
	log_hear(RPMA_LOG_LEVEL_DEBUG, listen_to);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE);
	return cmocka_run_group_tests_name("vm-memory", tests, NULL, NULL);
}
