/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* memory.c -- registration: what memory, what is said of it */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE ((size_t)65536)

static struct rpma_peer *own_peer(void)
{
	return peer_at(test_addr(), RPMA_UTIL_IBV_CONTEXT_LOCAL);
}

static uint64_t le(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | p[bytes];
	return v;
}

/* ---- what is said -------------------------------------------------------- */

static void address_size_and_descriptor(void **state)
{
	struct rpma_peer *peer = own_peer();
	uint8_t bytes[1 + DESC_SIZE + 1];
	struct region r;
	size_t size = 0;
	void *ptr = NULL;

	(void)state;
	for (int usage = 1; usage < 0x100; usage <<= 1) {
		region_open(&r, peer, 777, usage);
		assert_ok(rpma_mr_get_ptr(r.mr, &ptr));
		assert_ptr_equal(ptr, r.data);
		assert_ok(rpma_mr_get_size(r.mr, &size));
		assert_int_equal(size, 777);
		assert_ok(rpma_mr_remote_get_size(r.remote, &size));
		assert_int_equal(size, 777);
		memset(bytes, 0xab, sizeof(bytes));
		desc_of(r.mr, bytes + 1);
		assert_int_equal(bytes[0], 0xab);
		assert_int_equal(bytes[1 + DESC_SIZE], 0xab);
		assert_int_equal(le(bytes + 1, 8), (uintptr_t)r.data);
		assert_int_equal(le(bytes + 9, 8), 777);
		assert_int_equal(bytes[21], usage);
		region_close(&r);
	}
	assert_ok(rpma_peer_delete(&peer));
}

static void no_usage_or_an_unknown_one(void **state)
{
	const int bad[] = { 0, 0x100, 0x1ff, -1, 1 << 30 };
	struct rpma_peer *peer = own_peer();
	struct rpma_mr_local *mr = NULL;
	static char memory[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_rpma(RPMA_E_INVAL, rpma_mr_reg(peer, memory, sizeof(memory), bad[i], &mr));
		assert_null(mr);
	}
	assert_rpma(RPMA_E_INVAL, rpma_mr_reg(peer, memory, 0, USAGE_ALL, &mr));
	assert_ok(rpma_peer_delete(&peer));
}

/* Advice is taken, or known not to be; nonsense is told from both. */
static void advice(void **state)
{
	struct rpma_peer *peer = own_peer();
	struct region r;
	int ret;

	(void)state;
	region_open(&r, peer, SIZE, USAGE_ALL);
	ret = rpma_mr_advise(
		r.mr, 0, SIZE, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH);
	assert_true(ret == 0 || ret == RPMA_E_NOSUPP);
	ret = rpma_mr_advise(r.mr, 4096, 1, IBV_ADVISE_MR_ADVICE_PREFETCH, 0);
	assert_true(ret == 0 || ret == RPMA_E_NOSUPP);
	ret = rpma_mr_advise(r.mr, 0, SIZE, 12345, 0);
	assert_true(ret == RPMA_E_INVAL || ret == RPMA_E_NOSUPP);
	ret = rpma_mr_advise(r.mr, SIZE, 1, IBV_ADVISE_MR_ADVICE_PREFETCH, 0);
	assert_true(ret == RPMA_E_INVAL || ret == RPMA_E_NOSUPP);
	region_close(&r);
	assert_ok(rpma_peer_delete(&peer));
}

/* ---- what memory --------------------------------------------------------- */

/* Data through memory of this kind, out of it and into it */
static void use_for_everything(void *p)
{
	struct region r = { .data = p, .size = SIZE };
	struct field f;

	field_open(&f, NULL, SIZE);
	assert_ok(rpma_mr_reg(f.pair.side[SERVER].peer, p, SIZE, USAGE_PLAIN, &r.mr));
	r.remote = remote_of(r.mr);
	for (int i = 0; i < 3; i++) {
		struct xfer x = field_xfer(&f, CLIENT, SIZE, CTX(i));

		x.remote = &r;
		fill(i == 1 ? r.data : x.local->data, SIZE, (uint64_t)i);
		if (i == 2)
			assert_ok(rpma_recv(f.pair.side[SERVER].conn, r.mr, 0, SIZE, CTX(9)));
		op_post(&ops[i == 0 ? OP_WRITE : i == 1 ? OP_READ : OP_SEND], &x);
		expect_done(x.by, CTX(i));
		arrive(x.by);
		assert_filled(i == 1 ? x.local->data : r.data, SIZE, (uint64_t)i);
	}
	expect_recv(&f.pair.side[SERVER], CTX(9));
	assert_ok(rpma_mr_remote_delete(&r.remote));
	assert_ok(rpma_mr_dereg(&r.mr));
	field_close(&f);
}

static void *map(int prot, int flags, int fd)
{
	void *p = mmap(NULL, SIZE, prot, flags, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void shared_anonymous(void **state)
{
	void *p = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	(void)state;
	use_for_everything(p);
	munmap(p, SIZE);
}

static void static_memory(void **state)
{
	static char memory[SIZE + 1];

	(void)state;
	use_for_everything(memory + 1);
}

static void private_file(void **state)
{
	int fd = memfd_create("conform-memory", MFD_CLOEXEC);
	void *p;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	use_for_everything(p);
	munmap(p, SIZE);
	close(fd);
}

/* Two mappings of the same pages, written through one, read through the other */
static void file_mapped_twice(void **state)
{
	int fd = memfd_create("conform-memory", MFD_CLOEXEC);
	char *p, *q;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	p = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	q = map(PROT_READ, MAP_SHARED, fd);
	use_for_everything(p);
	assert_memory_equal(p, q, SIZE);
	munmap(p, SIZE);
	munmap(q, SIZE);
	close(fd);
}

/* What can only be read may be a source, where the provider allows it at all. */
static void read_only_sources(void **state)
{
	const int usages[] = { RPMA_MR_USAGE_READ_SRC, RPMA_MR_USAGE_SEND };
	char *p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct field f;

	(void)state;
	fill(p, SIZE, 3);
	assert_int_equal(mprotect(p, SIZE, PROT_READ), 0);
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < ARRAY_LEN(usages); i++) {
		struct xfer x = field_xfer(&f, CLIENT, SIZE, CTX(i));
		struct region r = { .data = p, .size = SIZE };

		memset(f.mem[SERVER].data, 0, SIZE);
		if (rpma_mr_reg(f.pair.side[CLIENT].peer, p, SIZE, usages[i], &r.mr) != 0) {
			assert_false(traits()->any_file);
			continue;
		}
		r.remote = remote_of(r.mr);
		if (i == 0) {
			x = field_xfer(&f, SERVER, SIZE, CTX(i));
			x.remote = &r;
			op_post(&ops[OP_READ], &x);
		} else {
			x.local = &r;
			post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, CTX(7));
			op_post(&ops[OP_SEND], &x);
		}
		expect_done(x.by, CTX(i));
		if (i == 1)
			expect_recv(&f.pair.side[SERVER], CTX(7));
		assert_filled(f.mem[SERVER].data, SIZE, 3);
		assert_ok(rpma_mr_remote_delete(&r.remote));
		assert_ok(rpma_mr_dereg(&r.mr));
	}
	field_close(&f);
	munmap(p, SIZE);
}

/* ... but never a destination: that is found at registration. */
static void read_only_destinations(void **state)
{
	const int usages[] = {
		RPMA_MR_USAGE_WRITE_DST,
		RPMA_MR_USAGE_READ_DST,
		RPMA_MR_USAGE_RECV,
		USAGE_ALL,
	};
	char *p = map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct rpma_peer *peer = own_peer();
	struct rpma_mr_local *mr = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(usages); i++) {
		assert_rpma(RPMA_E_PROVIDER, rpma_mr_reg(peer, p, SIZE, usages[i], &mr));
		assert_null(mr);
	}
	assert_ok(rpma_peer_delete(&peer));
	munmap(p, SIZE);
}

/* Where there is nothing, or not for anybody, nothing can be registered. */
static void no_memory_at_all(void **state)
{
	char *p = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct rpma_peer *peer = own_peer();
	struct rpma_mr_local *mr = NULL;

	(void)state;
	assert_rpma(RPMA_E_PROVIDER, rpma_mr_reg(peer, p, SIZE, USAGE_ALL, &mr));
	assert_int_equal(mprotect(p, SIZE / 2, PROT_READ | PROT_WRITE), 0);
	assert_rpma(RPMA_E_PROVIDER, rpma_mr_reg(peer, p, SIZE, USAGE_ALL, &mr));
	assert_ok(rpma_mr_reg(peer, p, SIZE / 2, USAGE_PLAIN, &mr));
	assert_ok(rpma_mr_dereg(&mr));
	munmap(p, SIZE);
	assert_rpma(RPMA_E_PROVIDER, rpma_mr_reg(peer, p, SIZE, USAGE_ALL, &mr));
	assert_null(mr);
	assert_ok(rpma_peer_delete(&peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_size_and_descriptor),
		cmocka_unit_test(no_usage_or_an_unknown_one),
		cmocka_unit_test(advice),
		cmocka_unit_test(shared_anonymous),
		cmocka_unit_test(static_memory),
		cmocka_unit_test(private_file),
		cmocka_unit_test(file_mapped_twice),
		cmocka_unit_test(read_only_sources),
		cmocka_unit_test(read_only_destinations),
		cmocka_unit_test(no_memory_at_all),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-memory", tests, NULL, NULL);
}
