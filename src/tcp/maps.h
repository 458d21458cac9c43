/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * maps.h -- what kind of memory a range of our address space is
 */

#ifndef RPMA_TCP_MAPS_H
#define RPMA_TCP_MAPS_H 1

#include <stdbool.h>
#include <stdint.h>

/* How bytes in a mapping become durable, weakest first. */
enum persist_kind {
	PERSIST_NONE,  /* memory without a store behind it: nothing to do */
	PERSIST_MSYNC, /* a shared file mapping */
	PERSIST_CPU,   /* DAX mapped with MAP_SYNC: cache flush and fence do */
};

struct maps_info {
	bool readable;
	bool writable;
	bool file_backed; /* truncating the file takes pages away */
	bool volatile_fs; /* a file, but one that lives in memory */
	enum persist_kind persist;
	char path[256]; /* of the (last) file, "" without one */
};

/* Describe [addr, addr + length). -EFAULT: there is a hole in it. Other errors:
 * the system does not tell. */
int maps_query(const void *addr, uint64_t length, struct maps_info *info);

const char *persist_kind_text(enum persist_kind kind);

#endif /* RPMA_TCP_MAPS_H */
