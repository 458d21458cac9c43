/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* rdmap_out.c -- what the library asks of a foreign peer: items 76 to 78, 82 */

#include <string.h>

#include "rig.h"

#define SINK "72706d61"
#define READ_AT "41 41 00000000 00000001 %4 00000000" SINK "0000000000000000 %4 %4 %8"

static void item_076_not_more_than_ord(void **state)
{
	struct rpma_mr_remote *far = far_region();

	for (int ord = 1; ord <= 16; ord += 5) {
		struct rig_opts o = { .depth = ord, .side = { .sq_size = 32, .cq_size = 32 } };
		struct rig g;

		rig_open(&g, state, &o);
		for (uint64_t i = 0; i < (uint64_t)ord + 2; i++)
			assert_ok(rpma_read(g.side.conn, g.mem.mr, 8 * i, far, i, 1,
				RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		for (uint32_t i = 0; i < (uint32_t)ord; i++)
			raw_expect_fpdu(&g.raw, READ_AT, i + 1, 1, FAR_STAG, FAR_TO + i);
		raw_expect_quiet(&g.raw);
		for (uint32_t i = 0; i < 2; i++) {
			raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 %1", (int)i + 1);
			expect_done(&g.side, CTX(i));
			raw_expect_fpdu(&g.raw, READ_AT, (uint32_t)ord + i + 1, 1, FAR_STAG,
				FAR_TO + (uint32_t)ord + i);
			raw_expect_quiet(&g.raw);
		}
		assert_memory_equal(g.mem.data, "\1\0\0\0\0\0\0\0\2\0\0", 11);
		rig_drop(&g);
	}
	assert_ok(rpma_mr_remote_delete(&far));
}

/* A peer that serves no Reads gets none, and the program hears of it at once. */
static void item_076_peer_without_reads(void **state)
{
	static const char *const request = REQ "50 02 0004 8000 c000";
	struct rpma_mr_remote *far = far_region();
	struct rpma_conn *conn;
	struct region mem;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	region_open(&mem, n.peer[SERVER], 64, USAGE_ALL);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, request);
	conn = rig_accept(&n, NULL);
	raw_expect(&r, REP "50 02 0004 8010 8000");
	raw_send(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_rpma(RPMA_E_PROVIDER,
		rpma_read(conn, mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	assert_rpma(RPMA_E_PROVIDER, rpma_flush(conn, far, 0, 4, RPMA_FLUSH_TYPE_VISIBILITY,
					     RPMA_F_COMPLETION_ALWAYS, CTX(2)));
	assert_ok(rpma_write(conn, far, 0, mem.mr, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(3)));
	raw_expect_fpdu(&r, "c1 40 %4 %8", FAR_STAG, FAR_TO);
	raw_fin(&r);
	expect_event(conn, RPMA_CONN_CLOSED);
	assert_ok(rpma_conn_delete(&conn));
	assert_ok(rpma_mr_remote_delete(&far));
	region_close(&mem);
	raw_close(&r);
	net_close(&n);
}

static void item_077_answers_in_order(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		assert_ok(rpma_read(
			g.side.conn, g.mem.mr, 8 * i, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		raw_expect_fpdu(&g.raw, READ_AT, i + 1, 4, FAR_STAG, FAR_TO);
	}
	raw_fpdu(&g.raw, "81 42" SINK "0000000000000000 6f6e");
	raw_fpdu(&g.raw, "81 42" SINK "0000000000000002");
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000002 6531");
	expect_done(&g.side, CTX(0));
	expect_no_wc(g.side.cq);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 74776f32");
	expect_done(&g.side, CTX(1));
	assert_memory_equal(g.mem.data, "one1\0\0\0\0two2\0\0\0\0", 16);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

/* ---- answers that are wrong -------------------------------------------------------- */

/* To a Read of 4 bytes into [8, 12) comes this; up to kept bytes may have been
 * placed there before. */
struct wrong {
	const char *first; /* all right so far; or NULL */
	const char *answer;
	const char *triple;
	enum term_hdr hdr;
	size_t kept;
};

static void wrong_answer(void **state, const struct wrong *w)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 8, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	raw_expect_fpdu(&g.raw, READ_AT, 1, 4, FAR_STAG, FAR_TO);
	if (w->first)
		raw_fpdu(&g.raw, w->first);
	raw_fpdu(&g.raw, w->answer);
	rig_ends(&g, w->triple, w->hdr);
	expect_status(&g.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
	assert_all(g.mem.data, 8, 0);
	assert_all(g.mem.data + 8 + w->kept, g.mem.size - 8 - w->kept, 0);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

static void item_078_answer_that_does_not_fit(void **state)
{
	static const struct wrong cases[] = {
		{ NULL, "c1 42 72706d62 0000000000000000 deadbeef", "11 00", TERM_DDP, 0 },
		{ NULL, "c1 42 00000000 0000000000000000 deadbeef", "11 00", TERM_DDP, 0 },
		{ NULL, "c1 42" SINK "0000000000000001 deadbeef", "11 01", TERM_DDP, 0 },
		{ NULL, "c1 42" SINK "ffffffffffffffff deadbeef", "11 01", TERM_DDP, 0 },
		{ NULL, "c1 42" SINK "0000000000000000 deadbeef00", "11 01", TERM_DDP, 0 },
		{ NULL, "c1 42" SINK "0000000000000000 deadbe", "11 01", TERM_DDP, 0 },
		{ NULL, "c1 42" SINK "0000000000000000", "11 01", TERM_DDP, 0 },
		{ NULL, "81 42" SINK "0000000000000000 deadbeef", "11 01", TERM_DDP, 0 },
		{ NULL, "81 42" SINK "0000000000000000 deadbeef00", "11 01", TERM_DDP, 0 },
		{ "81 42" SINK "0000000000000000 6162", "c1 42" SINK "0000000000000000 6162",
			"11 01", TERM_DDP, 2 },
		{ "81 42" SINK "0000000000000000 6162", "c1 42" SINK "0000000000000003 62", "11 01",
			TERM_DDP, 2 },
		{ "81 42" SINK "0000000000000000 6162", "c1 42" SINK "0000000000000002 616263",
			"11 01", TERM_DDP, 2 },
		{ "81 42" SINK "0000000000000000 6162", "c1 42" SINK "0000000000000002 61", "11 01",
			TERM_DDP, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		wrong_answer(state, &cases[i]);
}

static void item_078_answer_to_nothing(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 deadbeef");
	rig_dies(&g, "02 06", TERM_BARE);
	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "c1 42 %4 %8 deadbeef", g.stag, g.to); /* not even to a known STag */
	rig_dies(&g, "02 06", TERM_BARE);
	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000");
	rig_dies(&g, "02 06", TERM_BARE);
}

static void item_078_answer_twice(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 8, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	raw_expect_fpdu(&g.raw, READ_AT, 1, 4, FAR_STAG, FAR_TO);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 676f6f64");
	expect_done(&g.side, CTX(1));
	memset(g.mem.data, 0, 16);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 deadbeef");
	rig_dies(&g, "02 06", TERM_BARE);
	assert_ok(rpma_mr_remote_delete(&far));
}

/* An atomic write to a foreign peer is a Write with a fence. */
static void item_082_fence(void **state)
{
	struct rpma_mr_remote *far = remote_from((const uint8_t[DESC_SIZE]){
		0, 0x10, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, USAGE_ALL });
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 8, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	assert_ok(rpma_atomic_write(
		g.side.conn, far, 0, "newnewne", RPMA_F_COMPLETION_ALWAYS, CTX(2)));
	raw_expect_fpdu(&g.raw, READ_AT, 1, 8, 7, UINT64_C(0x1000));
	raw_expect_quiet(&g.raw);
	raw_fpdu(&g.raw, "c1 42" SINK "0000000000000000 6f6c646f6c646f6c");
	expect_done(&g.side, CTX(1));
	raw_expect_fpdu(&g.raw, "c1 40 00000007 0000000000001000 6e65776e65776e65");
	expect_done(&g.side, CTX(2));
	assert_memory_equal(g.mem.data, "oldoldol", 8);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_076_not_more_than_ord),
		cmocka_unit_test(item_076_peer_without_reads),
		BOTH(item_077_answers_in_order),
		BOTH(item_078_answer_that_does_not_fit),
		BOTH(item_078_answer_to_nothing),
		BOTH(item_078_answer_twice),
		BOTH(item_082_fence),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-rdmap-out", tests, NULL, NULL);
}
