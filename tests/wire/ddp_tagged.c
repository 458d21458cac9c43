/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* ddp_tagged.c -- versions, and where Writes may go: items 47 to 58 */

#include <string.h>

#include "rig.h"

static void item_047_ddp_version(void **state)
{
	for (int dv = 0; dv < 4; dv++) {
		struct rig g;

		if (dv == 1)
			continue;
		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "%1 40 %4 %8 deadbeef", 0xc0 | dv, g.stag, g.to);
		rig_dies(&g, "11 04", TERM_BARE);
		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "%1 43 00000000 00000000 00000001 00000000 deadbeef", 0x40 | dv);
		rig_dies(&g, "12 06", TERM_BARE);
	}
}

static void item_048_reserved_bits(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "fd 70 %4 %8 676f6f64", g.stag, g.to);
	rig_fence(&g, 1);
	assert_memory_equal(g.mem.data, "good", 4);
	post_recv(&g.side, &g.mem, 64, CTX(1));
	raw_fpdu(&g.raw, "7d 73 ffffffff 00000000 00000001 00000000 46494e45");
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 4);
	assert_memory_equal(g.mem.data, "FINE", 4);
	rig_close(&g);
}

static void item_049_unknown_stag(void **state)
{
	static const uint32_t flips[] = { 0x80000000, 0x00ffff00, 0x00000100 };

	for (size_t i = 0; i < ARRAY_LEN(flips); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeef", g.stag ^ flips[i], g.to);
		rig_dies(&g, "11 00", TERM_DDP);
	}
}

static void item_050_wrong_key(void **state)
{
	for (uint32_t key = 1; key < 256; key *= 2) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeef", g.stag ^ key, g.to);
		rig_dies(&g, "11 00", TERM_DDP);
	}
}

static void item_051_stag_of_another_domain(void **state)
{
	struct region other;
	struct rig g;

	rig_open(&g, state, NULL);
	region_open(&other, g.net.peer[g.role == RESPONDER ? CLIENT : SERVER], 64, USAGE_ALL);
	raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeef", stag_of(other.mr), to_of(other.mr));
	rig_ends(&g, "11 02", TERM_DDP);
	assert_all(other.data, 64, 0);
	region_close(&other);
	rig_drop(&g);
}

static void item_052_stag_of_the_past(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "c1 40 %4 %8 00000000", g.stag, g.to);
	rig_fence(&g, 1);
	region_dereg(&g.mem);
	raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeef", g.stag, g.to);
	rig_dies(&g, "11 00", TERM_DDP);
}

static void item_053_out_of_bounds(void **state)
{
	/* from the beginning, and how long */
	static const struct {
		int64_t off;
		size_t len;
	} cases[] = { { -1, 8 }, { -1, 1 }, { -8, 8 }, { 4089, 8 }, { 4096, 1 }, { 0, 4097 },
		{ -1, 4098 }, { 1 << 30, 8 }, { INT64_C(1) << 40, 8 } };
	uint8_t data[4098];

	memset(data, 0xee, sizeof(data));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "c1 40 %4 %8 %p", g.stag, g.to + (uint64_t)cases[i].off, data,
			cases[i].len);
		rig_dies(&g, "11 01", TERM_DDP);
	}
}

static void item_054_offset_wraps(void **state)
{
	static const uint64_t tos[] = { UINT64_MAX, UINT64_MAX - 6, UINT64_C(-7) };

	for (size_t i = 0; i < ARRAY_LEN(tos); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeefdeadbeef", g.stag, tos[i]);
		rig_dies(&g, "11 03", TERM_DDP);
	}
}

static void item_055_no_write_right(void **state)
{
	for (int bit = 0; bit < 8; bit++) {
		struct rig_opts o = { .usage = 1 << bit };
		struct rig g;

		if (o.usage == RPMA_MR_USAGE_WRITE_DST)
			continue;
		rig_open(&g, state, &o);
		raw_fpdu(&g.raw, "c1 40 %4 %8 deadbeef", g.stag, g.to);
		rig_dies(&g, "01 02", TERM_DDP);
	}
}

static void item_056_empty_write_anywhere(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "c1 40 deadbeef ffffffffffffffff");
	raw_fpdu(&g.raw, "c1 40 00000000 0000000000000000");
	raw_fpdu(&g.raw, "c1 40 %4 %8", g.stag, g.to - 1);
	rig_fence(&g, 1);
	assert_all(g.mem.data, g.mem.size, 0);
	expect_no_wc(g.side.cq);
	rig_close(&g);
}

static void item_057_empty_writes_between_others(void **state)
{
	for (uint64_t empty = 0; empty < 1 << 4; empty++) {
		struct rig g;

		rig_open(&g, state, NULL);
		for (uint64_t i = 0; i < 4; i++) {
			if (empty >> i & 1)
				raw_fpdu(&g.raw, "c1 40 deadbeef 0123456789abcdef");
			raw_fpdu(&g.raw, "c1 40 %4 %8 %1", g.stag, g.to + i, (int)i + 1);
		}
		rig_fence(&g, 1);
		assert_memory_equal(g.mem.data, "\1\2\3\4\0\0\0\0", 8);
		rig_close(&g);
	}
}

/* A segment is judged for itself: within the region it is placed, else the end. */
static void item_058_segments_that_do_not_fit_together(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "81 40 %4 %8 6161", g.stag, g.to);
	raw_fpdu(&g.raw, "c1 40 %4 %8 6262", g.stag, g.to + 4);
	rig_fence(&g, 1);
	assert_memory_equal(g.mem.data, "aa\0\0bb\0\0", 8);
	raw_fpdu(&g.raw, "81 40 %4 %8 6363", g.stag, g.to);
	raw_fpdu(&g.raw, "c1 40 %4 %8 6464", g.stag ^ 0x100, g.to + 2);
	rig_ends(&g, "11 00", TERM_DDP);
	assert_memory_equal(g.mem.data, "cc\0\0bb\0\0", 8);
	rig_drop(&g);

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "81 40 %4 %8 6565", g.stag, g.to + 4094);
	raw_fpdu(&g.raw, "c1 40 %4 %8 6666", g.stag, g.to + 4096);
	rig_ends(&g, "11 01", TERM_DDP);
	assert_all(g.mem.data, 4094, 0);
	assert_memory_equal(g.mem.data + 4094, "ee", 2);
	rig_drop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_047_ddp_version),
		BOTH(item_048_reserved_bits),
		BOTH(item_049_unknown_stag),
		BOTH(item_050_wrong_key),
		BOTH(item_051_stag_of_another_domain),
		BOTH(item_052_stag_of_the_past),
		BOTH(item_053_out_of_bounds),
		BOTH(item_054_offset_wraps),
		BOTH(item_055_no_write_right),
		BOTH(item_056_empty_write_anywhere),
		BOTH(item_057_empty_writes_between_others),
		BOTH(item_058_segments_that_do_not_fit_together),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-ddp-tagged", tests, NULL, NULL);
}
