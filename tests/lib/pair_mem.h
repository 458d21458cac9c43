/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_mem.h -- registered memory that notices what is written beside it */

#ifndef TESTS_PAIR_MEM_H
#define TESTS_PAIR_MEM_H 1

#include <stdbool.h>

#include "pair_check.h"

#define USAGE_ALL 0xff
/* The same for memory that is no region: not persistent where that counts. */
#define USAGE_PLAIN usage_plain()
int usage_plain(void);

/*
 * Memory of one peer, and its remote face as another peer sees it. The bytes
 * around data..data + size are canaries, the pages beyond are not accessible.
 * data starts on a page and is zero at first.
 */
struct region {
	char *data;
	size_t size;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	char *map;
	size_t map_len;
};

void region_open(struct region *r, struct rpma_peer *peer, size_t size, int usage);
/* Checks the canaries, too. Gives up the registration if it still stands. */
void region_close(struct region *r);
/* The registration only: the memory stays, r->remote turns stale. */
void region_dereg(struct region *r);

/* The remote face of a registration, as from its descriptor */
struct rpma_mr_remote *remote_of(const struct rpma_mr_local *mr);

#define DESC_SIZE 21
void desc_of(const struct rpma_mr_local *mr, uint8_t desc[DESC_SIZE]);
struct rpma_mr_remote *remote_from(const uint8_t desc[DESC_SIZE]);

/* Bytes that depend on seed and position */
void fill(void *p, size_t len, uint64_t seed);
#define assert_filled(p, len, seed) check_filled((p), (len), (seed), HERE)
void check_filled(const void *p, size_t len, uint64_t seed, const char *where);

/* Every byte of the range is this one. */
#define assert_all(p, len, byte) check_all((p), (len), (byte), HERE)
void check_all(const void *p, size_t len, int byte, const char *where);

#endif /* TESTS_PAIR_MEM_H */
