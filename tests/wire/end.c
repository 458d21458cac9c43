/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* end.c -- ends by FIN: items 95, 96 */

#include <string.h>

#include "rig.h"

/* The peer sends this and FIN, while a Read and a receive are outstanding. */
static void fin_after(void **state, const struct bytes *b, enum rpma_conn_event event)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	post_recv(&g.side, &g.mem, 64, CTX(2));
	raw_send_bytes(&g.raw, b->p, b->len);
	raw_fin(&g.raw);
	expect_event(g.side.conn, event);
	expect_status(&g.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
	expect_status(&g.side, CTX(2), IBV_WC_WR_FLUSH_ERR);
	expect_no_wc(g.side.cq);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

static void item_095_fin(void **state)
{
	struct bytes b = { 0 };

	fin_after(state, &b, RPMA_CONN_CLOSED);
	bytes_fpdu(&b, "c1 40 00000001 0000000000000000");
	fin_after(state, &b, RPMA_CONN_CLOSED);
	for (size_t cut = 1; cut < b.len; cut++) {
		struct bytes part = { .p = b.p, .len = cut };

		fin_after(state, &part, RPMA_CONN_LOST);
	}
	b.len = 0;
	bytes_fpdu(&b, "01 43 00000000 00000000 00000001 00000000 6162");
	fin_after(state, &b, RPMA_CONN_LOST);
	b.len = 0;
	bytes_fpdu(&b, "81 40 00000001 0000000000000000");
	fin_after(state, &b, RPMA_CONN_LOST);
	b.len = 0;
	bytes_fpdu(&b, "81 42 72706d61 0000000000000000 6162");
	fin_after(state, &b, RPMA_CONN_LOST);
	bytes_free(&b);
}

static void item_096_close_waits_for_reads(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct bytes f;
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	assert_ok(rpma_conn_disconnect(g.side.conn));
	f = raw_read_fpdu(&g.raw);
	raw_expect_quiet(&g.raw);
	raw_fpdu(&g.raw, "c1 40 %4 %8 6d65616e7768696c65", g.stag, g.to + 64);
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000 676f6f64");
	expect_done(&g.side, CTX(1));
	raw_expect_fin(&g.raw);
	/* What it does not want any more must not make a RST of its FIN. */
	raw_fpdu(&g.raw, "c1 40 %4 %8 6c617465", g.stag, g.to + 128);
	raw_sync(&g.raw);
	raw_fin(&g.raw);
	expect_event(g.side.conn, RPMA_CONN_CLOSED);
	raw_expect_fin(&g.raw);
	assert_memory_equal(g.mem.data, "good", 4);
	assert_memory_equal(g.mem.data + 64, "meanwhile", 9);
	bytes_free(&f);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_095_fin),
		BOTH(item_096_close_waits_for_reads),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-end", tests, NULL, NULL);
}
