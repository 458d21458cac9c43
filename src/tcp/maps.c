/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * maps.c -- see maps.h
 *
 * /proc/self/maps says what lies where; only when a range is a shared file
 * mapping /proc/self/smaps is asked too, for its "sf" flag (synchronous faults:
 * the mapping was made with MAP_SYNC).
 */

#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tcp/maps.h"

#ifndef TMPFS_MAGIC
#define TMPFS_MAGIC 0x01021994
#endif
#ifndef HUGETLBFS_MAGIC
#define HUGETLBFS_MAGIC 0x958458f6
#endif
#ifndef RAMFS_MAGIC
#define RAMFS_MAGIC 0x858458f6
#endif

struct line {
	uint64_t start;
	uint64_t end;
	char perms[8];
	unsigned long inode;
	char path[256];
};

/* One line "start-end perms offset dev inode path"; false: not such a line. */
static bool line_parse(const char *s, struct line *l)
{
	int at = 0;

	l->path[0] = '\0';
	if (sscanf(s, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %lu %n", &l->start, &l->end,
		    l->perms, &l->inode, &at) < 4)
		return false;
	if (at > 0)
		snprintf(l->path, sizeof(l->path), "%.*s", (int)strcspn(s + at, "\n"), s + at);
	return true;
}

/* Memory as it comes from the device, without a file system. */
static bool is_dax_device(const char *path)
{
	return !strncmp(path, "/dev/dax", 8);
}

/* The file system of a file, or of where it was: its name may be gone. */
static int file_system(const char *path, struct statfs *fs)
{
	const char *slash = strrchr(path, '/');
	char dir[256];

	if (!statfs(path, fs))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s/", slash ? (int)(slash - path) : 0, path);
	return statfs(dir, fs);
}

static bool in_memory_fs(const char *path)
{
	struct statfs fs;

	if (!strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) ||
		!strncmp(path, "/anon_hugepage", 14))
		return true;
	if (is_dax_device(path)) /* its name is in one */
		return false;
	if (file_system(path, &fs))
		return false;
	return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC ||
	       (unsigned long)fs.f_type == HUGETLBFS_MAGIC;
}

/* True when every mapping that touches [start, end) is of a device or has the "sf"
 * flag. */
static bool all_synchronous(uint64_t start, uint64_t end)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	bool inside = false, device = false, found = false, all = true;
	char buf[512];
	struct line l;

	if (f == NULL)
		return false;
	while (fgets(buf, sizeof(buf), f)) {
		if (line_parse(buf, &l)) {
			inside = l.start < end && l.end > start;
			device = is_dax_device(l.path);
		} else if (inside && !strncmp(buf, "VmFlags:", 8)) {
			found = true;
			all = all && (device || strstr(buf, " sf") != NULL);
		}
	}
	fclose(f);
	return found && all;
}

/* The variables of the program lie in its file's mapping. Nobody can cut that file
 * short while it runs, so they are as safe as other private memory. */
static bool is_program(const char *path)
{
	char program[256];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		return false;
	program[n] = '\0';
	return !strcmp(path, program);
}

static void line_add(const struct line *l, struct maps_info *info)
{
	bool shared = l->perms[3] == 's';
	/* Shared anonymous memory shows as this file. */
	bool file = l->inode != 0 && strncmp(l->path, "/dev/zero", 9) != 0;

	info->readable = info->readable && l->perms[0] == 'r';
	info->writable = info->writable && l->perms[1] == 'w';
	if (!file || (!shared && is_program(l->path)))
		return;
	info->file_backed = true;
	memcpy(info->path, l->path, sizeof(info->path));
	if (!shared)
		return;
	info->persist = PERSIST_MSYNC;
	info->volatile_fs = info->volatile_fs || in_memory_fs(l->path);
}

static int read_maps(uint64_t start, uint64_t end, struct maps_info *info)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t at = start;
	char buf[512];
	struct line l;

	if (f == NULL)
		return -errno;
	while (at < end && fgets(buf, sizeof(buf), f)) {
		if (!line_parse(buf, &l) || l.end <= at)
			continue;
		if (l.start > at)
			break;
		line_add(&l, info);
		at = l.end;
	}
	fclose(f);
	return at < end ? -EFAULT : 0;
}

int maps_query(const void *addr, uint64_t length, struct maps_info *info)
{
	uint64_t start = (uintptr_t)addr;
	int err;

	*info = (struct maps_info){ .readable = true, .writable = true };
	if (length > UINT64_MAX - start)
		return -EFAULT;
	err = read_maps(start, start + length, info);
	if (err)
		return err;
	if (info->persist == PERSIST_MSYNC && !info->volatile_fs &&
		all_synchronous(start, start + length))
		info->persist = PERSIST_CPU;
	return 0;
}

const char *persist_kind_text(enum persist_kind kind)
{
	static const char *const text[] = {
		[PERSIST_NONE] = "none (memory without a file behind it)",
		[PERSIST_MSYNC] = "msync",
#ifdef RPMA_HAVE_PMEM
		[PERSIST_CPU] = "CPU cache flush (DAX, MAP_SYNC)",
#else
		[PERSIST_CPU] = "msync (DAX, but built without libpmem)",
#endif
	};

	return text[kind];
}
