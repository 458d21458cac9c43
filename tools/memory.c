/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * memory.c -- see memory.h
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memory.h"
#include "tool.h"

#define DEFAULT_SIZE ((uint64_t)64 << 20)

static const struct {
	const char *name;
	const char *survives;
} kinds[MEM_KINDS] = {
	[MEM_DRAM] = { "memory of the process", "nothing: it ends with the process" },
	[MEM_MEMFD] = { "memfd", "nothing: it ends with the process" },
	[MEM_TMPFS] = { "file in memory", "the end of the process, but no reboot or power cut" },
	[MEM_FILE] = { "file",
		"the end of the process and, as far as the disk keeps its word, a power cut" },
	[MEM_DAX] = { "persistent memory (DAX)", "the end of the process, and a power cut" },
};

const char *mem_kind_name(enum mem_kind kind)
{
	return kind < MEM_KINDS ? kinds[kind].name : "memory of a kind unknown here";
}

const char *mem_survives(enum mem_kind kind)
{
	return kind < MEM_KINDS ? kinds[kind].survives : "unknown";
}

static bool in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC ||
					    (unsigned long)fs.f_type == HUGETLBFS_MAGIC);
}

/* Persistent memory without a file system: all there, and no disk behind it. */
static bool is_device(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode);
}

/* Map m->fd and find out what that is. */
static int map_file(struct mem *m)
{
	int prot = PROT_READ | PROT_WRITE;

	m->kind = MEM_DAX;
	m->ptr = mmap(NULL, m->size, prot, MAP_SHARED_VALIDATE | MAP_SYNC, m->fd, 0);
	if (m->ptr != MAP_FAILED)
		return 0;
	m->ptr = mmap(NULL, m->size, prot, MAP_SHARED, m->fd, 0);
	if (m->ptr == MAP_FAILED) {
		m->ptr = NULL;
		return -errno;
	}
	if (!is_device(m->fd))
		m->kind = in_memory(m->fd) ? MEM_TMPFS : MEM_FILE;
	return 0;
}

static int map_dram(struct mem *m)
{
	m->kind = MEM_DRAM;
	m->ptr = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->ptr != MAP_FAILED)
		return 0;
	m->ptr = NULL;
	return -errno;
}

static int map_memfd(struct mem *m)
{
	int err;

	m->fd = memfd_create("rpma", MFD_CLOEXEC);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)m->size))
		return -errno;
	err = map_file(m);
	m->kind = MEM_MEMFD;
	return err;
}

static uint64_t size_of(const struct mem *m, uint64_t wanted)
{
	struct stat st;

	if (fstat(m->fd, &st))
		fail("%s: %s", m->path, strerror(errno));
	if (S_ISCHR(st.st_mode)) {
		if (!wanted)
			fail("%s is a device: give its size by --size", m->path);
		return wanted;
	}
	if (!S_ISREG(st.st_mode))
		fail("%s is no regular file", m->path);
	if (!wanted && !st.st_size)
		fail("%s is new or empty: give its size by --size", m->path);
	return wanted ? wanted : (uint64_t)st.st_size;
}

static void open_file(struct mem *m, const char *path, uint64_t size)
{
	int err;

	m->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (m->fd < 0)
		fail("cannot open %s: %s", path, strerror(errno));
	m->path = realpath(path, NULL);
	if (!m->path)
		fail("%s: %s", path, strerror(errno));
	m->size = size_of(m, size);
	if (!is_device(m->fd)) {
		err = posix_fallocate(m->fd, 0, (off_t)m->size);
		if (err)
			fail("cannot allocate %zu bytes of %s: %s", m->size, path, strerror(err));
		if (fsync(m->fd))
			fail("%s: %s", path, strerror(errno));
	}
	err = map_file(m);
	if (err)
		fail("cannot map %s: %s", path, strerror(-err));
}

void mem_open(struct mem *m, const char *spec, uint64_t size)
{
	int err = 0;

	*m = (struct mem){ .fd = -1, .size = size ? size : DEFAULT_SIZE };
	if (!strncmp(spec, "file=", 5) && spec[5])
		open_file(m, spec + 5, size);
	else if (!strcmp(spec, "dram"))
		err = map_dram(m);
	else if (!strcmp(spec, "memfd"))
		err = map_memfd(m);
	else
		usage_error("--mem %s: it is dram, memfd or file=PATH", spec);
	if (err)
		fail("cannot get %zu bytes of memory: %s", m->size, strerror(-err));
}

/* A file without a name, beside another. */
static int map_nameless(struct mem *m, const char *beside)
{
	char *path = strdup(beside);
	int err;

	if (!path)
		return -ENOMEM;
	m->fd = open(dirname(path), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	err = m->fd < 0 ? -errno : -posix_fallocate(m->fd, 0, (off_t)m->size);
	free(path);
	return err ? err : map_file(m);
}

int mem_scratch(struct mem *m, const struct mem *like, uint64_t size)
{
	int err;

	*m = (struct mem){ .fd = -1, .size = size };
	if (like->kind == MEM_MEMFD)
		err = map_memfd(m);
	else if (like->path && strncmp(like->path, "/dev/dax", 8))
		err = map_nameless(m, like->path);
	else
		err = map_dram(m);
	if (err)
		mem_close(m);
	return err;
}

void mem_close(struct mem *m)
{
	if (m->ptr)
		munmap(m->ptr, m->size);
	if (m->fd >= 0)
		close(m->fd);
	free(m->path);
	*m = (struct mem){ .fd = -1 };
}

int mem_usage(const struct mem *m, bool tcp)
{
	int all = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
		  RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |
		  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

	/* A device reaches memory, and no disk behind it. */
	return tcp || m->kind == MEM_DAX ? all | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT : all;
}

int mem_sync(const struct mem *m, uint64_t offset, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = offset & ~(page - 1);

	if (m->fd < 0)
		return 0;
	return msync((char *)m->ptr + from, offset + length - from, MS_SYNC) ? -errno : 0;
}
