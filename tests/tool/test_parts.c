/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * test_parts.c -- the tool's messages, by literal bytes; its histogram; its units
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "proto.h"
#include "tool.h"

/* units.c needs it, for what is not called here. */
void fail(const char *format, ...)
{
	(void)format;
	abort();
}

#include <cmocka.h> /* which has a macro of that name */

/* clang-format off */
static const uint8_t load_bytes[HELLO_SIZE] = {
	'r', 'p', 'm', 'a', 1, 3, 5, 7,  0x00, 2, 0, 0,  0, 0, 0x10, 0,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 0, 0, 0,
};
/* clang-format on */

static struct hello load_hello(void)
{
	struct hello h = { ROLE_LOAD, OP_SEND, HELLO_FLAGS, 512, 1 << 20, 0x1122334455667788, "",
		{ 0 } };

	for (uint8_t i = 0; i < DESC_SIZE; i++)
		h.desc[i] = (uint8_t)(i + 1);
	return h;
}

static void hello_bytes(void **state)
{
	struct hello h = load_hello(), back;
	uint8_t buf[HELLO_SIZE], again[HELLO_SIZE];
	unsigned version;

	(void)state;
	hello_encode(&h, buf);
	assert_memory_equal(buf, load_bytes, HELLO_SIZE);
	assert_true(hello_decode(buf, HELLO_SIZE, &back, &version));
	hello_encode(&back, again);
	assert_memory_equal(again, load_bytes, HELLO_SIZE);
}

static void hello_padded_or_short(void **state)
{
	uint8_t buf[HELLO_SIZE + 8] = { 0 };
	struct hello h;
	unsigned version;

	(void)state;
	memcpy(buf, load_bytes, HELLO_SIZE);
	assert_true(hello_decode(buf, sizeof(buf), &h, &version));
	for (size_t len = 0; len < HELLO_SIZE; len++)
		assert_false(hello_decode(buf, len, &h, &version));
	assert_int_equal(version, 0);
	assert_false(hello_decode(NULL, 0, &h, &version));
}

/* Each is one byte of load_bytes made senseless. */
static void hello_senseless(void **state)
{
	static const struct {
		uint8_t at, value;
		unsigned version;
	} cases[] = {
		{ 0, 'R', 0 },
		{ 4, 2, 2 },
		{ 5, ROLES, 0 },
		{ 6, OPS, 0 },
		{ 6, OP_CONNECT, 0 },
		{ 7, 8, 0 },
		{ 9, 0, 0 },
		{ 10, 1, 0 },
		{ 14, 0, 0 },
		{ 15, 0xff, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t buf[HELLO_SIZE];
		struct hello h;
		unsigned version;

		memcpy(buf, load_bytes, HELLO_SIZE);
		buf[cases[i].at] = cases[i].value;
		assert_false(hello_decode(buf, HELLO_SIZE, &h, &version));
		assert_int_equal(version, cases[i].version);
	}
}

static void hello_name(void **state)
{
	struct hello h = { .role = ROLE_COPY, .name = "a b\033[2J\xff" }, back;
	uint8_t buf[HELLO_SIZE];
	unsigned version;

	(void)state;
	hello_encode(&h, buf);
	assert_true(hello_decode(buf, HELLO_SIZE, &back, &version));
	assert_string_equal(back.name, "a?b?[2J?");
	memset(buf + 24, 'x', NAME_SIZE);
	assert_true(hello_decode(buf, HELLO_SIZE, &back, &version));
	assert_int_equal(strlen(back.name), NAME_SIZE);
}

static void offer_bytes(void **state)
{
	static const uint8_t bytes[9] = { 'r', 'p', 'm', 'a', 1, 2, 3, 3, 1 };
	struct offer o = { 1, OFFER_TOO_MUCH, 3, OFFER_CAN_SYNC | OFFER_DIRECT, true, { 7 } };
	struct offer back;
	uint8_t buf[OFFER_SIZE], again[OFFER_SIZE];

	(void)state;
	offer_encode(&o, buf);
	assert_memory_equal(buf, bytes, sizeof(bytes));
	assert_int_equal(buf[9], 7);
	assert_true(offer_decode(buf, OFFER_SIZE, &back));
	offer_encode(&back, again);
	assert_memory_equal(again, buf, OFFER_SIZE);
	assert_false(offer_decode(buf, OFFER_SIZE - 1, &back));
	buf[5] = OFFERS;
	assert_false(offer_decode(buf, OFFER_SIZE, &back));
	buf[4] = 9;
	assert_true(offer_decode(buf, OFFER_SIZE, &back));
	assert_int_equal(back.status, OFFER_VERSION);
	buf[0] = 0;
	assert_false(offer_decode(buf, OFFER_SIZE, &back));
}

static void requests(void **state)
{
	struct request r = { REQUEST_SYNC, 0x0102030405060708, 9 }, back;
	uint8_t buf[REQUEST_SIZE];

	(void)state;
	request_encode(&r, buf);
	assert_int_equal(buf[0], 2);
	assert_int_equal(buf[8], 8);
	assert_int_equal(buf[15], 1);
	assert_true(request_decode(buf, REQUEST_SIZE, &back));
	assert_int_equal(back.type, REQUEST_SYNC);
	assert_true(back.offset == r.offset && back.length == 9);
	assert_false(request_decode(buf, REQUEST_SIZE - 1, &back));
	buf[0] = 0;
	assert_false(request_decode(buf, REQUEST_SIZE, &back));
	buf[0] = REQUEST_TYPES;
	assert_false(request_decode(buf, REQUEST_SIZE, &back));
}

static void replies(void **state)
{
	struct reply r = { .n_hashes = HASHES_MAX, .counts = { 1, 2, 3, 4, 5 } }, back;
	uint8_t buf[REPLY_SIZE];
	size_t len;

	(void)state;
	memset(r.hashes, 0xa5, sizeof(r.hashes));
	len = reply_encode(REQUEST_HASH, &r, buf);
	assert_int_equal(len, REPLY_SIZE);
	assert_true(reply_decode(REQUEST_HASH, buf, len, &back));
	assert_memory_equal(back.hashes, r.hashes, sizeof(r.hashes));
	assert_false(reply_decode(REQUEST_HASH, buf, len - 1, &back));
	assert_false(reply_decode(REQUEST_COUNT, buf, len, &back));
	buf[2] = HASHES_MAX + 1;
	assert_false(reply_decode(REQUEST_HASH, buf, len + HASH_SIZE, &back));

	len = reply_encode(REQUEST_COUNT, &r, buf);
	assert_true(reply_decode(REQUEST_COUNT, buf, len, &back));
	assert_memory_equal(&back.counts, &r.counts, sizeof(r.counts));
	assert_false(reply_decode(REQUEST_COUNT, buf, len - 8, &back));
	assert_false(reply_decode(REQUEST_COUNT, buf, 0, &back));
}

/* Whatever it is, nothing out of bounds is read or comes out. */
static void random_bytes(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned i = 0; i < 200000; i++) {
		size_t len = (size_t)random() % (HELLO_SIZE + 1);
		uint8_t *buf = malloc(len ? len : 1);
		struct request r;
		struct hello h;
		unsigned version;

		assert_non_null(buf);
		for (size_t k = 0; k < len; k++)
			buf[k] = (uint8_t)random();
		memcpy(buf, load_bytes, len < 5 ? len : 5);
		if (hello_decode(buf, len, &h, &version)) {
			assert_true(h.role < ROLES && h.op < OPS && h.size <= UINT32_MAX);
			assert_true(h.role != ROLE_LOAD || h.depth <= DEPTH_MAX);
		}
		if (request_decode(buf, len, &r))
			assert_true(r.type < REQUEST_TYPES);
		free(buf);
	}
}

/* ---- histogram --------------------------------------------------------------------- */

static struct hist hist;

static void percentiles(void **state)
{
	(void)state;
	memset(&hist, 0, sizeof(hist));
	assert_int_equal(hist_percentile(&hist, 50), 0);
	for (uint64_t v = 1; v <= 100000; v++)
		hist_add(&hist, v);
	for (double p = 1; p <= 100; p++) {
		double exact = p * 1000, got = (double)hist_percentile(&hist, p);

		assert_true(got >= exact && got <= exact * (1 + 1. / 128));
	}
	assert_int_equal(hist_percentile(&hist, 100), 100000);
	assert_int_equal(hist.min, 1);
	assert_true(hist_mean(&hist) == 50000.5);
	assert_true(hist_deviation(&hist) > 28867 && hist_deviation(&hist) < 28868);
}

static void extremes_and_merging(void **state)
{
	static struct hist other, empty;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	hist_add(&hist, 0);
	hist_add(&other, UINT64_MAX);
	hist_merge(&hist, &other);
	hist_merge(&hist, &empty);
	assert_int_equal(hist.count, 2);
	assert_int_equal(hist.min, 0);
	assert_true(hist_percentile(&hist, 100) == UINT64_MAX);
	assert_int_equal(hist_percentile(&hist, 50), 0);
}

/* ---- units ---------------------------------------------------------------------------- */

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = { { "0", 0 }, { "4096", 4096 }, { "0x10", 16 }, { "4k", 4096 }, { "4K", 4096 },
		{ "1M", 1 << 20 }, { "2GiB", (uint64_t)2 << 30 }, { "1T", (uint64_t)1 << 40 } };
	static const char *const bad[] = { "", "k", "-1", " 1", "4q", "4kk", "16777216T",
		"99999999999999999999", "1.5k" };
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(parse_size(good[i].text, &v));
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_size(bad[i], &v));
}

static void targets(void **state)
{
	struct target t;

	(void)state;
	assert_true(parse_target("host", &t));
	assert_string_equal(t.port, "7470");
	assert_false(t.has_offset || t.has_length);
	assert_true(parse_target("host:1@4k+0x10", &t));
	assert_string_equal(t.host, "host");
	assert_string_equal(t.port, "1");
	assert_int_equal(t.offset, 4096);
	assert_int_equal(t.length, 16);
	assert_true(parse_target("[fe80::1%eth0]:65535+1", &t));
	assert_string_equal(t.host, "fe80::1%eth0");
	assert_string_equal(t.port, "65535");
	assert_true(parse_target("::1", &t));
	assert_string_equal(t.host, "::1");
	assert_true(parse_target("[::1]", &t));
	assert_false(parse_target("", &t) || parse_target("h:", &t) || parse_target("h:0", &t));
	assert_false(parse_target("[::1", &t) || parse_target("[::1]7", &t));
	assert_false(parse_target("h@", &t) || parse_target("h+-1", &t));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_bytes),
		cmocka_unit_test(hello_padded_or_short),
		cmocka_unit_test(hello_senseless),
		cmocka_unit_test(hello_name),
		cmocka_unit_test(offer_bytes),
		cmocka_unit_test(requests),
		cmocka_unit_test(replies),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(extremes_and_merging),
		cmocka_unit_test(sizes),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
