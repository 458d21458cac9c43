/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * flush.c -- Flush, from a peer that has agreed to it: item 87
 *
 * This program's own msync() stands before the system's, so that it knows when and
 * of what the library asks for durability, and can hold it up.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned calls;
	bool held;
	uintptr_t addr; /* of the last call */
	size_t len;
	struct {
		uintptr_t addr;
		size_t len;
	} call[8];
} sync_log = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

__attribute__((visibility("default"))) int msync(void *addr, size_t len, int flags)
{
	pthread_mutex_lock(&sync_log.lock);
	sync_log.addr = (uintptr_t)addr;
	sync_log.len = len;
	sync_log.call[sync_log.calls % 8].addr = sync_log.addr;
	sync_log.call[sync_log.calls++ % 8].len = len;
	pthread_cond_broadcast(&sync_log.changed);
	while (sync_log.held)
		pthread_cond_wait(&sync_log.changed, &sync_log.lock);
	pthread_mutex_unlock(&sync_log.lock);
	return (int)syscall(SYS_msync, addr, len, flags);
}

static void hold(bool held)
{
	pthread_mutex_lock(&sync_log.lock);
	sync_log.held = held;
	if (held)
		sync_log.calls = 0;
	pthread_cond_broadcast(&sync_log.changed);
	pthread_mutex_unlock(&sync_log.lock);
}

static void wait_for_call(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += test_timeout_ms() / 1000;
	pthread_mutex_lock(&sync_log.lock);
	while (sync_log.calls == 0)
		if (pthread_cond_timedwait(&sync_log.changed, &sync_log.lock, &until))
			fail_msg("the library makes nothing durable");
	pthread_mutex_unlock(&sync_log.lock);
}

#define FLUSH "41 4c 00000000 00000001 %4 00000000 %4 %4 %8 %4"
#define FLUSH_RESP "41 4d 00000000 00000003 %4 00000000"

enum { PERSISTENT = 1, VISIBLE = 2 };

static const struct rig_opts own = { .own = true };

/* A file, registered with the library under test */
struct file {
	char *map;
	size_t size;
	struct rpma_mr_local *mr;
};

static void file_open(struct file *f, struct rig *g)
{
	char path[] = "./wire-flush.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	f->size = 1 << 20;
	assert_int_equal(ftruncate(fd, (off_t)f->size), 0);
	f->map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(f->map, MAP_FAILED);
	close(fd);
	assert_ok(rpma_mr_reg(g->side.peer, f->map, f->size, USAGE_ALL, &f->mr));
}

static void file_close(struct file *f)
{
	assert_ok(rpma_mr_dereg(&f->mr));
	munmap(f->map, f->size);
}

/* No answer, nor one to what was asked later, before the range is durable; Writes
 * go on meanwhile. */
static void item_087_answered_when_durable(void **state)
{
	struct file f;
	struct rig g;

	rig_open(&g, state, &own);
	file_open(&f, &g);
	hold(true);
	raw_fpdu(&g.raw, "c1 40 %4 %8 68656c6c6f", stag_of(f.mr), to_of(f.mr) + 5000);
	raw_fpdu(&g.raw, FLUSH, 1, stag_of(f.mr), 5, to_of(f.mr) + 5000, PERSISTENT);
	raw_fpdu(&g.raw,
		"41 41 00000000 00000001 00000002 00000000 00000001 0000000000000001"
		"00000005 %4 %8",
		stag_of(f.mr), to_of(f.mr) + 5000);
	raw_fpdu(&g.raw, FLUSH, 3, stag_of(f.mr), 5, to_of(f.mr), VISIBLE);
	post_recv(&g.side, NULL, 0, CTX(1));
	raw_fpdu(&g.raw, "41 43 00000000 00000000 00000001 00000000");
	expect_recv(&g.side, CTX(1));
	wait_for_call();
	raw_expect_quiet(&g.raw);
	assert_memory_equal(f.map + 5000, "hello", 5);
	assert_true(sync_log.addr <= to_of(f.mr) + 5000);
	assert_true(sync_log.addr >= to_of(f.mr) + 4096);
	assert_true(sync_log.addr + sync_log.len >= to_of(f.mr) + 5005);
	assert_true(sync_log.addr + sync_log.len <= to_of(f.mr) + 8192);
	hold(false);
	raw_expect_fpdu(&g.raw, FLUSH_RESP, 1);
	raw_expect_fpdu(&g.raw, "c1 42 00000001 0000000000000001 68656c6c6f");
	raw_expect_fpdu(&g.raw, FLUSH_RESP, 2);
	assert_int_equal(sync_log.calls, 1);
	file_close(&f);
	rig_close(&g);
}

static void check_call(unsigned i, const struct file *f, size_t off, size_t len)
{
	assert_int_equal(sync_log.call[i].addr, to_of(f->mr) + off);
	assert_int_equal(sync_log.call[i].len, len);
}

/* Flushes that have come while another one lasts are done at once, those that
 * continue each other; the answers go in order, and after it. */
static void item_087_those_of_a_log_together(void **state)
{
	static const struct {
		uint32_t len;
		size_t off;
	} flush[] = { { 10, 0 }, { 4096, 4096 }, { 4096, 8192 }, { 10, 5000 }, { 1, 40960 } };
	struct file f;
	struct rig g;

	rig_open(&g, state, &own);
	file_open(&f, &g);
	hold(true);
	for (uint32_t i = 0; i < ARRAY_LEN(flush); i++) {
		raw_fpdu(&g.raw, FLUSH, i + 1, stag_of(f.mr), flush[i].len,
			to_of(f.mr) + flush[i].off, PERSISTENT);
		if (i == 0)
			wait_for_call();
	}
	post_recv(&g.side, NULL, 0, CTX(1));
	raw_fpdu(&g.raw, "41 43 00000000 00000000 00000001 00000000");
	expect_recv(&g.side, CTX(1));
	raw_expect_quiet(&g.raw);
	hold(false);
	for (uint32_t i = 0; i < ARRAY_LEN(flush); i++)
		raw_expect_fpdu(&g.raw, FLUSH_RESP, i + 1);
	assert_int_equal(sync_log.calls, 3);
	check_call(0, &f, 0, 10);
	check_call(1, &f, 4096, 8192);
	check_call(2, &f, 40960, 1);
	file_close(&f);
	rig_close(&g);
}

/* One that may not be is not done with those before it, which are answered. */
static void item_087_not_together_with_a_bad_one(void **state)
{
	struct file f, other;
	struct rig g;

	rig_open(&g, state, &own);
	file_open(&f, &g);
	file_open(&other, &g);
	hold(true);
	raw_fpdu(&g.raw, FLUSH, 1, stag_of(f.mr), 4096, to_of(f.mr), PERSISTENT);
	wait_for_call();
	raw_fpdu(&g.raw, FLUSH, 2, stag_of(f.mr), 4096, to_of(f.mr) + 4096, PERSISTENT);
	raw_fpdu(&g.raw, FLUSH, 3, stag_of(other.mr), 4096, to_of(other.mr), PERSISTENT);
	raw_sync(&g.raw);
	file_close(&other); /* while it waits for its turn */
	hold(false);
	raw_expect_fpdu(&g.raw, FLUSH_RESP, 1);
	raw_expect_fpdu(&g.raw, FLUSH_RESP, 2);
	rig_ends(&g, "01 00", TERM_DDP);
	assert_int_equal(sync_log.calls, 2);
	check_call(1, &f, 4096, 4096);
	file_close(&f);
	rig_drop(&g);
}

static void item_087_more_than_agreed(void **state)
{
	struct file f;
	struct rig g;

	rig_open(&g, state, &own);
	file_open(&f, &g);
	hold(true);
	for (uint32_t msn = 1; msn <= 17; msn++)
		raw_fpdu(&g.raw, FLUSH, msn, stag_of(f.mr), 1, to_of(f.mr), PERSISTENT);
	raw_sync(&g.raw);
	raw_expect_quiet(&g.raw);
	hold(false);
	for (uint32_t msn = 1; msn <= 16; msn++)
		raw_expect_fpdu(&g.raw, FLUSH_RESP, msn);
	rig_ends(&g, "12 02", TERM_DDP);
	file_close(&f);
	rig_drop(&g);
}

static void item_087_empty_flush_of_anything(void **state)
{
	struct rig g;

	rig_open(&g, state, &own);
	raw_fpdu(&g.raw, FLUSH, 1, 0xdeadbeef, 0, UINT64_MAX, PERSISTENT);
	raw_expect_fpdu(&g.raw, FLUSH_RESP, 1);
	rig_close(&g);
}

static void bad_flush(void **state, int usage, uint32_t flags, uint32_t flip, uint64_t off,
	uint32_t len, const char *triple)
{
	struct rig_opts o = { .own = true, .usage = usage };
	struct rig g;

	rig_open(&g, state, &o);
	raw_fpdu(&g.raw, FLUSH, 1, g.stag ^ flip, len, g.to + off, flags);
	rig_dies(&g, triple, TERM_DDP);
}

static void item_087_flush_not_allowed(void **state)
{
	for (uint32_t flags = PERSISTENT; flags <= VISIBLE; flags++) {
		int right = flags == PERSISTENT ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
						: RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

		bad_flush(state, USAGE_ALL, flags, 0x100, 0, 8, "01 00");
		bad_flush(state, USAGE_ALL, flags, 0, (uint64_t)-1, 8, "01 01");
		bad_flush(state, USAGE_ALL, flags, 0, 4090, 8, "01 01");
		bad_flush(state, USAGE_ALL, flags, 0, 0, 4097, "01 01");
		bad_flush(state, USAGE_ALL, flags, 0, 1, UINT32_MAX, "01 01");
		bad_flush(state, USAGE_ALL & ~right, flags, 0, 0, 8, "01 02");
	}
}

static void item_087_flush_of_another_domain(void **state)
{
	struct region other;
	struct rig g;

	rig_open(&g, state, &own);
	region_open(&other, g.net.peer[g.role == RESPONDER ? CLIENT : SERVER], 64, USAGE_ALL);
	raw_fpdu(&g.raw, FLUSH, 1, stag_of(other.mr), 8, to_of(other.mr), PERSISTENT);
	rig_ends(&g, "01 03", TERM_DDP);
	region_close(&other);
	rig_drop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_087_answered_when_durable),
		BOTH(item_087_those_of_a_log_together),
		BOTH(item_087_not_together_with_a_bad_one),
		BOTH(item_087_more_than_agreed),
		BOTH(item_087_empty_flush_of_anything),
		BOTH(item_087_flush_not_allowed),
		BOTH(item_087_flush_of_another_domain),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-flush", tests, NULL, NULL);
}
