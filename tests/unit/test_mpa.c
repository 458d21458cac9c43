/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_mpa.c -- the start-up frames */

#include "base/bytes.h"
#include "mpa_frames.h"
#include "support.h"
#include "tcp/iwarp/mpa.h"

/* ---- whole frames, both directions ----------------------------------------- */

#define P2P .revision = 2, .crc = true, .enhanced = true, .peer_to_peer = true
#define DEPTH_16 .ird = 16, .ord = 16

static const struct sample {
	const char *dump;
	const char *data; /* text, for brevity */
	struct mpa_frame frame;
} samples[] = {
	/* as the siw driver asks */
	{ MPA_REQ "10 02 00 04 00 02 00 02", "",
		{ .revision = 2, .enhanced = true, .ird = 2, .ord = 2 } },
	/* as the siw driver rejects */
	{ MPA_REP "70 02 00 04 00 00 00 00", "",
		{ .reply = true, .revision = 2, .crc = true, .reject = true, .enhanced = true } },
	/* as this library asks and answers */
	{ MPA_REQ "50 02 00 04 80 10 c0 10", "",
		{ P2P, .rtr_write = true, .rtr_read = true, DEPTH_16 } },
	{ MPA_REP "50 02 00 04 80 10 80 10", "",
		{ .reply = true, P2P, .rtr_write = true, DEPTH_16 } },
	/* the same with data */
	{ MPA_REQ "50 02 00 07 80 10 c0 10 61 62 63", "abc",
		{ P2P, .rtr_write = true, .rtr_read = true, DEPTH_16 } },
	/* and with ours */
	{ MPA_REQ "50 02 00 1b 80 10 c0 10 61 62 63" MPA_TRAILER_REQ, "abc",
		{ P2P, .rtr_write = true, .rtr_read = true, DEPTH_16, .has_trailer = true,
			.caps = 7, .max_ulpdu = 0xfd00 } },
	{ MPA_REP "50 02 00 18 80 01 40 02" MPA_TRAILER_REP, "",
		{ .reply = true,
			P2P,
			.rtr_read = true,
			.ird = 1,
			.ord = 2,
			.has_trailer = true,
			.caps = 1,
			.max_ulpdu = 0xffff } },
	/* an empty Send as ready-to-receive message; depths not negotiated */
	{ MPA_REQ "10 02 00 04 ff ff 3f ff", "",
		{ .revision = 2,
			.enhanced = true,
			.peer_to_peer = true,
			.rtr_send = true,
			.ird = MPA_DEPTH_NONE,
			.ord = MPA_DEPTH_NONE } },
	/* plain frames of revision 1 */
	{ MPA_REQ "40 01 00 00", "", { .revision = 1, .crc = true } },
	{ MPA_REQ "80 01 00 02 68 69", "hi", { .revision = 1, .markers = true } },
	{ MPA_REP "20 01 00 02 6e 6f", "no", { .reply = true, .revision = 1, .reject = true } },
	/* a trailer needs no block */
	{ MPA_REQ "40 01 00 14" MPA_TRAILER_REQ, "",
		{ .revision = 1,
			.crc = true,
			.has_trailer = true,
			.caps = 7,
			.max_ulpdu = 0xfd00 } },
};

static void assert_frame(const struct mpa_frame *f, const struct mpa_frame *want, const char *data)
{
	assert_int_equal(f->reply, want->reply);
	assert_int_equal(f->revision, want->revision);
	assert_int_equal(f->markers, want->markers);
	assert_int_equal(f->crc, want->crc);
	assert_int_equal(f->reject, want->reject);
	assert_int_equal(f->enhanced, want->enhanced);
	assert_int_equal(f->peer_to_peer, want->peer_to_peer);
	assert_int_equal(f->rtr_send, want->rtr_send);
	assert_int_equal(f->rtr_write, want->rtr_write);
	assert_int_equal(f->rtr_read, want->rtr_read);
	assert_int_equal(f->ird, want->ird);
	assert_int_equal(f->ord, want->ord);
	assert_int_equal(f->has_trailer, want->has_trailer);
	assert_int_equal(f->caps, want->caps);
	assert_int_equal(f->max_ulpdu, want->max_ulpdu);
	assert_int_equal(f->data_len, strlen(data));
	assert_memory_equal(f->data, data, f->data_len);
}

static void frames_are_read(void **state)
{
	uint8_t b[MPA_FRAME_MAX + 4] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		size_t n = hex(samples[i].dump, b, sizeof(b)), size = 0;
		struct mpa_frame f;

		assert_int_equal(
			mpa_decode(guard_copy(b, n), n, samples[i].frame.reply, &f, &size), MPA_OK);
		assert_int_equal(size, n);
		assert_frame(&f, &samples[i].frame, samples[i].data);
	}
}

static void frames_are_written(void **state)
{
	uint8_t out[MPA_FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct mpa_frame f = samples[i].frame;

		f.data = (const uint8_t *)samples[i].data;
		f.data_len = (uint16_t)strlen(samples[i].data);
		assert_hex(out, mpa_encode(out, &f), samples[i].dump);
	}
}

/* Prefixes are asked for more, as it would be with one byte at a time; what follows
 * the frame is left alone. */
static void frames_arrive_in_pieces(void **state)
{
	uint8_t b[MPA_FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		size_t n = hex(samples[i].dump, b, sizeof(b)), size = 0;
		bool reply = samples[i].frame.reply;
		struct mpa_frame f;

		for (size_t len = 0; len < n; len++)
			assert_int_equal(
				mpa_decode(guard_copy(b, len), len, reply, &f, &size), MPA_MORE);
		assert_int_equal(size, 0);
		memset(b + n, 0xff, 9);
		assert_int_equal(mpa_decode(b, n + 9, reply, &f, &size), MPA_OK);
		assert_int_equal(size, n);
	}
	assert_int_equal(
		mpa_decode(NULL, 0, false, &(struct mpa_frame){ 0 }, &(size_t){ 0 }), MPA_MORE);
}

static void no_rtr_bits_without_peer_to_peer(void **state)
{
	struct mpa_frame f = { .revision = 2,
		.enhanced = true,
		.rtr_send = true,
		.rtr_write = true,
		.rtr_read = true,
		.ird = 1,
		.ord = 1 };
	uint8_t b[MPA_FRAME_MAX];
	size_t n;

	(void)state;
	assert_hex(b, mpa_encode(b, &f), MPA_REQ "10 02 00 04 00 01 00 01");
	n = hex(MPA_REQ "10 02 00 04 40 01 c0 01", b, sizeof(b));
	assert_int_equal(mpa_decode(b, n, false, &f, &n), MPA_OK);
	assert_false(f.peer_to_peer || f.rtr_send || f.rtr_write || f.rtr_read);
	assert_int_equal(f.ird, 1);
	assert_int_equal(f.ord, 1);
}

static void reject_is_a_matter_of_replies(void **state)
{
	struct mpa_frame f = { .revision = 1, .reject = true };
	uint8_t b[MPA_FRAME_MAX];
	size_t n;

	(void)state;
	assert_hex(b, mpa_encode(b, &f), MPA_REQ "00 01 00 00");
	n = hex(MPA_REQ "20 01 00 00", b, sizeof(b));
	assert_int_equal(mpa_decode(b, n, false, &f, &n), MPA_OK);
	assert_false(f.reject);
}

static void reserved_bits_are_ignored(void **state)
{
	struct mpa_frame f;
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REQ "5f 02 00 04 80 10 c0 10", b, sizeof(b));

	(void)state;
	assert_int_equal(mpa_decode(b, n, false, &f, &n), MPA_OK);
	assert_int_equal(mpa_encode(b, &f), n);
	assert_int_equal(b[16], 0x50);
}

static void revision_1_has_no_block(void **state)
{
	struct mpa_frame f;
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REQ "50 01 00 04 80 10 c0 10", b, sizeof(b));

	(void)state;
	assert_int_equal(mpa_decode(b, n, false, &f, &n), MPA_OK);
	assert_false(f.enhanced);
	assert_int_equal(f.ird, 0);
	assert_hex(f.data, f.data_len, "80 10 c0 10");
}

/* ---- what is wrong, as soon as it can be seen ------------------------------- */

/* The n bytes at b are refused from the first `at` bytes on, not before. */
static void assert_refused(const uint8_t *b, size_t n, bool reply, size_t at, enum mpa_result want)
{
	struct mpa_frame f;
	size_t size;

	for (size_t len = 0; len <= n; len++)
		assert_int_equal(mpa_decode(guard_copy(b, len), len, reply, &f, &size),
			len < at ? MPA_MORE : want);
}

static void wrong_key(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REQ "50 02 00 04 80 10 c0 10", b, sizeof(b));

	(void)state;
	assert_refused(b, n, true, 10, MPA_E_KEY);
	for (size_t i = 0; i < 16; i++) {
		b[i] ^= 0x20;
		assert_refused(b, n, false, i + 1, MPA_E_KEY);
		b[i] ^= 0x20;
	}
	n = hex("47 45 54 20 2f 20 48 54 54 50", b, sizeof(b));
	assert_refused(b, n, false, 1, MPA_E_KEY);
}

static void wrong_revision(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REP "50 02 00 04 80 10 c0 10", b, sizeof(b));

	(void)state;
	for (unsigned rev = 0; rev < 256; rev++) {
		b[17] = (uint8_t)rev;
		if (rev != 1 && rev != 2)
			assert_refused(b, n, true, 18, MPA_E_REVISION);
	}
}

static void private_data_over_the_limit(void **state)
{
	static const unsigned lengths[] = { 513, 1024, 0x8000, 0xffff };
	uint8_t b[MPA_FRAME_MAX] = { 0 };

	(void)state;
	hex(MPA_REQ "50 02", b, sizeof(b));
	for (size_t i = 0; i < COUNT(lengths); i++) {
		put_be16(b + 18, (uint16_t)lengths[i]);
		assert_refused(b, MPA_FRAME_MAX, false, 20, MPA_E_LENGTH);
	}
}

static void private_data_at_the_limit(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	struct mpa_frame f;
	size_t size = 0;

	(void)state;
	rnd_fill(b, sizeof(b));
	hex(MPA_REQ "50 02 02 00 80 10 c0 10", b, sizeof(b));
	for (size_t len = 0; len < MPA_FRAME_MAX; len++)
		assert_int_equal(mpa_decode(guard_copy(b, len), len, false, &f, &size), MPA_MORE);
	assert_int_equal(
		mpa_decode(guard_copy(b, MPA_FRAME_MAX), MPA_FRAME_MAX, false, &f, &size), MPA_OK);
	assert_int_equal(size, MPA_FRAME_MAX);
	assert_int_equal(f.data_len, MPA_PD_MAX - MPA_ENHANCED);
	assert_memory_equal(f.data, b + 24, f.data_len);
}

static void block_announced_but_not_there(void **state)
{
	uint8_t b[MPA_FRAME_MAX];

	(void)state;
	for (unsigned pd = 0; pd < MPA_ENHANCED; pd++) {
		hex(MPA_REQ "50 02 00 00 11 22 33", b, sizeof(b));
		b[19] = (uint8_t)pd;
		assert_refused(b, MPA_HDR + pd, false, 20, MPA_E_ENHANCED);
		b[16] = 0x70; /* R says nothing in a request */
		assert_refused(b, MPA_HDR + pd, false, 20, MPA_E_ENHANCED);
		hex(MPA_REP "50", b, sizeof(b));
		assert_refused(b, MPA_HDR + pd, true, 20, MPA_E_ENHANCED);
	}
}

static void reject_may_lack_the_block(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	struct mpa_frame f;
	size_t size;

	(void)state;
	for (unsigned pd = 0; pd < MPA_ENHANCED; pd++) {
		size_t n = MPA_HDR + pd;

		hex(MPA_REP "70 02 00 00 11 22 33", b, sizeof(b));
		b[19] = (uint8_t)pd;
		assert_refused(b, n - 1, true, n, MPA_OK);
		assert_int_equal(mpa_decode(guard_copy(b, n), n, true, &f, &size), MPA_OK);
		assert_true(f.reject);
		assert_false(f.enhanced);
		assert_int_equal(size, n);
		assert_int_equal(f.data_len, pd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_read),
		cmocka_unit_test(frames_are_written),
		cmocka_unit_test(frames_arrive_in_pieces),
		cmocka_unit_test(no_rtr_bits_without_peer_to_peer),
		cmocka_unit_test(reject_is_a_matter_of_replies),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(revision_1_has_no_block),
		cmocka_unit_test(wrong_key),
		cmocka_unit_test(wrong_revision),
		cmocka_unit_test(private_data_over_the_limit),
		cmocka_unit_test(private_data_at_the_limit),
		cmocka_unit_test(block_announced_but_not_there),
		cmocka_unit_test(reject_may_lack_the_block),
	};

	return cmocka_run_group_tests_name("mpa", tests, NULL, NULL);
}
