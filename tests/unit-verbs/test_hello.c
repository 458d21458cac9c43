/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_hello.c -- what peers tell each other behind the private data */

#include <string.h>

#include "support.h"
#include "verbs/hello.h"

static const uint8_t fields[] = { HELLO_IN_REQUEST, HELLO_IN_REPLY };

static void comes_back(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
		for (int len = 0; len <= fields[f] - HELLO_SIZE; len++) {
			uint8_t data[HELLO_DATA_MAX], caps = 0;

			memset(data, 0xff, sizeof(data));
			assert_int_equal(hello_put(data, len, fields[f], 3), fields[f]);
			assert_int_equal(hello_get(data, fields[f], &caps), len);
			assert_int_equal(caps, 3);
			for (int i = 0; i < fields[f] - HELLO_SIZE; i++)
				assert_int_equal(data[i], i < len ? 0xff : 0);
		}
	}
}

static void has_this_form(void **state)
{
	static const uint8_t form[HELLO_SIZE] = { 0xb6, 0x5e, 0x31, 0xd9, 0x02, 0x05, 0x00, 0xda };
	uint8_t data[HELLO_IN_REQUEST];

	(void)state;
	memcpy(data, "words", 5);
	hello_put(data, 5, HELLO_IN_REQUEST, HELLO_ATOMIC_WRITE);
	assert_memory_equal(data, "words\0", 6);
	assert_memory_equal(data + 48, form, sizeof(form));
}

static void needs_room(void **state)
{
	uint8_t data[HELLO_DATA_MAX], before[HELLO_DATA_MAX], caps = 9;

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
		for (int len = fields[f] - HELLO_SIZE + 1; len <= HELLO_DATA_MAX; len++) {
			memset(data, len, sizeof(data));
			memcpy(before, data, sizeof(data));
			assert_int_equal(hello_put(data, len, fields[f], 3), len);
			assert_memory_equal(data, before, sizeof(data));
			assert_int_equal(hello_get(data, len, &caps), len);
			assert_int_equal(caps, 0);
		}
	}
}

/* Each bit of it counts; and no other length can carry one. */
static void is_not_seen_elsewhere(void **state)
{
	uint8_t data[HELLO_DATA_MAX] = { 0 }, caps;

	(void)state;
	for (int len = 0; len < HELLO_DATA_MAX; len++)
		assert_int_equal(hello_get(data, len, &caps), len);
	hello_put(data, 10, HELLO_IN_REQUEST, 3);
	for (int bit = 0; bit < 8 * HELLO_SIZE; bit++) {
		data[48 + bit / 8] ^= 1 << bit % 8;
		assert_int_equal(hello_get(data, HELLO_IN_REQUEST, &caps), HELLO_IN_REQUEST);
		assert_int_equal(caps, 0);
		data[48 + bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(hello_get(data, HELLO_IN_REQUEST - 1, &caps), HELLO_IN_REQUEST - 1);
}

/* A length that reaches into the hello itself, with a sum that is right. */
static void does_not_lie_about_the_length(void **state)
{
	uint8_t data[HELLO_DATA_MAX], caps;

	(void)state;
	hello_put(data, 48, HELLO_IN_REQUEST, 3);
	data[53]++;
	data[55]--;
	assert_int_equal(hello_get(data, HELLO_IN_REQUEST, &caps), HELLO_IN_REQUEST);
	assert_int_equal(caps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(has_this_form),
		cmocka_unit_test(needs_room),
		cmocka_unit_test(is_not_seen_elsewhere),
		cmocka_unit_test(does_not_lie_about_the_length),
	};

	return cmocka_run_group_tests_name("verbs: hello", tests, NULL, NULL);
}
