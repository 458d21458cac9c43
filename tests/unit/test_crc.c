/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_crc.c -- CRC32c, both versions against values of others and a third one */

#include <stdlib.h>

#include "support.h"
#include "tcp/iwarp/crc.h"

typedef uint32_t crc_fn(uint32_t crc, const void *data, size_t len);

static crc_fn *const versions[] = { crc32c, crc32c_table };

#define each_version(f) for (size_t v_ = 0; v_ < COUNT(versions) && (f = versions[v_]); v_++)

static void check_value(void **state)
{
	crc_fn *f;

	(void)state;
	assert_int_equal(crc_by_bits(0, "123456789", 9), 0xe3069283);
	each_version(f) assert_int_equal(f(0, "123456789", 9), 0xe3069283);
}

/* The four digests of RFC 3720, appendix B.4. */
static void iscsi_values(void **state)
{
	uint8_t b[32];
	crc_fn *f;

	(void)state;
	each_version(f)
	{
		memset(b, 0, sizeof(b));
		assert_int_equal(f(0, b, sizeof(b)), 0x8a9136aa);
		memset(b, 0xff, sizeof(b));
		assert_int_equal(f(0, b, sizeof(b)), 0x62a8ab43);
		for (unsigned i = 0; i < sizeof(b); i++)
			b[i] = (uint8_t)i;
		assert_int_equal(f(0, b, sizeof(b)), 0x46dd794e);
		for (unsigned i = 0; i < sizeof(b); i++)
			b[i] = (uint8_t)(31 - i);
		assert_int_equal(f(0, b, sizeof(b)), 0x113fdb5c);
	}
}

/* RFC 5044, figures 5 and 6: a marker before and inside a Send of 24 zeros. On the
 * wire they are 52 23 99 83 and 84 92 58 98. */
static void mpa_figures(void **state)
{
	uint8_t b[48];
	size_t n;
	crc_fn *f;

	(void)state;
	each_version(f)
	{
		memset(b, 0, sizeof(b));
		n = hex("00 00 00 00 00 2a 41 43 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00",
			b, sizeof(b));
		assert_int_equal(f(0, b, n + 24), 0x83992352);
		memset(b, 0, sizeof(b));
		n = hex("00 2a 41 43 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 14",
			b, sizeof(b));
		assert_int_equal(f(0, b, n + 24), 0x98589284);
	}
}

static void nothing_changes_nothing(void **state)
{
	crc_fn *f;

	(void)state;
	each_version(f)
	{
		assert_int_equal(f(0, "", 0), 0);
		assert_int_equal(f(0x12345678, "", 0), 0x12345678);
	}
}

static void every_alignment_and_length(void **state)
{
	uint8_t b[8 + 300];
	crc_fn *f;

	(void)state;
	rnd_fill(b, sizeof(b));
	for (size_t at = 0; at < 8; at++) {
		for (size_t len = 0; len <= 300; len++) {
			uint32_t start = (uint32_t)rnd();
			uint32_t want = crc_by_bits(start, b + at, len);

			each_version(f) assert_int_equal(f(start, b + at, len), want);
		}
	}
}

static void goes_on_where_it_was_split(void **state)
{
	uint8_t b[77];
	crc_fn *f;

	(void)state;
	rnd_fill(b, sizeof(b));
	each_version(f)
	{
		uint32_t whole = f(0, b, sizeof(b));

		for (size_t at = 0; at <= sizeof(b); at++)
			assert_int_equal(f(f(0, b, at), b + at, sizeof(b) - at), whole);
	}
}

static void never_reads_outside(void **state)
{
	crc_fn *f;

	(void)state;
	each_version(f)
	{
		for (size_t len = 0; len <= 600; len++) {
			f(0, guard_end(len), len);
			f(0, guard_begin(len), len);
		}
	}
}

static void versions_agree_on_large_data(void **state)
{
	const size_t size = 1 << 20;
	uint8_t *b = malloc(size);

	(void)state;
	assert_non_null(b);
	rnd_fill(b, size);
	assert_int_equal(crc32c(0, b, size), crc32c_table(0, b, size));
	assert_int_equal(crc32c(0, b + 3, 65541), crc_by_bits(0, b + 3, 65541));
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_value),
		cmocka_unit_test(iscsi_values),
		cmocka_unit_test(mpa_figures),
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(every_alignment_and_length),
		cmocka_unit_test(goes_on_where_it_was_split),
		cmocka_unit_test(never_reads_outside),
		cmocka_unit_test(versions_agree_on_large_data),
	};

	return cmocka_run_group_tests_name("crc", tests, NULL, NULL);
}
