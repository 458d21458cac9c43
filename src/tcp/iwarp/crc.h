/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crc.h -- CRC32c (Castagnoli, reflected) as MPA uses it, RFC 5044 section 4.4
 *
 * crc32c(0, "123456789", 9) is 0xe3069283. A result may be passed on as first
 * argument to continue over the bytes that follow. On the wire the value goes
 * least significant byte first.
 */

#ifndef RPMA_IWARP_CRC_H
#define RPMA_IWARP_CRC_H 1

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The portable table version, always built; crc32c() is this one without ISA-L */
uint32_t crc32c_table(uint32_t crc, const void *data, size_t len);

#endif /* RPMA_IWARP_CRC_H */
