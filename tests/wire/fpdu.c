/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fpdu.c -- framing and CRC: items 37 to 40 and 42 to 46 */

#include <string.h>

#include "rig.h"

static void item_037_payloads_out(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	rig_open(&g, state, NULL);
	fill(g.mem.data, 64, 37);
	for (size_t len = 0; len <= 64; len++) {
		assert_ok(rpma_write(
			g.side.conn, far, 0, g.mem.mr, 0, len, RPMA_F_COMPLETION_ALWAYS, CTX(len)));
		raw_expect_fpdu(&g.raw, "c1 40 %4 %8 %p", FAR_STAG, FAR_TO, g.mem.data, len);
		expect_done(&g.side, CTX(len));
		assert_ok(rpma_send(
			g.side.conn, g.mem.mr, 0, len, RPMA_F_COMPLETION_ALWAYS, CTX(len)));
		raw_expect_fpdu(&g.raw, "41 43 00000000 00000000 %4 00000000 %p", (uint32_t)len + 1,
			g.mem.data, len);
		expect_done(&g.side, CTX(len));
	}
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

static void item_037_payloads_in(void **state)
{
	uint8_t data[64];
	struct rig g;

	rig_open(&g, state, NULL);
	fill(data, sizeof(data), 1037);
	for (size_t len = 0; len <= 64; len++) {
		memset(g.mem.data, 0, 128);
		raw_fpdu(&g.raw, "c1 40 %4 %8 %p", g.stag, g.to, data, len);
		post_recv(&g.side, &g.mem, len, CTX(len));
		rig_fence(&g, (uint32_t)len + 1);
		assert_memory_equal(g.mem.data, data, len);
		assert_all(g.mem.data + len, 128 - len, 0);
		memset(g.mem.data, 0, 128);
		raw_fpdu(&g.raw, "41 43 00000000 00000000 %4 00000000 %p", (uint32_t)len + 1, data,
			len);
		assert_int_equal(expect_recv(&g.side, CTX(len)).byte_len, len);
		assert_memory_equal(g.mem.data, data, len);
		assert_all(g.mem.data + len, 128 - len, 0);
	}
	rig_close(&g);
}

/* Worked out by hand from the RFCs, and checked by a dissector */
static void item_038_known_bytes(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	assert_int_equal(bytes_crc32c("123456789", 9), 0xe3069283);
	rig_open(&g, state, NULL);
	memcpy(g.mem.data, "Helloping1234", 13);
	assert_ok(rpma_write(g.side.conn, far, 0, g.mem.mr, 0, 5, RPMA_F_COMPLETION_ALWAYS, NULL));
	raw_expect(&g.raw, "0013c140 00ab3c07 00007f0011223344 48656c6c6f 000000 85e6346e");
	assert_ok(rpma_send(g.side.conn, g.mem.mr, 5, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	raw_expect(
		&g.raw, "001a4143 00000000 00000000 00000001 00000000 70696e6731323334 a9477783");
	for (int i = 0; i < 2; i++)
		expect_done(&g.side, NULL);
	post_recv(&g.side, &g.mem, 64, CTX(1));
	raw_send(&g.raw, "001a4143 00000000 00000000 00000001 00000000 70696e6731323334 a9477783");
	assert_int_equal(expect_recv(&g.side, CTX(1)).byte_len, 8);
	assert_memory_equal(g.mem.data, "ping1234", 8);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

/* A Write of 5 bytes, one bit of it wrong; filler, so that a longer length finds its
 * bytes, too. */
static void flipped(void **state, size_t bit)
{
	struct bytes b = { 0 };
	bool too_short;
	struct rig g;

	rig_open(&g, state, NULL);
	bytes_fpdu(&b, "c1 40 %4 %8 48656c6c6f", g.stag, g.to);
	b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	too_short = b.p[0] == 0 && b.p[1] < 14;
	if (bit < 16)
		bytes_add(&b, "%z", (size_t)65536);
	raw_send_maybe(&g.raw, b.p, b.len);
	bytes_free(&b);
	rig_dies(&g, too_short ? "20 03" : "20 02", TERM_BARE);
}

static void item_039_flipped_bit(void **state)
{
	for (size_t bit = 0; bit < 28 * 8; bit++)
		flipped(state, bit);
}

static void item_040_pad_not_zero(void **state)
{
	struct bytes b = { 0 };
	struct rig g;

	rig_open(&g, state, NULL);
	bytes_fpdu(&b, "c1 40 %4 %8 48656c6c6f", g.stag, g.to);
	memset(b.p + b.len - 7, 0xa5, 3);
	bytes_recrc(b.p, b.len - 4);
	raw_send_bytes(&g.raw, b.p, b.len);
	rig_fence(&g, 1);
	assert_memory_equal(g.mem.data, "Hello\0\0\0", 8);
	bytes_free(&b);
	rig_close(&g);
}

static void item_042_split_everywhere(void **state)
{
	struct bytes b = { 0 };
	uint32_t msn = 1;
	struct rig g;

	rig_open(&g, state, NULL);
	bytes_fpdu(&b, "c1 40 %4 %8 73706c6974", g.stag, g.to);
	for (size_t at = 1; at < b.len; at++) {
		memset(g.mem.data, 0, 8);
		raw_send_bytes(&g.raw, b.p, at);
		raw_sync(&g.raw);
		assert_all(g.mem.data, 8, 0);
		raw_send_bytes(&g.raw, b.p + at, b.len - at);
		rig_fence(&g, msn++);
		assert_memory_equal(g.mem.data, "split\0\0\0", 8);
	}
	memset(g.mem.data, 0, 8);
	for (size_t at = 0; at < b.len; at++) {
		raw_send_bytes(&g.raw, b.p + at, 1);
		raw_sync(&g.raw);
	}
	rig_fence(&g, msn++);
	assert_memory_equal(g.mem.data, "split\0\0\0", 8);
	bytes_free(&b);
	rig_close(&g);
}

static void item_042_ten_at_once(void **state)
{
	struct bytes b = { 0 };
	struct rig g;

	rig_open(&g, state, NULL);
	for (int i = 0; i < 10; i++)
		bytes_fpdu(&b, "c1 40 %4 %8 %1 %1", g.stag, g.to + 2 * (uint64_t)i, i, i + 1);
	raw_send_bytes(&g.raw, b.p, b.len);
	rig_fence(&g, 1);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(g.mem.data[2 * i], i);
		assert_int_equal(g.mem.data[2 * i + 1], i + 1);
	}
	bytes_free(&b);
	rig_close(&g);
}

static void item_043_shorter_than_headers(void **state)
{
	for (size_t len = 0; len < 18; len++)
		for (int tagged = 0; tagged < 2; tagged++) {
			const char *hdr = tagged ? "c140" : "4143";
			struct bytes ulpdu = { 0 };
			struct rig g;

			if (tagged && len >= 14)
				continue;
			bytes_add(&ulpdu, hdr);
			bytes_add(&ulpdu, "%z", (size_t)16);
			rig_open(&g, state, NULL);
			raw_fpdu(&g.raw, "%p", ulpdu.p, len);
			bytes_free(&ulpdu);
			rig_dies(&g, "20 03", TERM_BARE);
		}
}

static void item_044_read_request_of_wrong_size(void **state)
{
	for (size_t extra = 0; extra < 3; extra += 2) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw,
			"41 41 00000000 00000001 00000001 00000000"
			"00000001 0000000000000001 00000004 %4 00 %z",
			g.stag, 6 + extra);
		if (extra)
			rig_dies(&g, "02 ff", TERM_DDP);
		else
			rig_dies(&g, "20 03", TERM_BARE);
	}
}

static void item_045_largest_fpdu(void **state)
{
	struct rig_opts o = { .size = 1 << 17 };
	uint8_t data[65535 - 14];
	struct rig g;

	fill(data, sizeof(data), 45);
	rig_open(&g, state, &o);
	raw_fpdu(&g.raw, "c1 40 %4 %8 %p", g.stag, g.to + 4096, data, sizeof(data));
	rig_fence(&g, 1);
	assert_all(g.mem.data, 4096, 0);
	assert_filled(g.mem.data + 4096, sizeof(data), 45);
	assert_all(g.mem.data + 4096 + sizeof(data), (1 << 17) - 4096 - sizeof(data), 0);
	rig_close(&g);
}

/* Every segment of a large Write: framing, limits, flags, offsets. */
static void item_046_what_is_sent(void **state)
{
	struct rig_opts o = { .size = 300001 };
	struct rpma_mr_remote *far = far_region();
	size_t done = 0;
	struct rig g;

	rig_open(&g, state, &o);
	fill(g.mem.data, o.size, 46);
	assert_ok(rpma_write(
		g.side.conn, far, 0, g.mem.mr, 0, o.size, RPMA_F_COMPLETION_ALWAYS, NULL));
	while (done < o.size) {
		struct bytes f = raw_read_fpdu(&g.raw);
		size_t len = ((size_t)f.p[0] << 8 | f.p[1]) - 14;
		struct bytes hdr = { 0 };

		assert_int_equal(f.len % 4, 0);
		assert_in_range(len + 14, 14, 64768);
		assert_true(len <= o.size - done);
		bytes_add(&hdr, "%1 40 %4 %8", done + len < o.size ? 0x81 : 0xc1, FAR_STAG,
			FAR_TO + done);
		assert_memory_equal(f.p + 2, hdr.p, hdr.len);
		assert_memory_equal(f.p + 16, g.mem.data + done, len);
		if (done + len < o.size)
			assert_int_equal(len % 8, 0);
		done += len;
		bytes_free(&hdr);
		bytes_free(&f);
	}
	expect_done(&g.side, NULL);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_037_payloads_out),
		BOTH(item_037_payloads_in),
		BOTH(item_038_known_bytes),
		BOTH(item_039_flipped_bit),
		BOTH(item_040_pad_not_zero),
		BOTH(item_042_split_everywhere),
		BOTH(item_042_ten_at_once),
		BOTH(item_043_shorter_than_headers),
		BOTH(item_044_read_request_of_wrong_size),
		BOTH(item_045_largest_fpdu),
		BOTH(item_046_what_is_sent),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-fpdu", tests, NULL, NULL);
}
