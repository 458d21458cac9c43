/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bytes.h -- integers in memory at any alignment, in a named byte order
 */

#ifndef RPMA_BASE_BYTES_H
#define RPMA_BASE_BYTES_H 1

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define RP_BYTES_DEFINE(bits, order, to, from)                                                     \
	static inline void put_##order##bits(void *p, uint##bits##_t v)                            \
	{                                                                                          \
		v = to(v);                                                                         \
		memcpy(p, &v, sizeof(v));                                                          \
	}                                                                                          \
	static inline uint##bits##_t get_##order##bits(const void *p)                              \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
		memcpy(&v, p, sizeof(v));                                                          \
		return from(v);                                                                    \
	}

RP_BYTES_DEFINE(16, be, htobe16, be16toh)
RP_BYTES_DEFINE(32, be, htobe32, be32toh)
RP_BYTES_DEFINE(64, be, htobe64, be64toh)
RP_BYTES_DEFINE(16, le, htole16, le16toh)
RP_BYTES_DEFINE(32, le, htole32, le32toh)
RP_BYTES_DEFINE(64, le, htole64, le64toh)

#undef RP_BYTES_DEFINE

#endif /* RPMA_BASE_BYTES_H */
