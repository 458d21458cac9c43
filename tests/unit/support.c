/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* support.c -- see support.h */

#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "support.h"

static unsigned digit(char c)
{
	assert_true(isxdigit((unsigned char)c));
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

size_t hex(const char *text, uint8_t *out, size_t room)
{
	size_t n = 0;

	while (*text) {
		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		assert_true(n < room);
		out[n++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
		text += 2;
	}
	return n;
}

void assert_hex_at(const void *p, size_t len, const char *text, const char *file, int line)
{
	uint8_t want[1024];
	size_t n = hex(text, want, sizeof(want));

	_assert_int_equal(len, n, file, line);
	_assert_memory_equal(p, want, n, file, line);
}

/* GUARD_MAX bytes between two pages that nobody may touch. */
static uint8_t *arena(void)
{
	static uint8_t *usable;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *m;

	if (usable)
		return usable;
	assert_int_equal(GUARD_MAX % page, 0);
	m = mmap(NULL, GUARD_MAX + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m != MAP_FAILED);
	assert_int_equal(mprotect(m + page, GUARD_MAX, PROT_READ | PROT_WRITE), 0);
	usable = m + page;
	return usable;
}

uint8_t *guard_end(size_t len)
{
	assert_true(len <= GUARD_MAX);
	return arena() + GUARD_MAX - len;
}

uint8_t *guard_begin(size_t len)
{
	assert_true(len <= GUARD_MAX);
	return arena();
}

uint8_t *guard_copy(const void *p, size_t len)
{
	return len > 0 ? memmove(guard_end(len), p, len) : guard_end(0);
}

uint32_t crc_by_bits(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (size_t i = 0; i < len * 8; i++) {
		unsigned bit = (p[i / 8] >> (i % 8) ^ crc) & 1;

		crc >>= 1;
		if (bit)
			crc ^= 0x82f63b78;
	}
	return ~crc;
}

size_t seal(uint8_t *p)
{
	size_t len = 2u + get_be16(p);

	for (; len % 4 != 0; len++)
		p[len] = 0;
	put_le32(p + len, crc_by_bits(0, p, len));
	return len + 4;
}

uint64_t rnd(void)
{
	static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t rnd_below(uint64_t limit)
{
	return (rnd() >> 11) % limit;
}

void rnd_fill(void *p, size_t len)
{
	uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		b[i] = (uint8_t)(rnd() >> 32);
}
