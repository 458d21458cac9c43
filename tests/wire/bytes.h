/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bytes.h -- wire bytes made from literals
 *
 * The other side of the tests builds its bytes here and nowhere else: from what
 * the RFCs say, not from the library's codecs.
 *
 * A format is hex digits, two to a byte, spaces as you like, and
 *	%1 %2	int, that many bytes, big-endian
 *	%4	uint32_t
 *	%8	uint64_t
 *	%p	const void *, size_t: bytes from memory
 *	%z	size_t: so many zero bytes
 */

#ifndef TESTS_BYTES_H
#define TESTS_BYTES_H 1

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *p;
	size_t len;
	size_t size;
};

void bytes_add(struct bytes *b, const char *format, ...);
void bytes_addv(struct bytes *b, const char *format, va_list args);
/* One FPDU: the format is its ULPDU; length, pad and CRC are put around it. */
void bytes_fpdu(struct bytes *b, const char *format, ...);
void bytes_fpduv(struct bytes *b, const char *format, va_list args);
/* The capability trailer of a peer of this library, role 1 (request) or 2. */
void bytes_trailer(struct bytes *b, int role);
/* Compute the CRC in the last four bytes anew over the len bytes before it. */
void bytes_recrc(uint8_t *fpdu, size_t len);
void bytes_free(struct bytes *b);

uint32_t bytes_crc32c(const void *p, size_t len);

#endif /* TESTS_BYTES_H */
