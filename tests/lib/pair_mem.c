/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_mem.c -- see pair_mem.h */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_dax.h"
#include "pair_mem.h"

#define CANARY 0xc5

/* ---- content ------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ (x >> 29);
}

static uint64_t word_at(uint64_t seed, size_t pos)
{
	return mix(seed + 1 + mix(pos));
}

void fill(void *p, size_t len, uint64_t seed)
{
	char *to = p;

	for (size_t pos = 0; pos < len; pos += 8) {
		uint64_t w = word_at(seed, pos);

		memcpy(to + pos, &w, len - pos < 8 ? len - pos : 8);
	}
}

void check_filled(const void *p, size_t len, uint64_t seed, const char *where)
{
	const char *from = p;

	for (size_t pos = 0; pos < len; pos += 8) {
		uint64_t w = word_at(seed, pos);

		if (memcmp(from + pos, &w, len - pos < 8 ? len - pos : 8) != 0)
			fail_msg("%s: wrong content at byte %zu (or up to 7 later) of %zu", where,
				pos, len);
	}
}

void check_all(const void *p, size_t len, int byte, const char *where)
{
	const unsigned char *b = p;

	if (len == 0 || (b[0] == byte && memcmp(b, b + 1, len - 1) == 0))
		return;
	for (size_t i = 0; i < len; i++)
		if (b[i] != byte)
			fail_msg("%s: byte %zu of %zu is %#x, expected %#x", where, i, len, b[i],
				byte);
}

/* ---- regions ------------------------------------------------------------- */

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* (on a DAX device without the guard pages) guard page, canary page, data, rest of its last page, canary page, guard page */
static void map_guarded(struct region *r)
{
	size_t body = (r->size + page() - 1) / page() * page();

	r->map_len = body + 4 * page();
	if (dax_is_there()) {
		r->map = dax_map(r->map_len);
	} else {
		r->map = mmap(NULL, r->map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		assert_ptr_not_equal(r->map, MAP_FAILED);
		mprotect(r->map, page(), PROT_NONE);
		mprotect(r->map + r->map_len - page(), page(), PROT_NONE);
	}
	r->data = r->map + 2 * page();
	memset(r->data - page(), CANARY, page());
	memset(r->data + r->size, CANARY, body - r->size + page());
}

static void check_canaries(const struct region *r)
{
	const char *end = r->map + r->map_len - page();

	assert_all(r->data - page(), page(), CANARY);
	assert_all(r->data + r->size, (size_t)(end - (r->data + r->size)), CANARY);
}

void desc_of(const struct rpma_mr_local *mr, uint8_t desc[DESC_SIZE])
{
	size_t size = 0;

	assert_ok(rpma_mr_get_descriptor_size(mr, &size));
	assert_int_equal(size, DESC_SIZE);
	assert_ok(rpma_mr_get_descriptor(mr, desc));
}

struct rpma_mr_remote *remote_from(const uint8_t desc[DESC_SIZE])
{
	struct rpma_mr_remote *remote = NULL;

	assert_ok(rpma_mr_remote_from_descriptor(desc, DESC_SIZE, &remote));
	return remote;
}

struct rpma_mr_remote *remote_of(const struct rpma_mr_local *mr)
{
	uint8_t desc[DESC_SIZE];

	desc_of(mr, desc);
	return remote_from(desc);
}

int usage_plain(void)
{
	return USAGE_ALL & ~(dax_is_there() ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : 0);
}

void region_open(struct region *r, struct rpma_peer *peer, size_t size, int usage)
{
	*r = (struct region){ .size = size };
	map_guarded(r);
	assert_ok(rpma_mr_reg(peer, r->data, size, usage, &r->mr));
	r->remote = remote_of(r->mr);
}

void region_dereg(struct region *r)
{
	assert_ok(rpma_mr_dereg(&r->mr));
	assert_null(r->mr);
}

void region_close(struct region *r)
{
	region_dereg(r);
	assert_ok(rpma_mr_remote_delete(&r->remote));
	check_canaries(r);
	if (dax_is_there())
		dax_unmap(r->map, r->map_len);
	else
		assert_int_equal(munmap(r->map, r->map_len), 0);
}
