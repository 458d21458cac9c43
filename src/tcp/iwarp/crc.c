/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crc.c -- CRC32c by ISA-L where it was there at build time, else by tables
 */

#include "config.h"

#include "base/bytes.h"
#include "tcp/iwarp/crc.h"

#ifdef RPMA_HAVE_ISAL
#include <isa-l/crc.h>
#endif

/*
 * The tables are constant expressions, so there is nothing to initialize. A CRC
 * is linear: the entry of a byte is the sum of the entries of its bits, and these
 * follow from each other by feeding one more zero bit. Row A holds the bits of
 * table 0 (the most significant bit first), row B those of table 1, and so on.
 */
#define POLYNOMIAL 0x82f63b78u
#define NEXT(c) (((c) >> 1) ^ ((c)&1 ? POLYNOMIAL : 0u))
#define ROW(before, r)                                                                             \
	r##0 = NEXT(before), r##1 = NEXT(r##0), r##2 = NEXT(r##1), r##3 = NEXT(r##2),              \
	r##4 = NEXT(r##3), r##5 = NEXT(r##4), r##6 = NEXT(r##5), r##7 = NEXT(r##6)

enum {
	ROW(1, A),
	ROW(A7, B),
	ROW(B7, C),
	ROW(C7, D),
	ROW(D7, E),
	ROW(E7, F),
	ROW(F7, G),
	ROW(G7, H),
};

#define BIT(b, i, value) (((b) >> (i)) & 1 ? (uint32_t)(value) : 0u)
#define ENTRY(r, b)                                                                                \
	(BIT(b, 7, r##0) ^ BIT(b, 6, r##1) ^ BIT(b, 5, r##2) ^ BIT(b, 4, r##3) ^ BIT(b, 3, r##4) ^ \
		BIT(b, 2, r##5) ^ BIT(b, 1, r##6) ^ BIT(b, 0, r##7))
#define ENTRIES_4(r, b) ENTRY(r, b), ENTRY(r, (b) + 1), ENTRY(r, (b) + 2), ENTRY(r, (b) + 3)
#define ENTRIES_16(r, b)                                                                           \
	ENTRIES_4(r, b), ENTRIES_4(r, (b) + 4), ENTRIES_4(r, (b) + 8), ENTRIES_4(r, (b) + 12)
#define ENTRIES_64(r, b)                                                                           \
	ENTRIES_16(r, b), ENTRIES_16(r, (b) + 16), ENTRIES_16(r, (b) + 32), ENTRIES_16(r, (b) + 48)
#define TABLE(r)                                                                                   \
	{                                                                                          \
		ENTRIES_64(r, 0), ENTRIES_64(r, 64), ENTRIES_64(r, 128), ENTRIES_64(r, 192)        \
	}

/* table[n][b]: what byte b does to the CRC when n more bytes follow it. */
static const uint32_t table[8][256] = {
	TABLE(A),
	TABLE(B),
	TABLE(C),
	TABLE(D),
	TABLE(E),
	TABLE(F),
	TABLE(G),
	TABLE(H),
};

_Static_assert(ENTRY(A, 0x80) == POLYNOMIAL, "bit 7 is the polynomial itself");
_Static_assert(ENTRY(A, 0x01) == 0xf26b8303u, "bit 0 has gone through all eight steps");

static inline uint32_t eight_bytes(uint32_t crc, const uint8_t *p)
{
	uint32_t lo = get_le32(p) ^ crc;
	uint32_t hi = get_le32(p + 4);

	return table[7][lo & 0xff] ^ table[6][(lo >> 8) & 0xff] ^ table[5][(lo >> 16) & 0xff] ^
	       table[4][lo >> 24] ^ table[3][hi & 0xff] ^ table[2][(hi >> 8) & 0xff] ^
	       table[1][(hi >> 16) & 0xff] ^ table[0][hi >> 24];
}

uint32_t crc32c_table(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; len >= 8; p += 8, len -= 8)
		crc = eight_bytes(crc, p);
	for (; len > 0; p++, len--)
		crc = table[0][(crc ^ *p) & 0xff] ^ (crc >> 8);
	return ~crc;
}

#ifdef RPMA_HAVE_ISAL

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	const size_t step = 1u << 30; /* ISA-L counts in int */
	const uint8_t *p = data;

	crc = ~crc; /* ISA-L leaves both inversions to the caller */
	for (; len > step; p += step, len -= step)
		crc = crc32_iscsi((unsigned char *)p, (int)step, crc);
	return ~crc32_iscsi((unsigned char *)p, (int)len, crc);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return crc32c_table(crc, data, len);
}

#endif
