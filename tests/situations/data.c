/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* data.c -- situations of bytes: descriptors, atoms, flushed ranges, immediates */

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_thread.h"

#define SIZE 4096

/* ---- B26 ------------------------------------------------------------------- */

enum { ATOMS = 20000 };

static uint64_t atom(uint32_t n)
{
	return (uint64_t)n << 32 | ~n;
}

/* Looks at the eight bytes all the time: their halves always belong together. */
static void *watch_atom(void *arg)
{
	const _Atomic uint64_t *at = arg;
	uint64_t v;

	do {
		v = atomic_load_explicit(at, memory_order_relaxed);
		assert_true(v == 0 || (uint32_t)(v >> 32) == ~(uint32_t)v);
	} while (v != atom(ATOMS));
	return NULL;
}

static void b26_atomic_write_is_never_torn(void **state)
{
	struct field f;
	pthread_t t;

	(void)state;
	require_trait(atomic_write);
	field_open(&f, NULL, SIZE);
	t = thread_start(watch_atom, f.mem[SERVER].data + 64);
	for (uint32_t n = 1; n <= ATOMS; n++) {
		uint64_t v = atom(n);

		assert_ok(rpma_atomic_write(f.pair.side[CLIENT].conn, f.mem[SERVER].remote, 64,
			(const char *)&v, RPMA_F_COMPLETION_ALWAYS, CTX(n)));
		expect_done(&f.pair.side[CLIENT], CTX(n));
	}
	thread_join(t);
	field_close(&f);
}

static void try_atomic(struct net *n, size_t base, size_t off, enum ibv_wc_status status)
{
	struct rpma_mr_local *mr = NULL;
	struct rpma_mr_remote *remote;
	struct field f;

	field_connect(&f, n, NULL, SIZE);
	assert_ok(rpma_mr_reg(n->peer[SERVER], f.mem[SERVER].data + base, 256, USAGE_ALL, &mr));
	remote = remote_of(mr);
	assert_ok(rpma_atomic_write(f.pair.side[CLIENT].conn, remote, off, "ABCDEFGH",
		RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	if (status == IBV_WC_SUCCESS) {
		expect_done(&f.pair.side[CLIENT], CTX(1));
		assert_memory_equal(f.mem[SERVER].data + base + off, "ABCDEFGH", 8);
	} else {
		expect_failed(&f.pair.side[CLIENT], CTX(1), status);
		assert_all(f.mem[SERVER].data, SIZE, 0);
	}
	assert_ok(rpma_mr_remote_delete(&remote));
	assert_ok(rpma_mr_dereg(&mr));
	field_drop(&f);
}

static void b26_atomic_write_where_it_cannot_be(void **state)
{
	struct field f;
	struct net n;

	(void)state;
	require_trait(atomic_write);
	net_open(&n);
	field_connect(&f, &n, NULL, SIZE);
	assert_rpma(RPMA_E_INVAL, rpma_atomic_write(f.pair.side[CLIENT].conn, f.mem[SERVER].remote,
					  3, "ABCDEFGH", RPMA_F_COMPLETION_ALWAYS, NULL));
	field_close(&f);
	try_atomic(&n, 0, 0, IBV_WC_SUCCESS);
	try_atomic(&n, 4, 0, IBV_WC_REM_OP_ERR); /* the address counts, not the offset */
	try_atomic(&n, 4, 8, IBV_WC_REM_OP_ERR);
	try_atomic(&n, 0, 248, IBV_WC_SUCCESS);
	try_atomic(&n, 0, 256, IBV_WC_REM_ACCESS_ERR);
	try_atomic(&n, 0, UINT64_MAX - 7, IBV_WC_REM_ACCESS_ERR);
	net_close(&n);
}

/* ---- B27, B28 -------------------------------------------------------------- */

static void b27_descriptor_at_any_address(void **state)
{
	struct field f;
	char buf[DESC_SIZE + 8];

	(void)state;
	field_open(&f, NULL, SIZE);
	for (int off = 0; off < 8; off++) {
		struct rpma_mr_remote *mr = NULL;
		size_t size = 0;

		assert_ok(rpma_mr_get_descriptor(f.mem[SERVER].mr, buf + off));
		assert_ok(rpma_mr_remote_from_descriptor(buf + off, DESC_SIZE, &mr));
		assert_ok(rpma_mr_remote_get_size(mr, &size));
		assert_int_equal(size, SIZE);
		assert_ok(rpma_mr_remote_delete(&mr));
	}
	field_close(&f);
}

/* Random descriptors are refused, or lead to an error at the other side. */
static void b28_random_descriptors(void **state)
{
	const size_t lens[] = { 0, 1, DESC_SIZE - 1, DESC_SIZE, DESC_SIZE + 1, 121 };
	uint8_t bytes[128] = { 0 };
	unsigned seed = 28;
	struct net n;
	int used = 0;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 100000; i++) {
		size_t len = lens[i % ARRAY_LEN(lens)];
		struct rpma_mr_remote *mr = NULL;
		struct ibv_wc wc;
		struct field f;
		int ret;

		for (size_t k = 0; k < len; k++)
			bytes[k] = (uint8_t)(rand_r(&seed) >> 8);
		ret = rpma_mr_remote_from_descriptor(bytes, len, &mr);
		if (len < DESC_SIZE)
			assert_int_equal(ret, RPMA_E_INVAL);
		assert_true(ret == 0 || ret == RPMA_E_INVAL || ret == RPMA_E_NOSUPP);
		if (ret == 0 && used < 50) {
			used++;
			field_connect(&f, &n, NULL, SIZE);
			assert_ok(rpma_write(f.pair.side[CLIENT].conn, mr, 0, f.mem[CLIENT].mr, 0,
				8, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
			if (traits()->acknowledged)
				expect_failed(&f.pair.side[CLIENT], CTX(1), IBV_WC_REM_ACCESS_ERR);
			else
				next_wc(&f.pair.side[CLIENT], f.pair.side[CLIENT].cq, &wc);
			field_drop(&f);
		}
		assert_ok(rpma_mr_remote_delete(&mr));
	}
	net_close(&n);
}

/* ---- B62 ------------------------------------------------------------------- */

/* The library's calls come here: what it makes durable. */
static struct {
	atomic_int calls;
	_Atomic uintptr_t from;
	_Atomic size_t len;
} synced;

__attribute__((visibility("default"))) int msync(void *addr, size_t len, int flags)
{
	atomic_fetch_add(&synced.calls, 1);
	atomic_store(&synced.from, (uintptr_t)addr);
	atomic_store(&synced.len, len);
	return (int)syscall(SYS_msync, addr, len, flags);
}

static void flush_range(struct field *f, size_t off, size_t len, const char *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = off / page * page;

	atomic_store(&synced.calls, 0);
	assert_ok(rpma_flush(f->pair.side[CLIENT].conn, f->mem[SERVER].remote, off, len,
		RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, CTX(off)));
	expect_done(&f->pair.side[CLIENT], CTX(off));
	if (len == 0) {
		assert_int_equal(atomic_load(&synced.calls), 0);
		return;
	}
	assert_int_equal(atomic_load(&synced.calls), 1);
	assert_int_equal(atomic_load(&synced.from), (uintptr_t)map + from);
	assert_int_equal(
		(atomic_load(&synced.len) + page - 1) / page, (off + len - from + page - 1) / page);
}

static void b62_exactly_the_asked_range_is_made_durable(void **state)
{
	const size_t size = 16 << 20;
	FILE *file = tmpfile();
	struct rpma_mr_local *mr = NULL;
	struct field f;
	char *map;

	(void)state;
	require_trait(any_file);
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)size), 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	field_open(&f, NULL, SIZE);
	assert_ok(rpma_mr_reg(f.pair.side[SERVER].peer, map, size, USAGE_ALL, &mr));
	assert_ok(rpma_mr_remote_delete(&f.mem[SERVER].remote));
	f.mem[SERVER].remote = remote_of(mr);
	for (int i = 0; i < 2; i++) {
		struct xfer x = field_xfer(&f, CLIENT, 100, CTX(i));

		x.remote_off = i ? size - 100 : 0;
		op_post(&ops[OP_WRITE], &x);
		expect_done(&f.pair.side[CLIENT], CTX(i));
	}
	flush_range(&f, 0, 100, map);
	flush_range(&f, size - 100, 100, map);
	flush_range(&f, 4095, 2, map);
	flush_range(&f, 8192, 4096, map);
	flush_range(&f, 0, size, map);
	flush_range(&f, 123, 0, map);
	assert_ok(rpma_mr_dereg(&mr));
	field_close(&f);
	munmap(map, size);
	fclose(file);
}

/* ---- B64 ------------------------------------------------------------------- */

static void b64_immediate_data_as_it_was_given(void **state)
{
	const uint32_t imms[] = { 0, 1, 0x12345678, UINT32_MAX };
	const size_t lens[] = { 0, 1, SIZE };
	struct field f;

	(void)state;
	require_trait(immediate);
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < ARRAY_LEN(imms) * ARRAY_LEN(lens) * 2; i++) {
		bool write = i % 2;
		struct xfer x = field_xfer(&f, CLIENT, lens[i / 2 % ARRAY_LEN(lens)], CTX(i));
		struct ibv_wc wc;

		x.imm = imms[i / 2 / ARRAY_LEN(lens)];
		fill(f.mem[CLIENT].data, SIZE, i);
		if (i % 4 < 2) /* the receive is there before, or comes after */
			post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, CTX(7));
		op_post(&ops[write ? OP_WRITE_IMM : OP_SEND_IMM], &x);
		if (i % 4 >= 2)
			post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, CTX(7));
		wc = expect_recv(&f.pair.side[SERVER], CTX(7));
		assert_int_equal(wc.opcode, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
		assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
		assert_int_equal(ntohl(wc.imm_data), x.imm);
		assert_int_equal(wc.byte_len, x.len);
		assert_filled(f.mem[SERVER].data, x.len, i);
		expect_done(&f.pair.side[CLIENT], CTX(i));
	}
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b26_atomic_write_is_never_torn),
		cmocka_unit_test(b26_atomic_write_where_it_cannot_be),
		cmocka_unit_test(b27_descriptor_at_any_address),
		cmocka_unit_test(b28_random_descriptors),
		cmocka_unit_test(b62_exactly_the_asked_range_is_made_durable),
		cmocka_unit_test(b64_immediate_data_as_it_was_given),
	};

	test_init();
	threads_init();
	return cmocka_run_group_tests_name("situations-data", tests, NULL, NULL);
}
