/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* codec.h -- for the fuzz targets of the codecs */

#ifndef TESTS_FUZZ_CODEC_H
#define TESTS_FUZZ_CODEC_H 1

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, also where assert() is off. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

/* A copy that ends where its memory does, so that a sanitizer sees one byte too many. */
static inline uint8_t *exact_copy(const uint8_t *data, size_t size)
{
	uint8_t *p = malloc(size ? size : 1);

	MUST(p != NULL);
	if (size > 0)
		memcpy(p, data, size);
	return p;
}

#endif /* TESTS_FUZZ_CODEC_H */
