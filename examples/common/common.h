/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * common.h -- what every example would repeat
 */

#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H 1

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "librpma.h"

/* An example has nothing better to do about a failure than to say so and end. */
#define quit(...) (fprintf(stderr, __VA_ARGS__), exit(EXIT_FAILURE))
#define must(call) must_be_zero((call), #call)

static inline void must_be_zero(int ret, const char *call)
{
	if (ret)
		quit("%.*s: %s\n", (int)strcspn(call, "("), call, rpma_err_2str(ret));
}

/* Map a file to read it. The mapping is private and writable, because adapters want
 * to be able to write to what they pin. */
static inline void *map_source(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		quit("%s: %s\n", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		quit("%s: %s, there is nothing to write\n", path,
			S_ISREG(st.st_mode) ? "is empty" : "is no regular file");
	*size = (size_t)st.st_size;
	void *mem = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (mem == MAP_FAILED)
		quit("%s: %s\n", path, strerror(errno));
	close(fd);
	return mem;
}

/* Map a file of size bytes to have it written. The space is allocated at once: were
 * the disk full later, a store to the mapping would kill us. A device of persistent
 * memory (/dev/dax) is all there, and maps in units of 2 MiB. */
static inline void *map_target(const char *path, size_t size)
{
	const size_t unit = 2 << 20;
	struct stat st = { .st_mode = 0 };
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	int err = fd < 0 || fstat(fd, &st) ? errno : 0;

	if (S_ISCHR(st.st_mode))
		size = (size + unit - 1) / unit * unit;
	else if (!err)
		err = posix_fallocate(fd, 0, (off_t)size);
	if (err)
		quit("%s: %s\n", path, strerror(err));
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED || (S_ISREG(st.st_mode) && fsync(fd)))
		quit("%s: %s\n", path, strerror(errno));
	close(fd);
	return mem;
}

static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif /* EXAMPLES_COMMON_H */
