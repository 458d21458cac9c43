/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* crc_off_ends.c -- the connection ends in the middle of a large segment: items 41, 95, 97 */

#include <stdlib.h>

#include "half.h"

/* ---- the peer ends --------------------------------------------------------------------------- */

/* In the middle of a Write, and of the answer to a Read */
static void ended_in_the_middle(void **state, void (*end)(struct raw *r))
{
	struct half h;

	half_open(&h, state, 0);
	half_write(&h, h.g.stag, h.g.to);
	end(&h.g.raw);
	expect_event(h.g.side.conn, RPMA_CONN_LOST);
	expect_half(&h);
	half_close(&h);

	half_open(&h, state, 0);
	half_answer(&h, h.g.mem.mr);
	end(&h.g.raw);
	expect_event(h.g.side.conn, RPMA_CONN_LOST);
	expect_status(&h.g.side, CTX(101), IBV_WC_WR_FLUSH_ERR);
	expect_half(&h);
	half_close(&h);
}

static void item_041_fin_in_the_middle(void **state)
{
	ended_in_the_middle(state, raw_fin);
}

static void item_041_rst_in_the_middle(void **state)
{
	ended_in_the_middle(state, raw_reset);
}

static void item_041_fin_around_the_trailer(void **state)
{
	const size_t ends[] = { TAGGED_HDR + LARGE - 1, TAGGED_HDR + LARGE,
		TAGGED_HDR + LARGE + 1 };
	struct half h;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		half_open(&h, state, 0);
		half_write(&h, h.g.stag, h.g.to);
		raw_send_bytes(&h.g.raw, h.b.p + HALF, ends[i] - HALF);
		raw_fin(&h.g.raw);
		expect_event(h.g.side.conn, RPMA_CONN_LOST);
		assert_filled(h.g.mem.data + AT, LARGE - (i == 0), 1);
		assert_all(h.g.mem.data + AT + LARGE - (i == 0), 1000, 0);
		half_close(&h);
	}
}

/* ---- we end ---------------------------------------------------------------------- */

static void item_041_disconnect_in_the_middle(void **state)
{
	struct half h;

	half_open(&h, state, 0);
	half_write(&h, h.g.stag, h.g.to);
	assert_ok(rpma_conn_disconnect(h.g.side.conn));
	raw_expect_fin(&h.g.raw);
	raw_send_bytes(&h.g.raw, h.b.p + HALF, h.b.len - HALF);
	for (int i = 0; i < 20; i++)
		raw_send_bytes(&h.g.raw, h.b.p, h.b.len);
	raw_fin(&h.g.raw);
	expect_event(h.g.side.conn, RPMA_CONN_CLOSED);
	expect_half(&h);
	half_close(&h);
}

/* What is on the way when we disconnect is carried out: the Read, whose answer is half there,
 * or is behind a Write which is. */
static void item_041_disconnect_while_a_read_is_answered(void **state)
{
	struct half h;

	for (int i = 0; i < 2; i++) {
		half_open(&h, state, 0);
		if (i == 0) {
			half_answer(&h, h.g.mem.mr);
		} else {
			nocrc_read(&h.g, h.g.mem.mr, 1, LARGE);
			half_write(&h, h.g.stag, h.g.to + LARGE);
			nocrc_fpdu(
				&h.b, "c1 42 72706d61 0000000000000000 %p", h.data, (size_t)LARGE);
		}
		assert_ok(rpma_conn_disconnect(h.g.side.conn));
		raw_expect_quiet(&h.g.raw);
		raw_send_bytes(&h.g.raw, h.b.p + HALF, h.b.len - HALF);
		expect_done(&h.g.side, CTX(101));
		raw_expect_fin(&h.g.raw);
		raw_fin(&h.g.raw);
		expect_event(h.g.side.conn, RPMA_CONN_CLOSED);
		assert_filled(h.g.mem.data + AT, LARGE, 1);
		if (i == 1)
			assert_filled(h.g.mem.data + AT + LARGE, LARGE, 1);
		assert_all(
			h.g.mem.data + AT + (i + 1) * LARGE, NOCRC_SIZE - AT - (i + 1) * LARGE, 0);
		half_close(&h);
	}
}

static void item_041_delete_in_the_middle(void **state)
{
	struct half h;

	for (int i = 0; i < 2; i++) {
		half_open(&h, state, 0);
		if (i == 0)
			half_write(&h, h.g.stag, h.g.to);
		else
			half_answer(&h, h.g.mem.mr);
		assert_ok(rpma_conn_delete(&h.g.side.conn));
		expect_half(&h);
		half_rest(&h);
		raw_expect_gone(&h.g.raw);
		expect_half(&h);
		half_close(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_041_fin_in_the_middle),
		BOTH(item_041_fin_around_the_trailer),
		BOTH(item_041_rst_in_the_middle),
		BOTH(item_041_disconnect_in_the_middle),
		BOTH(item_041_disconnect_while_a_read_is_answered),
		BOTH(item_041_delete_in_the_middle),
	};

	setenv("RPMA_TCP_CRC", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-crc-off-ends", tests, NULL, NULL);
}
