/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crc_off_reads.c -- large segments without a CRC: answers to Reads, those that go into a
 * file, those behind a message that waits; item 41
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nocrc.h"

static const struct rig_opts plain = { .size = NOCRC_SIZE };

/* ---- Reads ------------------------------------------------------------------------------ */

enum { READ_SIZE = 200003 };

/* The answer to a Read of READ_SIZE bytes of this seed, and a message behind it. */
static void make_answer(struct bytes *b, uint32_t msn, uint64_t seed)
{
	uint8_t *data = malloc(READ_SIZE);
	size_t n;

	assert_non_null(data);
	fill(data, READ_SIZE, seed);
	b->len = 0;
	for (size_t off = 0; off < READ_SIZE; off += n) {
		n = READ_SIZE - off < LARGE ? READ_SIZE - off : LARGE;
		nocrc_fpdu(b, "%1 42 72706d61 %8 %p", off + n < READ_SIZE ? 0x81 : 0xc1,
			(uint64_t)off, data + off, n);
	}
	nocrc_message(b, msn, "small");
	free(data);
}

static void item_041_large_read_in_pieces(void **state)
{
	static const size_t sizes[] = { 1 << 30, 1448, 60023, 60024, 60025, 30000 };
	size_t cut[NOCRC_CUTS], n = nocrc_cuts(LARGE, cut);
	struct bytes b = { 0 };
	struct rig g;

	nocrc_open(&g, state, &plain);
	for (uint32_t i = 1; i <= ARRAY_LEN(sizes) + 1; i++) {
		nocrc_receive(&g, i);
		nocrc_read(&g, g.mem.mr, i, READ_SIZE);
		make_answer(&b, i, i);
		if (i == 1)
			nocrc_cut(&g, &b, cut, n);
		else
			nocrc_pieces(&g, &b, sizes[i - 2]);
		expect_done(&g.side, CTX(100 + i));
		nocrc_expect_message(&g, i, "small");
		expect_only(g.mem.data, AT, READ_SIZE, i);
	}
	bytes_free(&b);
	rig_close(&g);
}

/* ---- a mapped file ------------------------------------------------------------------------ */

static void expect_file(int fd, uint64_t seed, size_t len)
{
	char *got = malloc(NOCRC_SIZE);

	assert_non_null(got);
	assert_int_equal(pread(fd, got, NOCRC_SIZE, 0), NOCRC_SIZE);
	expect_only(got, AT, len, seed);
	free(got);
}

static void item_041_large_into_a_file(void **state)
{
	int fd = memfd_create("wire-crc-off", MFD_CLOEXEC);
	struct rpma_mr_local *mr = NULL;
	uint8_t data[LARGE];
	struct bytes b = { 0 };
	struct rig g;
	char *p;

	assert_int_equal(ftruncate(fd, NOCRC_SIZE), 0);
	p = mmap(NULL, NOCRC_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	nocrc_open(&g, state, &plain);
	assert_ok(rpma_mr_reg(g.side.peer, p, NOCRC_SIZE, USAGE_ALL, &mr));
	fill(data, sizeof(data), 1);
	nocrc_fpdu(&b, "c1 40 %4 %8 %p", stag_of(mr), to_of(mr) + AT, data, sizeof(data));
	nocrc_ask(&b, &g, 1, 0, 0);
	nocrc_pieces(&g, &b, 7001);
	nocrc_expect_fence(&g);
	expect_file(fd, 1, sizeof(data));
	memset(p, 0, NOCRC_SIZE);
	nocrc_receive(&g, 1);
	nocrc_read(&g, mr, 1, READ_SIZE);
	make_answer(&b, 1, 2);
	nocrc_pieces(&g, &b, 30000);
	expect_done(&g.side, CTX(101));
	nocrc_expect_message(&g, 1, "small");
	expect_file(fd, 2, READ_SIZE);
	bytes_free(&b);
	assert_ok(rpma_mr_dereg(&mr));
	munmap(p, NOCRC_SIZE);
	close(fd);
	rig_close(&g);
}

/* ---- while a message waits for its receive -------------------------------------------------- */

/* A message for which nothing is posted, two large Writes behind it, and a request. The
 * receive is posted when so many bytes of the Writes have come. */
static void waits_until(void **state, size_t cut)
{
	const size_t second = AT + LARGE + 64;
	struct bytes b = { 0 };
	uint8_t data[LARGE];
	struct rig g;
	size_t first;

	nocrc_open(&g, state, &plain);
	fill(data, sizeof(data), 1);
	nocrc_message(&b, 1, "waits");
	first = b.len;
	nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + AT, data, sizeof(data));
	nocrc_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + second, data, sizeof(data) - 1);
	nocrc_ask(&b, &g, 1, 0, 0);
	nocrc_part(&g, &b, 0, first + cut);
	assert_all(g.mem.data, g.mem.size, 0);
	expect_no_wc(g.side.rcq);
	nocrc_receive(&g, 1);
	nocrc_expect_message(&g, 1, "waits");
	raw_send_bytes(&g.raw, b.p + first + cut, b.len - first - cut);
	nocrc_expect_fence(&g);
	assert_filled(g.mem.data + AT, LARGE, 1);
	memset(g.mem.data + AT, 0, LARGE);
	expect_only(g.mem.data, second, LARGE - 1, 1);
	bytes_free(&b);
	rig_close(&g);
}

static void item_041_large_write_behind_one_that_waits(void **state)
{
	enum { WHOLE = TAGGED_HDR + LARGE + 3 + 4 };
	static const size_t cuts[] = { 0, 1, 16, 20, 30000, WHOLE - 8, WHOLE - 4, WHOLE - 1, WHOLE,
		WHOLE + 1, WHOLE + 20, WHOLE + 30000, 2 * WHOLE - 5, 2 * WHOLE, 2 * WHOLE + 30 };

	for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
		waits_until(state, cuts[i]);
}

/* Answers do not wait, however large. */
static void item_041_large_answer_behind_one_that_waits(void **state)
{
	struct bytes b = { 0 }, first = { 0 };
	struct rig g;

	nocrc_open(&g, state, &plain);
	nocrc_read(&g, g.mem.mr, 1, READ_SIZE);
	nocrc_message(&first, 1, "waits");
	nocrc_part(&g, &first, 0, first.len);
	make_answer(&b, 2, 1);
	nocrc_pieces(&g, &b, 30000);
	expect_done(&g.side, CTX(101));
	expect_only(g.mem.data, AT, READ_SIZE, 1);
	expect_no_wc(g.side.rcq);
	nocrc_receive(&g, 1);
	nocrc_expect_message(&g, 1, "waits");
	nocrc_receive(&g, 2);
	nocrc_expect_message(&g, 2, "small");
	bytes_free(&b);
	bytes_free(&first);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_041_large_read_in_pieces),
		BOTH(item_041_large_into_a_file),
		BOTH(item_041_large_write_behind_one_that_waits),
		BOTH(item_041_large_answer_behind_one_that_waits),
	};

	setenv("RPMA_TCP_CRC", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-crc-off-reads", tests, NULL, NULL);
}
