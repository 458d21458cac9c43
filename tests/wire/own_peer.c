/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * own_peer.c -- what two peers of this library may do beyond RFC 5040: immediate
 * data, atomics, flush; items 85 to 87, 89
 *
 * A zero-length Read follows what is to be acknowledged: see tx.c.
 */

#include <string.h>

#include "rig.h"

static const struct rig_opts own = { .own = true };

/* ---- immediate data ----------------------------------------------------------------- */

#define IMM "41 48 00000000 00000000"

static void item_085_immediate_data(void **state)
{
	struct ibv_wc wc;
	struct rig g;

	rig_open(&g, state, &own);
	for (uint32_t i = 0; i < 4; i++)
		post_recv(&g.side, &g.mem, 64, CTX(i));
	raw_fpdu(&g.raw, "41 43 00000000 00000000 00000001 00000000 68656c6c6f");
	raw_fpdu(&g.raw, IMM "00000002 00000000 0000000011223344");
	raw_fpdu(&g.raw, "c1 40 %4 %8 616263", g.stag, g.to + 64);
	raw_fpdu(&g.raw, IMM "00000003 00000000 0000000055667788");
	raw_fpdu(&g.raw, "41 43 00000000 00000000 00000004 00000000 68656c6c6f");
	assert_int_equal(expect_recv(&g.side, CTX(0)).byte_len, 5);
	wc = expect_recv(&g.side, CTX(1));
	assert_int_equal(wc.byte_len, 0);
	assert_memory_equal(&wc.imm_data, "\x11\x22\x33\x44", 4);
	wc = expect_recv(&g.side, CTX(2));
	assert_int_equal(wc.byte_len, 3);
	assert_memory_equal(&wc.imm_data, "\x55\x66\x77\x88", 4);
	assert_int_equal(expect_recv(&g.side, CTX(3)).byte_len, 5);
	rig_close(&g);
}

static void item_085_wrong_length(void **state)
{
	struct rig g;

	rig_open(&g, state, &own);
	raw_fpdu(&g.raw, IMM "00000001 00000000 00000000112233");
	rig_dies(&g, "20 03", TERM_BARE);
	rig_open(&g, state, &own);
	raw_fpdu(&g.raw, IMM "00000001 00000000 000000001122334455");
	rig_dies(&g, "02 ff", TERM_DDP);
	rig_open(&g, state, &own);
	raw_fpdu(&g.raw, IMM "00000002 00000000 0000000011223344");
	rig_dies(&g, "12 03", TERM_DDP);
}

/* ---- atomics -------------------------------------------------------------------------- */

/* operation, identifier; STag, TO; data, mask; compare, compare mask */
#define ATOMIC "41 4a 00000000 00000001 %4 00000000 %4 %4 %4 %8 %8 %8 %8 %8"
#define ATOMIC_RESP "41 4b 00000000 00000003 %4 00000000 %4 %8"
#define ONES UINT64_MAX

struct atomic_case {
	uint32_t op; /* 0 FetchAdd, 2 CmpSwap */
	uint64_t data, mask, compare, compare_mask;
	uint64_t before, after;
};

static const struct atomic_case atomic_cases[] = {
	{ 2, 0x1111, ONES, 0x2222, ONES, 0x2222, 0x1111 },
	{ 2, 0x1111, ONES, 0x2222, ONES, 0x2223, 0x2223 },
	{ 2, 0x1111, ONES, 0x2222, 0, 0x7777, 0x1111 },
	{ 2, 0xabcd, 0x00ff, 0x12, 0xff, 0x3412, 0x34cd },
	{ 0, 1, 0, 0, ONES, 0xffffffff, 0x100000000 },
	{ 0, 1, 0, 0, ONES, ONES, 0 },
	{ 0, 0x0101, 0x80, 0, ONES, 0x00ff, 0x0100 },
};

static void item_086_atomics(void **state)
{
	struct rig g;

	rig_open(&g, state, &own);
	for (uint32_t i = 0; i < ARRAY_LEN(atomic_cases); i++) {
		const struct atomic_case *a = &atomic_cases[i];

		memcpy(g.mem.data + 8, &a->before, 8);
		raw_fpdu(&g.raw, ATOMIC, i + 1, a->op, 0xabcd0000 + i, g.stag, g.to + 8, a->data,
			a->mask, a->compare, a->compare_mask);
		raw_expect_fpdu(&g.raw, ATOMIC_RESP, i + 1, 0xabcd0000 + i, a->before);
		assert_memory_equal(g.mem.data + 8, &a->after, 8);
	}
	assert_all(g.mem.data, 8, 0);
	assert_all(g.mem.data + 16, g.mem.size - 16, 0);
	rig_close(&g);
}

/* Where a peer may only write it learns nothing by it. */
static void item_086_write_only_region(void **state)
{
	struct rig_opts o = { .own = true, .usage = RPMA_MR_USAGE_WRITE_DST };
	struct rig g;

	rig_open(&g, state, &o);
	memset(g.mem.data, 0x5a, 16);
	raw_fpdu(
		&g.raw, ATOMIC, 1, 0, 1, g.stag, g.to, (uint64_t)0, (uint64_t)0, (uint64_t)0, ONES);
	raw_expect_fpdu(&g.raw, ATOMIC_RESP, 1, 1, (uint64_t)0);
	raw_fpdu(&g.raw, ATOMIC, 2, 2, 2, g.stag, g.to + 8, (uint64_t)0, ONES, (uint64_t)0,
		(uint64_t)0);
	raw_expect_fpdu(&g.raw, ATOMIC_RESP, 2, 2, (uint64_t)0);
	assert_all(g.mem.data, 8, 0x5a);
	assert_all(g.mem.data + 8, 8, 0);
	rig_close(&g);
}

static void bad_atomic(
	void **state, int usage, uint32_t op, uint32_t flip, uint64_t off, const char *triple)
{
	struct rig_opts o = { .own = true, .usage = usage };
	struct rig g;

	rig_open(&g, state, &o);
	raw_fpdu(&g.raw, ATOMIC, 1, op, 1, g.stag ^ flip, g.to + off, ONES, ONES, (uint64_t)0,
		(uint64_t)0);
	rig_dies(&g, triple, TERM_DDP);
}

static void item_086_atomic_not_allowed(void **state)
{
	for (uint64_t off = 1; off < 8; off++)
		bad_atomic(state, USAGE_ALL, 2, 0, off, "02 07");
	bad_atomic(state, USAGE_ALL, 0, 0, 4, "02 07");
	bad_atomic(state, USAGE_ALL, 1, 0, 0, "02 ff");
	bad_atomic(state, USAGE_ALL, 15, 0, 0, "02 ff");
	bad_atomic(state, USAGE_ALL, 2, 0x100, 0, "01 00");
	bad_atomic(state, USAGE_ALL, 2, 0, 4096, "01 01");
	bad_atomic(state, USAGE_ALL, 2, 0, (uint64_t)-8, "01 01");
	bad_atomic(state, USAGE_ALL & ~RPMA_MR_USAGE_WRITE_DST, 2, 0, 0, "01 02");
}

/* 89: an atomic write is a CmpSwap that compares nothing, not the draft's opcode. */
static void item_086_089_atomic_write(void **state)
{
	struct rpma_mr_remote *far = remote_from((const uint8_t[DESC_SIZE]){
		0, 0x10, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, USAGE_ALL });
	struct bytes f, want = { 0 };
	uint64_t value = 0x1122334455667788;
	char src[8];
	struct rig g;

	memcpy(src, &value, 8);
	rig_open(&g, state, &own);
	assert_ok(rpma_atomic_write(g.side.conn, far, 8, src, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	f = raw_read_fpdu(&g.raw);
	bytes_fpdu(
		&want, ATOMIC, 1, 2, 0, 7, UINT64_C(0x1008), value, ONES, (uint64_t)0, (uint64_t)0);
	assert_int_equal(f.len, want.len);
	assert_memory_equal(f.p, want.p, 24);
	assert_memory_equal(f.p + 28, want.p + 28, want.len - 4 - 28);
	raw_fpdu(&g.raw, ATOMIC_RESP, 1,
		(uint32_t)f.p[24] << 24 | f.p[25] << 16 | f.p[26] << 8 | f.p[27], (uint64_t)0);
	expect_done(&g.side, CTX(1));
	raw_expect_quiet(&g.raw);
	bytes_free(&f);
	bytes_free(&want);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

/* ---- answers of queue 3 that are wrong --------------------------------------------------- */

static void item_087_flush_answer_that_does_not_fit(void **state)
{
	static const struct {
		const char *answer;
		const char *triple;
		enum term_hdr hdr;
	} cases[] = {
		{ "41 4d 00000000 00000003 00000002 00000000", "12 03", TERM_DDP },
		{ "41 4d 00000000 00000001 00000001 00000000", "12 01", TERM_DDP },
		{ "41 4d 00000000 00000003 00000001 00000004", "12 04", TERM_DDP },
		{ "41 4d 00000000 00000003 00000001 00000000 00", "02 ff", TERM_DDP },
		{ "01 4d 00000000 00000003 00000001 00000000", "02 ff", TERM_DDP },
		{ "41 4b 00000000 00000003 00000001 00000000 00000000 0000000000000000", "02 06",
			TERM_BARE },
		{ "c1 42 72706d61 0000000000000000", "02 06", TERM_BARE },
	};
	struct rpma_mr_remote *far = far_region();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		rig_open(&g, state, &own);
		assert_ok(rpma_flush(g.side.conn, far, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, CTX(1)));
		raw_expect_fpdu(&g.raw,
			"41 4c 00000000 00000001 00000001 00000000 %4 00000008 %8 %4", FAR_STAG,
			FAR_TO, 2);
		raw_fpdu(&g.raw, cases[i].answer);
		rig_ends(&g, cases[i].triple, cases[i].hdr);
		expect_status(&g.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
		rig_drop(&g);
	}
	assert_ok(rpma_mr_remote_delete(&far));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_085_immediate_data),
		BOTH(item_085_wrong_length),
		BOTH(item_086_atomics),
		BOTH(item_086_write_only_region),
		BOTH(item_086_atomic_not_allowed),
		BOTH(item_086_089_atomic_write),
		BOTH(item_087_flush_answer_that_does_not_fit),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-own-peer", tests, NULL, NULL);
}
