/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* bytes.c -- see bytes.h */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

static uint8_t *grow(struct bytes *b, size_t n)
{
	if (b->len + n > b->size) {
		b->size = 2 * (b->len + n) + 64;
		b->p = realloc(b->p, b->size);
		if (b->p == NULL)
			abort();
	}
	b->len += n;
	return b->p + b->len - n;
}

static void add_number(struct bytes *b, uint64_t value, size_t n)
{
	uint8_t *p = grow(b, n);

	while (n-- > 0) {
		p[n] = (uint8_t)value;
		value >>= 8;
	}
}

static void add_memory(struct bytes *b, const void *from, size_t n)
{
	uint8_t *p = grow(b, n);

	if (n > 0)
		memcpy(p, from, n);
}

static void add_zeros(struct bytes *b, size_t n)
{
	uint8_t *p = grow(b, n);

	if (n > 0)
		memset(p, 0, n);
}

static int digit(char c)
{
	if (!isxdigit((unsigned char)c))
		abort(); /* the test is wrong */
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

void bytes_addv(struct bytes *b, const char *format, va_list args)
{
	const void *from;

	for (const char *f = format; *f; f++) {
		if (*f == ' ')
			continue;
		if (*f != '%') {
			add_number(b, (uint64_t)(digit(f[0]) << 4 | digit(f[1])), 1);
			f++;
			continue;
		}
		switch (*++f) {
		case '1':
		case '2':
			add_number(b, (uint64_t)va_arg(args, int), (size_t)(*f - '0'));
			break;
		case '4':
			add_number(b, va_arg(args, uint32_t), 4);
			break;
		case '8':
			add_number(b, va_arg(args, uint64_t), 8);
			break;
		case 'p':
			from = va_arg(args, const void *);
			add_memory(b, from, va_arg(args, size_t));
			break;
		case 'z':
			add_zeros(b, va_arg(args, size_t));
			break;
		default:
			abort();
		}
	}
}

void bytes_add(struct bytes *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bytes_addv(b, format, args);
	va_end(args);
}

void bytes_fpduv(struct bytes *b, const char *format, va_list args)
{
	size_t start = b->len, ulpdu;

	add_zeros(b, 2);
	bytes_addv(b, format, args);
	ulpdu = b->len - start - 2;
	b->p[start] = (uint8_t)(ulpdu >> 8);
	b->p[start + 1] = (uint8_t)ulpdu;
	add_zeros(b, (size_t)(-(b->len - start) & 3) + 4);
	bytes_recrc(b->p + start, b->len - start - 4);
}

void bytes_fpdu(struct bytes *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bytes_fpduv(b, format, args);
	va_end(args);
}

static void put_le32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

void bytes_trailer(struct bytes *b, int role)
{
	size_t start = b->len;

	/* magic, version, role, what it can do, largest ULPDU it takes, zero */
	bytes_add(b, "72d4b1096fc35ae8 01 %1 0007 fd00 0000 00000000", role);
	put_le32(b->p + start + 16, bytes_crc32c(b->p + start, 16));
}

void bytes_recrc(uint8_t *fpdu, size_t len)
{
	put_le32(fpdu + len, bytes_crc32c(fpdu, len));
}

void bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

uint32_t bytes_crc32c(const void *p, size_t len)
{
	static uint32_t table[256];
	const uint8_t *byte = p;
	uint32_t crc = ~0u;

	if (table[1] == 0)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int bit = 0; bit < 8; bit++)
				c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
			table[i] = c;
		}
	while (len-- > 0)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return ~crc;
}
