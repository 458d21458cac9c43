/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crc_off_refused.c -- large segments without a CRC that are not taken, from the header on or
 * since their place has gone when half of them was there: item 41
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "half.h"

/* ---- headers that are not taken ---------------------------------------------------- */

struct bad {
	const char *control;
	uint32_t flip; /* of the STag */
	uint64_t off;
	int usage;
	const char *triple;
	enum term_hdr hdr;
};

static void bad_write(void **state, const struct bad *c)
{
	struct bytes ulpdu = { 0 };
	struct half h;

	half_open(&h, state, c->usage);
	bytes_add(&ulpdu, c->control);
	bytes_add(&ulpdu, "%4 %8 %p", h.g.stag ^ c->flip, h.g.to + c->off, h.data, (size_t)LARGE);
	nocrc_fpdu(&h.b, "%p", ulpdu.p, ulpdu.len);
	half_send(&h);
	nocrc_part(&h.g, &h.b, HALF, h.b.len - 1);
	raw_expect_quiet(&h.g.raw);
	raw_send_bytes(&h.g.raw, h.b.p + h.b.len - 1, 1);
	nocrc_ends(&h.g, c->triple, c->hdr, h.b.p);
	assert_all(h.g.mem.data, NOCRC_SIZE, 0);
	bytes_free(&ulpdu);
	half_close(&h);
}

/* It is refused when it is whole, and nothing of it is placed. */
static void item_041_bad_header_of_a_large_one(void **state)
{
	static const struct bad cases[] = {
		{ "c1 40", 0x100, 0, 0, "11 00", TERM_DDP },
		{ "c1 40", 1, 0, 0, "11 00", TERM_DDP },
		{ "c1 40", 0, NOCRC_SIZE - LARGE + 1, 0, "11 01", TERM_DDP },
		{ "c1 40", 0, NOCRC_SIZE - HALF, 0, "11 01", TERM_DDP },
		{ "c1 40", 0, UINT64_C(-1), 0, "11 01", TERM_DDP },
		{ "c1 40", 0, 0, RPMA_MR_USAGE_READ_SRC, "01 02", TERM_DDP },
		{ "c1 40", 0, 0, USAGE_ALL & ~RPMA_MR_USAGE_WRITE_DST, "01 02", TERM_DDP },
		{ "c2 40", 0, 0, 0, "11 04", TERM_BARE },
		{ "c1 80", 0, 0, 0, "02 05", TERM_BARE },
		{ "c1 42", 0, 0, 0, "02 06", TERM_BARE }, /* an answer to nothing */
		{ "c1 43", 0, 0, 0, "02 06", TERM_BARE },
		{ "c1 4f", 0, 0, 0, "02 06", TERM_BARE },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		bad_write(state, &cases[i]);
}

static void item_041_large_one_that_wraps(void **state)
{
	struct half h;

	half_open(&h, state, 0);
	half_write(&h, h.g.stag, UINT64_MAX - 40000 - AT);
	raw_expect_quiet(&h.g.raw);
	half_rest(&h);
	nocrc_ends(&h.g, "11 03", TERM_DDP, h.b.p);
	assert_all(h.g.mem.data, NOCRC_SIZE, 0);
	half_close(&h);
}

static void item_041_large_one_for_another_domain(void **state)
{
	struct region other;
	struct half h;

	half_open(&h, state, 0);
	region_open(&other, h.g.net.peer[h.g.role == RESPONDER ? CLIENT : SERVER], NOCRC_SIZE,
		USAGE_ALL);
	half_write(&h, stag_of(other.mr), to_of(other.mr));
	raw_expect_quiet(&h.g.raw);
	half_rest(&h);
	nocrc_ends(&h.g, "11 02", TERM_DDP, h.b.p);
	assert_all(other.data, NOCRC_SIZE, 0);
	region_close(&other);
	half_close(&h);
}

static void bad_answer(
	void **state, int control, uint32_t stag, uint64_t to, size_t len, const char *triple)
{
	uint8_t data[LARGE + 1] = { 1 };
	struct half h;

	half_open(&h, state, 0);
	nocrc_read(&h.g, h.g.mem.mr, 1, LARGE);
	nocrc_fpdu(&h.b, "%1 42 %4 %8 %p", control, stag, to, data, len);
	half_send(&h);
	raw_expect_quiet(&h.g.raw);
	half_rest(&h);
	nocrc_ends(&h.g, triple, TERM_DDP, h.b.p);
	expect_status(&h.g.side, CTX(101), IBV_WC_WR_FLUSH_ERR);
	assert_all(h.g.mem.data, NOCRC_SIZE, 0);
	half_close(&h);
}

static void item_041_large_answer_that_does_not_fit(void **state)
{
	bad_answer(state, 0xc1, 0x72706d62, 0, LARGE, "11 00");
	bad_answer(state, 0xc1, 0x72706d61, 1, LARGE, "11 01");
	bad_answer(state, 0xc1, 0x72706d61, 0, LARGE + 1, "11 01");
	bad_answer(state, 0xc1, 0x72706d61, 0, LARGE - 1, "11 01");
	bad_answer(state, 0x81, 0x72706d61, 0, LARGE, "11 01");
}

/* ---- the place goes away --------------------------------------------------------------- */

/* Once the registration is gone, the memory is the program's own. */
static void item_041_deregistered_in_the_middle(void **state)
{
	struct half h;

	half_open(&h, state, 0);
	half_write(&h, h.g.stag, h.g.to);
	region_dereg(&h.g.mem);
	expect_half(&h);
	memset(h.g.mem.data, 0x11, NOCRC_SIZE);
	raw_expect_quiet(&h.g.raw);
	raw_send_bytes(&h.g.raw, h.b.p + HALF, 1);
	nocrc_ends(&h.g, "11 00", TERM_DDP, h.b.p);
	nocrc_part(&h.g, &h.b, HALF + 1, h.b.len); /* read, and of no use */
	assert_ok(rpma_conn_delete(&h.g.side.conn));
	assert_all(h.g.mem.data, NOCRC_SIZE, 0x11);
	half_close(&h);
}

/* All of the payload has come, pad and CRC have not, or not all of them. */
static void item_041_deregistered_at_the_end(void **state)
{
	for (size_t tail = 0; tail < 7; tail++) {
		const size_t end = TAGGED_HDR + LARGE + tail;
		struct half h;

		half_open(&h, state, 0);
		half_write(&h, h.g.stag, h.g.to);
		nocrc_part(&h.g, &h.b, HALF, end);
		region_dereg(&h.g.mem);
		assert_filled(h.g.mem.data + AT, LARGE, 1);
		memset(h.g.mem.data, 0x11, NOCRC_SIZE);
		raw_send_bytes(&h.g.raw, h.b.p + end, h.b.len - end);
		nocrc_ends(&h.g, "11 00", TERM_DDP, h.b.p);
		assert_ok(rpma_conn_delete(&h.g.side.conn));
		assert_all(h.g.mem.data, NOCRC_SIZE, 0x11);
		half_close(&h);
	}
}

static void item_041_sink_deregistered_in_the_middle(void **state)
{
	struct half h;

	half_open(&h, state, 0);
	half_answer(&h, h.g.mem.mr);
	region_dereg(&h.g.mem);
	expect_half(&h);
	memset(h.g.mem.data, 0x11, NOCRC_SIZE);
	raw_send_bytes(&h.g.raw, h.b.p + HALF, 1);
	nocrc_ends(&h.g, "10 00", TERM_BARE, h.b.p);
	expect_status(&h.g.side, CTX(101), IBV_WC_LOC_PROT_ERR);
	nocrc_part(&h.g, &h.b, HALF + 1, h.b.len); /* read, and of no use */
	assert_ok(rpma_conn_delete(&h.g.side.conn));
	assert_all(h.g.mem.data, NOCRC_SIZE, 0x11);
	half_close(&h);
}

/* ---- the file behind the place becomes shorter ------------------------------------------- */

struct file {
	int fd;
	char *p;
	struct rpma_mr_local *mr;
};

static void file_open(struct file *f, const struct rig *g)
{
	f->fd = memfd_create("wire-crc-off", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f->fd, NOCRC_SIZE), 0);
	f->p = mmap(NULL, NOCRC_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	assert_ptr_not_equal(f->p, MAP_FAILED);
	f->mr = NULL;
	assert_ok(rpma_mr_reg(g->side.peer, f->p, NOCRC_SIZE, USAGE_ALL, &f->mr));
}

/* Only a part of the file is left; up to there the payload may have come. */
static void file_close(struct file *f)
{
	off_t left = lseek(f->fd, 0, SEEK_END);

	assert_all(f->p, AT, 0);
	assert_filled(f->p + AT, HALF_PAYLOAD < left - AT ? HALF_PAYLOAD : (size_t)left - AT, 1);
	assert_ok(rpma_mr_dereg(&f->mr));
	munmap(f->p, NOCRC_SIZE);
	close(f->fd);
}

/* left: of the file. The Terminate is that of one which is placed when it is whole. */
static void cut_short(void **state, off_t left)
{
	struct file f;
	struct half h;

	half_open(&h, state, 0);
	file_open(&f, &h.g);
	half_write(&h, stag_of(f.mr), to_of(f.mr));
	assert_int_equal(ftruncate(f.fd, left), 0);
	half_rest(&h);
	nocrc_ends(&h.g, "02 07", TERM_DDP, h.b.p);
	file_close(&f);
	half_close(&h);

	half_open(&h, state, 0);
	file_open(&f, &h.g);
	assert_int_equal(ftruncate(f.fd, 4096), 0);
	nocrc_fpdu(&h.b, "c1 40 %4 %8 776f7264", stag_of(f.mr), to_of(f.mr) + 4096);
	raw_send_bytes(&h.g.raw, h.b.p, h.b.len);
	nocrc_ends(&h.g, "02 07", TERM_DDP, h.b.p);
	assert_all(f.p, 4096, 0);
	assert_ok(rpma_mr_dereg(&f.mr));
	munmap(f.p, NOCRC_SIZE);
	close(f.fd);
	half_close(&h);
}

static void item_041_file_cut_short_in_the_middle(void **state)
{
	cut_short(state, 40960);
	cut_short(state, 28672);
	cut_short(state, 4096);
}

static void item_041_file_of_a_read_cut_short(void **state)
{
	struct file f;
	struct half h;

	half_open(&h, state, 0);
	file_open(&f, &h.g);
	half_answer(&h, f.mr);
	assert_int_equal(ftruncate(f.fd, 8192), 0);
	half_rest(&h);
	nocrc_ends(&h.g, "10 00", TERM_BARE, h.b.p);
	expect_status(&h.g.side, CTX(101), IBV_WC_LOC_PROT_ERR);
	file_close(&f);
	half_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_041_bad_header_of_a_large_one),
		BOTH(item_041_large_one_that_wraps),
		BOTH(item_041_large_one_for_another_domain),
		BOTH(item_041_large_answer_that_does_not_fit),
		BOTH(item_041_deregistered_in_the_middle),
		BOTH(item_041_deregistered_at_the_end),
		BOTH(item_041_sink_deregistered_in_the_middle),
		BOTH(item_041_file_cut_short_in_the_middle),
		BOTH(item_041_file_of_a_read_cut_short),
	};

	setenv("RPMA_TCP_CRC", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-crc-off-refused", tests, NULL, NULL);
}
