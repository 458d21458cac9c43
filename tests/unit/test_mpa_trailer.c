/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_mpa_trailer.c -- the capability trailer in the start-up frames */

#include "base/bytes.h"
#include "mpa_frames.h"
#include "support.h"
#include "tcp/iwarp/mpa.h"

static void trailer_fits(void **state)
{
	(void)state;
	assert_true(mpa_trailer_fits(0));
	assert_true(mpa_trailer_fits(231));
	assert_false(mpa_trailer_fits(232));
	assert_false(mpa_trailer_fits(MPA_DATA_MAX));
	assert_false(mpa_trailer_fits(SIZE_MAX));
}

/* Decode a frame whose private data end with a trailer that is none. */
static void assert_all_data(const uint8_t *b, size_t n, bool reply, size_t data_len)
{
	struct mpa_frame f;

	assert_int_equal(mpa_decode(guard_copy(b, n), n, reply, &f, &n), MPA_OK);
	assert_false(f.has_trailer);
	assert_int_equal(f.caps, 0);
	assert_int_equal(f.max_ulpdu, 0);
	assert_int_equal(f.data_len, data_len);
}

static void trailer_with_any_wrong_bit_is_data(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REQ "50 02 00 1b 80 10 c0 10 61 62 63" MPA_TRAILER_REQ, b, sizeof(b));

	(void)state;
	for (size_t bit = (n - MPA_TRAILER) * 8; bit < n * 8; bit++) {
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_all_data(b, n, false, 23);
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Each with a CRC that is right. */
static void trailer_of_other_format_or_role_is_data(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = { { 0, 0 }, { 7, 0 }, { 8, 0 }, { 8, 2 }, { 9, 0 }, { 9, 2 }, { 9, 3 } };
	uint8_t b[MPA_FRAME_MAX], *t = b + MPA_HDR + MPA_ENHANCED;
	size_t n;

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++) {
		n = hex(MPA_REQ "50 02 00 18 80 10 c0 10" MPA_TRAILER_REQ, b, sizeof(b));
		t[changes[i].at] = changes[i].value;
		put_le32(t + 16, crc_by_bits(0, t, 16));
		assert_all_data(b, n, false, MPA_TRAILER);
	}
	/* a mirrored request */
	n = hex(MPA_REP "50 02 00 18 80 10 c0 10" MPA_TRAILER_REQ, b, sizeof(b));
	assert_all_data(b, n, true, MPA_TRAILER);
}

static void trailer_of_another_project_is_data(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	size_t n = hex(MPA_REQ "50 02 00 1b 80 10 c0 10 61 62 63 9d 3f 51 c8 2a 74 e6 0b"
			       "01 01 00 07 fd 00 00 00 f9 93 66 63",
		b, sizeof(b));

	(void)state;
	assert_all_data(b, n, false, 23);
	/* and its form is right */
	memcpy(b, b + n - MPA_TRAILER, MPA_TRAILER);
	assert_int_equal(get_le32(b + 16), crc_by_bits(0, b, 16));
}

static void trailer_is_at_the_end_or_nowhere(void **state)
{
	uint8_t b[MPA_FRAME_MAX];
	size_t n;

	(void)state;
	n = hex(MPA_REQ "50 02 00 19 80 10 c0 10" MPA_TRAILER_REQ "00", b, sizeof(b));
	assert_all_data(b, n, false, MPA_TRAILER + 1);
	/* cut short in front, so that the block is inside it */
	n = hex(MPA_REQ "50 02 00 14" MPA_TRAILER_REQ, b, sizeof(b));
	assert_all_data(b, n, false, MPA_TRAILER - MPA_ENHANCED);
}

static void trailer_reserved_bytes_are_ignored(void **state)
{
	uint8_t b[MPA_FRAME_MAX], *t = b + MPA_HDR;
	size_t n = hex(MPA_REQ "40 01 00 14" MPA_TRAILER_REQ, b, sizeof(b));
	struct mpa_frame f;

	(void)state;
	put_be16(t + 14, 0xffff);
	put_le32(t + 16, crc_by_bits(0, t, 16));
	assert_int_equal(mpa_decode(b, n, false, &f, &n), MPA_OK);
	assert_true(f.has_trailer);
	assert_int_equal(f.data_len, 0);
}

static void trailer_with_data_of_every_length(void **state)
{
	uint8_t data[MPA_DATA_MAX], out[MPA_FRAME_MAX];
	struct mpa_frame f, in = { .revision = 2, .enhanced = true };
	size_t size;

	(void)state;
	rnd_fill(data, sizeof(data));
	for (unsigned len = 0; len <= MPA_DATA_MAX; len++) {
		in.has_trailer = mpa_trailer_fits(len);
		in.reply = len & 1;
		in.caps = (uint16_t)rnd();
		in.max_ulpdu = (uint16_t)rnd();
		in.data = data;
		in.data_len = (uint16_t)len;
		size = mpa_encode(out, &in);
		assert_true(!in.has_trailer || size <= MPA_HDR + MPA_TRAILER_PD_MAX);
		assert_int_equal(
			mpa_decode(guard_copy(out, size), size, in.reply, &f, &size), MPA_OK);
		assert_int_equal(f.has_trailer, in.has_trailer);
		assert_int_equal(f.caps, in.has_trailer ? in.caps : 0);
		assert_int_equal(f.max_ulpdu, in.has_trailer ? in.max_ulpdu : 0);
		assert_int_equal(f.data_len, len);
		assert_memory_equal(f.data, data, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trailer_fits),
		cmocka_unit_test(trailer_with_any_wrong_bit_is_data),
		cmocka_unit_test(trailer_of_other_format_or_role_is_data),
		cmocka_unit_test(trailer_of_another_project_is_data),
		cmocka_unit_test(trailer_is_at_the_end_or_nowhere),
		cmocka_unit_test(trailer_reserved_bytes_are_ignored),
		cmocka_unit_test(trailer_with_data_of_every_length),
	};

	return cmocka_run_group_tests_name("mpa-trailer", tests, NULL, NULL);
}
