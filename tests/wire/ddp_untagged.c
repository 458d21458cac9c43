/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* ddp_untagged.c -- queues, numbers, offsets of messages: items 59, 60, 62 to 67 */

#include <string.h>
#include <sys/socket.h>

#include "rig.h"

#define SEND "43 00000000 00000000"

static void item_059_send_on_a_wrong_queue(void **state)
{
	static const uint32_t qns[] = { 1, 2, 3, 4, 0xffffffff };

	for (size_t i = 0; i < ARRAY_LEN(qns); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		raw_fpdu(&g.raw, "41 43 00000000 %4 00000001 00000000 deadbeef", qns[i]);
		rig_dies(&g, "12 01", TERM_DDP);
	}
}

static void item_060_wrong_number(void **state)
{
	static const uint32_t msns[] = { 0, 2, 0xffffffff, 0x80000001 };

	for (size_t i = 0; i < ARRAY_LEN(msns); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		raw_fpdu(&g.raw, "41" SEND "%4 00000000 deadbeef", msns[i]);
		rig_dies(&g, "12 03", TERM_DDP);
	}
}

static void item_060_number_used_twice(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	for (int i = 0; i < 2; i++)
		post_recv(&g.side, &g.mem, 64, CTX(i));
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000");
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000 deadbeef");
	expect_recv(&g.side, CTX(0));
	rig_dies(&g, "12 03", TERM_DDP);
}

/* Where others break the connection ours waits: like hardware that is told to try
 * again for ever. */
static void item_062_no_receive_posted(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000 6c617465");
	raw_fpdu(&g.raw, "c1 40 %4 %8 626568696e64", g.stag, g.to + 64);
	raw_sync(&g.raw);
	expect_no_wc(g.side.rcq);
	assert_all(g.mem.data, 128, 0); /* nor does what came behind it overtake */
	raw_expect_quiet(&g.raw);
	post_recv(&g.side, &g.mem, 64, CTX(1));
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 4);
	rig_fence(&g, 1);
	assert_memory_equal(g.mem.data, "late", 4);
	assert_memory_equal(g.mem.data + 64, "behind", 6);
	rig_close(&g);
}

/* Answers to the library's own requests do not wait with it; and they are judged. */
static void item_062_answers_overtake(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	for (uint64_t i = 1; i <= 2; i++) {
		struct bytes f;

		assert_ok(rpma_read(g.side.conn, g.mem.mr, 512 * i, far, 0, 4,
			RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		f = raw_read_fpdu(&g.raw);
		bytes_free(&f);
	}
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000 6c617465");
	raw_fpdu(&g.raw, "c1 40 %4 %8 626568696e64", g.stag, g.to + 64);
	raw_fpdu(&g.raw, "81 42 72706d61 0000000000000000 6f76");
	raw_fpdu(&g.raw, "c1 40 %4 %8 626568696e64", g.stag, g.to + 72);
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000002 6572");
	expect_done(&g.side, CTX(1));
	assert_memory_equal(g.mem.data + 512, "over\0", 5);
	assert_all(g.mem.data, 512, 0);
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000 deadbeefde");
	rig_ends(&g, "11 01", TERM_DDP);
	expect_status(&g.side, CTX(2), IBV_WC_WR_FLUSH_ERR);
	assert_all(g.mem.data + 1024, 64, 0);
	assert_all(g.mem.data, 512, 0);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

/* More behind it than the library is willing to keep: the stream stops. */
static void item_062_much_behind(void **state)
{
	struct rig_opts o = { .size = 1 << 16 };
	struct bytes b = { 0 };
	uint8_t data[60000];
	size_t sent = 0;
	struct rig g;

	rig_open(&g, state, &o);
	fill(data, sizeof(data), 62);
	bytes_fpdu(&b, "41" SEND "00000001 00000000 6c617465");
	for (uint64_t i = 0; i < 400; i++)
		bytes_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + 8 * i, data, sizeof(data));
	for (ssize_t n = 1; n > 0; sent += n > 0 ? (size_t)n : 0)
		n = send(g.raw.fd, b.p + sent, b.len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	assert_true(sent > 0);
	expect_no_wc(g.side.rcq);
	assert_all(g.mem.data, g.mem.size, 0);
	post_recv(&g.side, NULL, 0, CTX(1));
	expect_recv_status(&g.side, CTX(1), IBV_WC_LOC_LEN_ERR);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	assert_all(g.mem.data, g.mem.size, 0);
	rig_drop(&g);

	rig_open(&g, state, &o);
	b.len = 0;
	bytes_fpdu(&b, "41" SEND "00000001 00000000");
	for (uint64_t i = 0; i < 400; i++)
		bytes_fpdu(&b, "c1 40 %4 %8 %p", g.stag, g.to + 8 * i, data, sizeof(data));
	sent = 0;
	for (ssize_t n = 1; n > 0; sent += n > 0 ? (size_t)n : 0)
		n = send(g.raw.fd, b.p + sent, b.len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	post_recv(&g.side, NULL, 0, CTX(1));
	expect_recv(&g.side, CTX(1));
	raw_send_bytes(&g.raw, b.p + sent, b.len - sent);
	rig_fence(&g, 1);
	for (size_t i = 0; i < 399; i++)
		assert_memory_equal(g.mem.data + 8 * i, data, 8);
	assert_memory_equal(g.mem.data + 8 * 399, data, sizeof(data));
	bytes_free(&b);
	rig_close(&g);
}

static void item_063_too_long(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	post_recv(&g.side, &g.mem, 3, CTX(1));
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000 deadbeef");
	expect_recv_status(&g.side, CTX(1), IBV_WC_LOC_LEN_ERR);
	rig_dies(&g, "12 05", TERM_DDP);
}

static void item_063_too_long_in_segments(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	post_recv(&g.side, &g.mem, 7, CTX(1));
	raw_fpdu(&g.raw, "01" SEND "00000001 00000000 61626364");
	raw_fpdu(&g.raw, "01" SEND "00000001 00000004 deadbeef");
	expect_recv_status(&g.side, CTX(1), IBV_WC_LOC_LEN_ERR);
	rig_ends(&g, "12 05", TERM_DDP);
	assert_memory_equal(g.mem.data, "abcd\0\0\0\0", 8);
	assert_all(g.mem.data + 8, g.mem.size - 8, 0);
	rig_drop(&g);
}

static void item_064_wrong_offset(void **state)
{
	static const uint32_t first[] = { 1, 4, 0xffffffff }, second[] = { 0, 3, 5, 0xfffffffc };
	struct rig g;

	for (size_t i = 0; i < ARRAY_LEN(first); i++) {
		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		raw_fpdu(&g.raw, "41" SEND "00000001 %4 deadbeef", first[i]);
		rig_dies(&g, "12 04", TERM_DDP);
	}
	for (size_t i = 0; i < ARRAY_LEN(second); i++) {
		rig_open(&g, state, NULL);
		post_recv(&g.side, &g.mem, 64, CTX(1));
		raw_fpdu(&g.raw, "01" SEND "00000001 00000000 61626364");
		raw_fpdu(&g.raw, "41" SEND "00000001 %4 deadbeef", second[i]);
		rig_ends(&g, "12 04", TERM_DDP);
		assert_all(g.mem.data + 4, g.mem.size - 4, 0);
		rig_drop(&g);
	}
}

static void item_065_empty_send(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	post_recv(&g.side, NULL, 0, CTX(1));
	post_recv(&g.side, &g.mem, 64, CTX(2));
	raw_fpdu(&g.raw, "41" SEND "00000001 00000000");
	raw_fpdu(&g.raw, "41" SEND "00000002 00000000");
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 0);
	assert_int_equal(expect_recv(&g.side, CTX(2)).byte_len, 0);
	assert_all(g.mem.data, g.mem.size, 0);
	rig_close(&g);
}

static void item_066_send_in_segments(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	post_recv(&g.side, &g.mem, 9, CTX(1));
	raw_fpdu(&g.raw, "01" SEND "00000001 00000000 616263");
	raw_fpdu(&g.raw, "01" SEND "00000001 00000003 64656667");
	raw_sync(&g.raw);
	expect_no_wc(g.side.rcq);
	raw_fpdu(&g.raw, "41" SEND "00000001 00000007 6869");
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 9);
	assert_memory_equal(g.mem.data, "abcdefghi\0", 10);
	expect_no_wc(g.side.rcq);
	rig_close(&g);
}

/* All FPDUs of a message that the library sends: one number, offsets without gaps */
static void expect_message(struct rig *g, uint32_t msn, size_t size)
{
	size_t done = 0;

	do {
		struct bytes f = raw_read_fpdu(&g->raw), hdr = { 0 };
		size_t len = ((size_t)f.p[0] << 8 | f.p[1]) - 18;

		bytes_add(&hdr, "%1" SEND "%4 %4", done + len < size ? 0x01 : 0x41, msn,
			(uint32_t)done);
		assert_memory_equal(f.p + 2, hdr.p, hdr.len);
		assert_true(len <= size - done);
		assert_memory_equal(f.p + 20, g->mem.data + done, len);
		done += len;
		bytes_free(&hdr);
		bytes_free(&f);
	} while (done < size);
}

static void item_067_numbers_sent(void **state)
{
	static const size_t sizes[] = { 0, 1, 200000, 3, 65536 };
	struct rig_opts o = { .size = 200000 };
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, &o);
	fill(g.mem.data, o.size, 67);
	for (uint32_t i = 0; i < ARRAY_LEN(sizes); i++) {
		assert_ok(rpma_send(
			g.side.conn, g.mem.mr, 0, sizes[i], RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		expect_message(&g, i + 1, sizes[i]);
		expect_done(&g.side, CTX(i));
		assert_ok(rpma_read(
			g.side.conn, g.mem.mr, 0, far, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		raw_expect_fpdu(&g.raw,
			"41 41 00000000 00000001 %4 00000000 72706d61 0000000000000000"
			"00000000 %4 %8",
			i + 1, FAR_STAG, FAR_TO);
		raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000");
		expect_done(&g.side, CTX(i));
	}
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_059_send_on_a_wrong_queue),
		BOTH(item_060_wrong_number),
		BOTH(item_060_number_used_twice),
		BOTH(item_062_no_receive_posted),
		BOTH(item_062_answers_overtake),
		BOTH(item_062_much_behind),
		BOTH(item_063_too_long),
		BOTH(item_063_too_long_in_segments),
		BOTH(item_064_wrong_offset),
		BOTH(item_065_empty_send),
		BOTH(item_066_send_in_segments),
		BOTH(item_067_numbers_sent),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-ddp-untagged", tests, NULL, NULL);
}
