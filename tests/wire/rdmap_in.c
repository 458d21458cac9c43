/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* rdmap_in.c -- what a peer may ask: items 68 to 75, 77, 79 to 81, 83, 84, 88 */

#include <string.h>

#include "rig.h"

static void item_068_rdmap_version(void **state)
{
	for (int rv = 0; rv < 4; rv++) {
		struct rig g;

		if (rv == 1)
			continue;
		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "c1 %1 %4 %8 deadbeef", rv << 6, g.stag, g.to);
		rig_dies(&g, "02 05", TERM_BARE);
		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, "41 %1 00000000 00000000 00000001 00000000", rv << 6 | 3);
		rig_dies(&g, "02 05", TERM_BARE);
	}
}

/* 88: Flush is among them. A peer of this library has 14 and 15 for itself only. */
static void item_069_088_opcode_not_agreed(void **state)
{
	for (int own = 0; own < 2; own++)
		for (int op = own ? 14 : 8; op < 16; op++) {
			static const uint32_t qn[] = { 0, 0, 1, 3, 1, 3, 1, 3 };
			static const size_t len[] = { 8, 8, 52, 12, 20, 0, 16, 0 };
			struct rig_opts o = { .own = own };
			struct rig g;

			rig_open(&g, state, &o);
			post_recv(&g.side, &g.mem, 64, CTX(1));
			raw_fpdu(&g.raw, "41 %1 00000000 %4 00000001 00000000 %z", 0x40 | op,
				qn[op - 8], len[op - 8]);
			rig_dies(&g, "02 06", TERM_BARE);
		}
}

static void item_070_opcode_and_t(void **state)
{
	for (int op = 0; op < 8; op++) {
		struct rig g;

		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		if (op == 0 || op == 2)
			raw_fpdu(&g.raw, "41 %1 00000000 00000000 00000001 00000000 %z", 0x40 | op,
				(size_t)32);
		else
			raw_fpdu(&g.raw, "c1 %1 %4 %8 %z", 0x40 | op, g.stag, g.to, (size_t)32);
		rig_dies(&g, "02 06", TERM_BARE);
	}
}

/* ---- Reads ---------------------------------------------------------------------- */

#define SINK "cafef00d 8877665544332211"
#define SINK_TO UINT64_C(0x8877665544332211)

static void ask(struct rig *g, uint32_t msn, uint32_t size, uint32_t stag, uint64_t to)
{
	raw_fpdu(&g->raw, "41 41 00000000 00000001 %4 00000000" SINK "%4 %4 %8", msn, size, stag,
		to);
}

/* The response to a Read of the first size bytes */
static void expect_response(struct rig *g, size_t size)
{
	size_t done = 0;

	do {
		struct bytes f = raw_read_fpdu(&g->raw), hdr = { 0 };
		size_t len = ((size_t)f.p[0] << 8 | f.p[1]) - 14;

		assert_true(len <= size - done);
		bytes_add(
			&hdr, "%1 42 cafef00d %8", done + len < size ? 0x81 : 0xc1, SINK_TO + done);
		assert_memory_equal(f.p + 2, hdr.p, hdr.len);
		assert_memory_equal(f.p + 16, g->mem.data + done, len);
		done += len;
		bytes_free(&hdr);
		bytes_free(&f);
	} while (done < size);
}

/* 74: the sink is echoed to the bit, whatever it says. */
static void item_071_074_read(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 1000, 60000, 70000, 1 << 20 };
	struct rig_opts o = { .size = 1 << 20 };
	struct rig g;

	rig_open(&g, state, &o);
	fill(g.mem.data, o.size, 71);
	for (uint32_t i = 0; i < ARRAY_LEN(sizes); i++) {
		ask(&g, i + 1, sizes[i], g.stag, g.to);
		expect_response(&g, sizes[i]);
	}
	raw_expect_quiet(&g.raw);
	rig_close(&g);
}

static void bad_read(
	void **state, int usage, uint32_t flip, uint64_t off, uint32_t size, const char *triple)
{
	struct rig_opts o = { .usage = usage };
	struct rig g;

	rig_open(&g, state, &o);
	ask(&g, 1, size, g.stag ^ flip, g.to + off);
	rig_dies(&g, triple, TERM_READ);
}

static void item_072_read_not_allowed(void **state)
{
	struct region other;
	struct rig g;

	bad_read(state, USAGE_ALL, 0x100, 0, 4, "01 00");
	bad_read(state, USAGE_ALL, 1, 0, 4, "01 00");
	bad_read(state, USAGE_ALL, 0, (uint64_t)-1, 4, "01 01");
	bad_read(state, USAGE_ALL, 0, 4093, 4, "01 01");
	bad_read(state, USAGE_ALL, 0, 4096, 1, "01 01");
	bad_read(state, USAGE_ALL, 0, 0, 4097, "01 01");
	bad_read(state, USAGE_ALL, 0, 1, UINT32_MAX, "01 01");
	for (int bit = 0; bit < 8; bit++)
		if (!(1 << bit & (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
					 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)))
			bad_read(state, 1 << bit, 0, 0, 4, "01 02");
	rig_open(&g, state, NULL);
	ask(&g, 1, 8, g.stag, UINT64_MAX - 6);
	rig_dies(&g, "01 04", TERM_READ);
	rig_open(&g, state, NULL);
	region_open(&other, g.net.peer[g.role == RESPONDER ? CLIENT : SERVER], 64, USAGE_ALL);
	ask(&g, 1, 8, stag_of(other.mr), to_of(other.mr));
	rig_ends(&g, "01 03", TERM_READ);
	region_close(&other);
	rig_drop(&g);
}

static void item_073_empty_read_from_anywhere(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	ask(&g, 1, 0, 0xdeadbeef, UINT64_MAX);
	expect_response(&g, 0);
	ask(&g, 2, 0, 0, 0);
	expect_response(&g, 0);
	rig_close(&g);
}

/* The first answer is too large for any socket, so it is under way while nobody
 * reads it. */
static void item_075_more_reads_than_agreed(void **state)
{
	struct rig_opts o = { .size = 24 << 20 };
	struct rig g;

	rig_open(&g, state, &o);
	fill(g.mem.data, 8, 75);
	ask(&g, 1, (uint32_t)o.size, g.stag, g.to);
	for (uint32_t msn = 2; msn <= 16; msn++)
		ask(&g, msn, 1, g.stag, g.to);
	raw_sync(&g.raw);
	ask(&g, 17, 1, g.stag, g.to);
	expect_response(&g, o.size);
	for (uint32_t msn = 2; msn <= 16; msn++)
		expect_response(&g, 1);
	rig_ends(&g, "12 02", TERM_DDP);
	rig_drop(&g);
}

static void item_077_responses_in_order(void **state)
{
	struct rig_opts o = { .size = 100000 };
	struct rig g;

	rig_open(&g, state, &o);
	fill(g.mem.data, o.size, 77);
	ask(&g, 1, (uint32_t)o.size, g.stag, g.to);
	ask(&g, 2, 1, g.stag, g.to);
	ask(&g, 3, 0, 0, 0);
	ask(&g, 4, 2, g.stag, g.to);
	expect_response(&g, o.size);
	expect_response(&g, 1);
	expect_response(&g, 0);
	expect_response(&g, 2);
	rig_close(&g);
}

static void item_077_request_number(void **state)
{
	static const uint32_t msns[] = { 0, 2, 0xffffffff };

	for (size_t i = 0; i < ARRAY_LEN(msns); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		ask(&g, msns[i], 0, 1, 0);
		rig_dies(&g, "12 03", TERM_DDP);
	}
}

/* ---- order ------------------------------------------------------------------------ */

#define ROUNDS 100000
#define AT_ONCE 16

/* Each to its own place: a Read may see what was written behind it. */
static void item_079_write_then_read(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	for (uint32_t i = 0; i < ROUNDS; i += AT_ONCE) {
		struct bytes b = { 0 };

		for (uint32_t k = i; k < i + AT_ONCE; k++) {
			uint64_t to = g.to + 8 * (k - i);

			bytes_fpdu(&b, "81 40 %4 %8 %4", g.stag, to, k);
			bytes_fpdu(&b, "c1 40 %4 %8 %4", g.stag, to + 4, ~k);
			bytes_fpdu(&b, "41 41 00000000 00000001 %4 00000000" SINK "00000008 %4 %8",
				k + 1, g.stag, to);
		}
		raw_send_bytes(&g.raw, b.p, b.len);
		bytes_free(&b);
		for (uint32_t k = i; k < i + AT_ONCE; k++)
			raw_expect_fpdu(&g.raw, "c1 42" SINK "%4 %4", k, ~k);
	}
	rig_close(&g);
}

static void item_080_placed_when_a_read_is_answered(void **state)
{
	struct rig_opts o = { .size = 1 << 20 };
	uint8_t data[50000];
	struct rig g;

	rig_open(&g, state, &o);
	for (uint32_t i = 0; i < 100; i++) {
		fill(data, sizeof(data), i);
		raw_fpdu(&g.raw, "c1 40 %4 %8 %p", g.stag, g.to + i, data, sizeof(data));
		rig_fence(&g, i + 1);
		assert_memory_equal(g.mem.data + i, data, sizeof(data));
	}
	rig_close(&g);
}

static void item_081_placed_when_a_send_is_received(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	for (uint32_t i = 1; i <= 100; i++) {
		post_recv(&g.side, NULL, 0, CTX(i));
		raw_fpdu(&g.raw, "c1 40 %4 %8 %4", g.stag, g.to, i << 24 | i);
		raw_fpdu(&g.raw, "41 43 00000000 00000000 %4 00000000", i);
		expect_recv(&g.side, CTX(i));
		assert_int_equal(g.mem.data[0], (char)i);
		assert_int_equal(g.mem.data[3], (char)i);
	}
	rig_close(&g);
}

/* ---- kinds of Send ------------------------------------------------------------------- */

/* The API registers nothing for it, so no STag can be invalidated. */
static void item_083_send_with_invalidate(void **state)
{
	static const int opcodes[] = { 4, 6 };

	for (size_t i = 0; i < 2 * ARRAY_LEN(opcodes); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		raw_fpdu(&g.raw, "41 %1 %4 00000000 00000001 00000000 deadbeef",
			0x40 | opcodes[i / 2], i % 2 ? g.stag : g.stag ^ 0x100);
		rig_ends(&g, "01 09", TERM_DDP);
		assert_all(g.mem.data, g.mem.size, 0);
		rig_drop(&g);
	}
}

/* The API has no use for the mark: it is a Send like others. */
static void item_084_solicited_event(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	for (uint32_t i = 1; i <= 2; i++)
		post_recv(&g.side, &g.mem, 64, CTX(i));
	raw_fpdu(&g.raw, "41 45 00000000 00000000 00000001 00000000 7365");
	raw_fpdu(&g.raw, "41 43 00000000 00000000 00000002 00000000");
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 2);
	assert_int_equal(expect_recv(&g.side, CTX(2)).byte_len, 0);
	assert_memory_equal(g.mem.data, "se", 2);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_068_rdmap_version),
		BOTH(item_069_088_opcode_not_agreed),
		BOTH(item_070_opcode_and_t),
		BOTH(item_071_074_read),
		BOTH(item_072_read_not_allowed),
		BOTH(item_073_empty_read_from_anywhere),
		BOTH(item_075_more_reads_than_agreed),
		BOTH(item_077_responses_in_order),
		BOTH(item_077_request_number),
		BOTH(item_079_write_then_read),
		BOTH(item_080_placed_when_a_read_is_answered),
		BOTH(item_081_placed_when_a_send_is_received),
		BOTH(item_083_send_with_invalidate),
		BOTH(item_084_solicited_event),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-rdmap-in", tests, NULL, NULL);
}
