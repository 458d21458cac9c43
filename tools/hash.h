/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hash.h -- do two blocks have the same contents? By XXH3, 128 bits: against accident,
 * not against intent
 */

#ifndef HASH_H
#define HASH_H 1

#include "memory.h"
#include "proto.h"

/* False: the file cannot be read. */
bool hash_file(int fd, uint64_t offset, uint64_t length, uint8_t hash[HASH_SIZE]);
/* By way of its file, where it has one: that may have been truncated. */
bool hash_memory(const struct mem *m, uint64_t offset, uint64_t length, uint8_t hash[HASH_SIZE]);

#endif /* HASH_H */
