/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * support.h -- what the unit tests share: bytes as hexadecimal text, memory that
 * ends at an unmapped page, a CRC of its own, numbers from a seed
 */

#ifndef RPMA_UNIT_SUPPORT_H
#define RPMA_UNIT_SUPPORT_H 1

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The bytes that text says ("00 1a ff", white space anywhere); returns how many. */
size_t hex(const char *text, uint8_t *out, size_t room);

/* p holds exactly the bytes of text. */
#define assert_hex(p, len, text) assert_hex_at((p), (len), (text), __FILE__, __LINE__)
void assert_hex_at(const void *p, size_t len, const char *text, const char *file, int line);

/* Memory of a size up to GUARD_MAX, content undefined, with an unmapped page behind
 * (guard_end) or before it (guard_begin). Valid until the next call. */
#define GUARD_MAX (80u * 1024)
uint8_t *guard_end(size_t len);
uint8_t *guard_begin(size_t len);
/* The same bytes, moved to guard_end(). */
uint8_t *guard_copy(const void *p, size_t len);

/* CRC32c bit by bit, from the definition of the polynomial. */
uint32_t crc_by_bits(uint32_t crc, const void *data, size_t len);

/* Give the FPDU at p (headers and payload are there, length field says how many
 * bytes) zero pad and a good CRC; returns its size. */
size_t seal(uint8_t *p);

/* Reproducible numbers: the same sequence in each run of a program. */
uint64_t rnd(void);
uint64_t rnd_below(uint64_t limit);
void rnd_fill(void *p, size_t len);

#endif /* RPMA_UNIT_SUPPORT_H */
