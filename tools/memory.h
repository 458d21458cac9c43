/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory.h -- memory that is exported, or used for a measurement
 *
 * A file is allocated in full when it is opened: were the disk full later, a store
 * to the mapping would kill us.
 */

#ifndef MEMORY_H
#define MEMORY_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mem_kind {
	MEM_DRAM,
	MEM_MEMFD,
	MEM_TMPFS, /* a file that lives in memory */
	MEM_FILE,
	MEM_DAX, /* persistent memory, mapped directly */
	MEM_KINDS,
};

struct mem {
	enum mem_kind kind;
	void *ptr; /* NULL: none */
	size_t size;
	int fd;	    /* -1: none */
	char *path; /* of a file */
};

/* spec: dram, memfd or file=PATH. size 0: that of the file. Fails with a message. */
void mem_open(struct mem *m, const char *spec, uint64_t size);
/* Memory of the kind of another (dram, where that is a device) that nobody else
 * sees. 0 or -errno. */
int mem_scratch(struct mem *m, const struct mem *like, uint64_t size);
void mem_close(struct mem *m);

/* All RPMA_MR_USAGE_* that can be had with a provider. */
int mem_usage(const struct mem *m, bool tcp);
/* Make a range durable by system calls; 0 or -errno. */
int mem_sync(const struct mem *m, uint64_t offset, uint64_t length);

const char *mem_kind_name(enum mem_kind kind);
/* What data that has been flushed persistently lives through. */
const char *mem_survives(enum mem_kind kind);

#endif /* MEMORY_H */
