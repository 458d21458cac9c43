/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* memory_calls.c -- see memory_calls.h */

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_calls.h"
#include "pair_check.h"

/* So that the library finds these first */
#define CAUGHT __attribute__((visibility("default")))

struct calls calls;

static struct {
	const char *from;
	const char *to;
} watched;

void calls_watch(const char *from, size_t len)
{
	if (from)
		calls = (struct calls){ 0 };
	watched.from = from;
	watched.to = from ? from + len : from;
}

static void note(int *count, const char *from, size_t len)
{
	bool whole = from <= watched.from && from + len >= watched.to;

	if (from + len <= watched.from || from >= watched.to)
		return;
	__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&calls.partial, !whole, __ATOMIC_SEQ_CST);
}

CAUGHT int msync(void *addr, size_t len, int flags)
{
	note(&calls.msync, addr, len);
	return (int)syscall(SYS_msync, addr, len, flags);
}

void pmem_persist(const void *addr, size_t len);
CAUGHT void pmem_persist(const void *addr, size_t len)
{
	void (*real)(const void *, size_t);

	*(void **)&real = dlsym(RTLD_NEXT, "pmem_persist");
	assert_non_null(real);
	note(&calls.persist, addr, len);
	real(addr, len);
}
