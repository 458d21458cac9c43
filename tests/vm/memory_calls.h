/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory_calls.h -- the calls that make bytes durable, caught on their way out of the
 * library: msync(2), and pmem_persist(3) of libpmem
 */

#ifndef TESTS_MEMORY_CALLS_H
#define TESTS_MEMORY_CALLS_H 1

#include <stddef.h>

/* Those for the range that is watched */
struct calls {
	int msync;
	int persist;
	int partial; /* of them, for less than all of it */
};

extern struct calls calls;

/* From here on, all counts 0; NULL: no more, the counts stay. */
void calls_watch(const char *from, size_t len);

#endif /* TESTS_MEMORY_CALLS_H */
