/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hello.c -- see hello.h
 */

#include <string.h>

#include "base/bytes.h"
#include "verbs/hello.h"

/* Chosen once, at random. */
#define MAGIC 0xb65e31d9

enum { AT_CAPS = 4, AT_LEN = 5, AT_ZERO = 6, AT_SUM = 7 };

static uint8_t sum_of(const uint8_t *hello)
{
	uint8_t sum = 0;

	for (int i = 0; i < HELLO_SIZE; i++)
		sum += hello[i];
	return sum;
}

uint8_t hello_put(uint8_t *data, uint8_t len, uint8_t field, uint8_t caps)
{
	uint8_t *hello = data + field - HELLO_SIZE;

	if (len > field - HELLO_SIZE)
		return len;
	memset(data + len, 0, field - len);
	put_be32(hello, MAGIC);
	hello[AT_CAPS] = caps;
	hello[AT_LEN] = len;
	hello[AT_SUM] = 255 - sum_of(hello);
	return field;
}

uint8_t hello_get(const uint8_t *data, uint8_t len, uint8_t *caps)
{
	const uint8_t *hello;

	*caps = 0;
	if (len != HELLO_IN_REQUEST && len != HELLO_IN_REPLY)
		return len;
	hello = data + len - HELLO_SIZE;
	if (get_be32(hello) != MAGIC || sum_of(hello) != 255 || hello[AT_ZERO] != 0 ||
		hello[AT_LEN] > len - HELLO_SIZE)
		return len;
	*caps = hello[AT_CAPS];
	return hello[AT_LEN];
}
