/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crc_off_large.c -- large Writes without a CRC, whose payload goes from the socket to its
 * place, however they come: item 41
 */

#include <stdlib.h>
#include <string.h>

#include "nocrc.h"

static const struct rig_opts plain = { .size = NOCRC_SIZE };

/* ---- one Write, and what is behind it ------------------------------------------------- */

/* Round i, from 1 on: a Write of len bytes, and behind it a message, a small Write over the
 * last bytes of the large one, and a request for these. */
static void make_round(struct bytes *b, struct rig *g, uint32_t i, size_t len)
{
	uint8_t data[LARGE];

	nocrc_receive(g, i);
	fill(data, len, i);
	b->len = 0;
	nocrc_fpdu(b, "c1 40 %4 %8 %p", g->stag, g->to + AT, data, len);
	nocrc_message(b, i, "small");
	nocrc_fpdu(b, "c1 40 %4 %8 6166746572", g->stag, g->to + AT + len - 5);
	nocrc_ask(b, g, i, 8, g->to + AT + len - 8);
}

static void expect_round(struct rig *g, uint32_t i, size_t len)
{
	uint8_t data[LARGE];

	fill(data, len, i);
	nocrc_expect(g, "c1 42 72706d61 0000000000000000 %p 6166746572", data + len - 8, (size_t)3);
	nocrc_expect_message(g, i, "small");
	assert_memory_equal(g->mem.data + AT + len - 5, "after", 5);
	memcpy(g->mem.data + AT + len - 5, data + len - 5, 5);
	expect_only(g->mem.data, AT, len, i);
}

static void item_041_large_write_in_two_pieces(void **state)
{
	struct bytes b = { 0 };
	uint32_t round = 1;
	size_t cut[NOCRC_CUTS], n;
	struct rig g;

	nocrc_open(&g, state, &plain);
	for (size_t len = LARGE - 3; len <= LARGE; len++) {
		n = nocrc_cuts(len, cut);
		for (size_t i = 0; i < n; i++, round++) {
			make_round(&b, &g, round, len);
			nocrc_cut(&g, &b, &cut[i], 1);
			expect_round(&g, round, len);
		}
	}
	bytes_free(&b);
	rig_close(&g);
}

/* In many pieces; the first round is that of a connection that has no habit yet. */
static void item_041_large_write_in_many_pieces(void **state)
{
	static const size_t sizes[] = { 5, 1448, 4099, 8191, 8192, 16384, 30000 };
	struct bytes b = { 0 };
	uint32_t round = 1;
	size_t cut[NOCRC_CUTS];
	struct rig g;

	nocrc_open(&g, state, &plain);
	for (size_t len = LARGE - 3; len <= LARGE; len++, round++) {
		make_round(&b, &g, round, len);
		nocrc_cut(&g, &b, cut, nocrc_cuts(len, cut));
		expect_round(&g, round, len);
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++, round++) {
		make_round(&b, &g, round, i == 0 ? 8600 : LARGE - i % 4);
		nocrc_pieces(&g, &b, sizes[i]);
		expect_round(&g, round, i == 0 ? 8600 : LARGE - i % 4);
	}
	bytes_free(&b);
	rig_close(&g);
}

/* ---- several in a row ------------------------------------------------------------------ */

/* Write number i of those in a row */
static size_t row_len(size_t i)
{
	return LARGE - 1000 * i + i;
}

static size_t row_off(size_t i)
{
	return 64 + i * (LARGE + 64);
}

static void expect_row(struct rig *g, size_t n, uint64_t seed)
{
	char *mem = g->mem.data;
	size_t end = 0;

	nocrc_expect_fence(g);
	for (size_t i = 0; i < n; i++) {
		assert_all(mem + end, row_off(i) - end, 0);
		assert_filled(mem + row_off(i), row_len(i), seed + i);
		end = row_off(i) + row_len(i);
	}
	assert_all(mem + end, NOCRC_BOX - end, 0);
	memset(mem, 0, NOCRC_BOX);
}

static void item_041_large_writes_in_a_row(void **state)
{
	static const size_t sizes[] = { 1 << 30, 1 << 30, 7001, 59990, 60016, 65536, 100000 };
	struct bytes b = { 0 };
	uint8_t data[LARGE];
	struct rig g;

	nocrc_open(&g, state, &plain);
	for (uint32_t k = 0; k < ARRAY_LEN(sizes); k++) {
		b.len = 0;
		for (size_t i = 0; i < 8; i++) {
			fill(data, row_len(i), 100 * k + i);
			nocrc_fpdu(
				&b, "c1 40 %4 %8 %p", g.stag, g.to + row_off(i), data, row_len(i));
		}
		nocrc_ask(&b, &g, k + 1, 0, 0);
		nocrc_pieces(&g, &b, sizes[k]);
		expect_row(&g, 8, 100 * k);
	}
	bytes_free(&b);
	rig_close(&g);
}

/* A small one between two large ones, of every size: the header of the second comes together
 * with the end of the first, or some of it does. */
static void item_041_small_between_large(void **state)
{
	uint8_t data[20000], small[80];
	struct bytes b = { 0 };
	uint32_t msn = 1;
	struct rig g;

	nocrc_open(&g, state, &plain);
	fill(data, sizeof(data), 41);
	memset(small, 's', sizeof(small));
	for (size_t len = 1; len < sizeof(small); len++) {
		char *mem = g.mem.data;

		b.len = 0;
		nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + AT, data, sizeof(data) - len % 4);
		nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + AT - 1, small, len);
		nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + AT, data, sizeof(data));
		nocrc_ask(&b, &g, msn++, 0, 0);
		nocrc_cut(&g, &b, (size_t[]){ 3000 }, 1);
		nocrc_expect_fence(&g);
		assert_int_equal(mem[AT - 1], 's');
		mem[AT - 1] = 0;
		expect_only(mem, AT, sizeof(data), 41);
	}
	bytes_free(&b);
	rig_close(&g);
}

/* A message of two segments, the second of which is the large one; then of three. */
static void item_041_large_segment_of_a_write(void **state)
{
	uint8_t data[LARGE + 100];
	struct bytes b = { 0 };
	struct rig g;

	nocrc_open(&g, state, &plain);
	fill(data, sizeof(data), 1);
	for (uint32_t i = 0; i < 6; i++) {
		size_t one = 100 + i % 3, two = i < 3 ? sizeof(data) : sizeof(data) - 5;

		b.len = 0;
		nocrc_fpdu(&b, "81 40 %4 %8 %p", g.stag, g.to + AT, data, one);
		nocrc_fpdu(&b, "%1 40 %4 %8 %p", i < 3 ? 0xc1 : 0x81, g.stag, g.to + AT + one,
			data + one, two - one);
		if (i >= 3)
			nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + AT + two, data + two,
				(size_t)5);
		nocrc_ask(&b, &g, i + 1, 0, 0);
		nocrc_cut(&g, &b, (size_t[]){ 50, 140, 20000, 60110 }, 4);
		nocrc_expect_fence(&g);
		expect_only(g.mem.data, AT, sizeof(data), 1);
	}
	bytes_free(&b);
	rig_close(&g);
}

/* The length that immediate data tells is that of all segments. */
static void item_041_immediate_data_behind_it(void **state)
{
	struct rig_opts own = { .size = NOCRC_SIZE, .own = true };
	struct bytes b = { 0 };
	uint8_t data[LARGE];
	struct ibv_wc wc;
	struct rig g;

	nocrc_open(&g, state, &own);
	nocrc_receive(&g, 1);
	fill(data, sizeof(data), 1);
	nocrc_fpdu(&b, "81 40 %4 %8 %p", g.stag, g.to + AT, data, (size_t)1000);
	nocrc_fpdu(
		&b, "81 40 %4 %8 %p", g.stag, g.to + AT + 1000, data + 1000, sizeof(data) - 1007);
	nocrc_fpdu(
		&b, "c1 40 %4 %8 %p", g.stag, g.to + AT + LARGE - 7, data + LARGE - 7, (size_t)7);
	nocrc_fpdu(&b, "41 48 00000000 00000000 00000001 00000000 00000000 11223344");
	nocrc_cut(&g, &b, (size_t[]){ 1100, 30000 }, 2);
	wc = expect_recv(&g.side, CTX(1));
	assert_int_equal(wc.byte_len, LARGE);
	assert_memory_equal(&wc.imm_data, "\x11\x22\x33\x44", 4);
	expect_only(g.mem.data, AT, LARGE, 1);
	bytes_free(&b);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_041_large_write_in_two_pieces),
		BOTH(item_041_large_write_in_many_pieces),
		BOTH(item_041_large_writes_in_a_row),
		BOTH(item_041_small_between_large),
		BOTH(item_041_large_segment_of_a_write),
		BOTH(item_041_immediate_data_behind_it),
	};

	setenv("RPMA_TCP_CRC", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-crc-off-large", tests, NULL, NULL);
}
