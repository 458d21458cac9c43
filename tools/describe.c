/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * describe.c -- see describe.h
 *
 * Tried out on a file without a name beside the one in question, so that this one
 * need not exist and is not touched. What a flush does with it is the library's own
 * word.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe.h"
#include "link.h"
#include "memory.h"

struct mount {
	char point[512];
	char type[32];
	char source[256];
	char options[512];
};

static bool lies_under(const char *path, const char *point)
{
	size_t n = strlen(point);

	return !strncmp(path, point, n) && (point[n - 1] == '/' || path[n] == '/' || !path[n]);
}

/* The mount that path lies on: the longest one, and of these the last. */
static bool find_mount(const char *path, struct mount *found)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct mount m;
	char line[2048], *rest;

	found->point[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %*s %*s %*s %511s", m.point) != 1 ||
			!(rest = strstr(line, " - ")) ||
			sscanf(rest, " - %31s %255s %511s", m.type, m.source, m.options) != 3)
			continue;
		if (lies_under(path, m.point) && strlen(m.point) >= strlen(found->point))
			*found = m;
	}
	if (f)
		fclose(f);
	return found->point[0];
}

static void tell_mount(const char *path)
{
	char *dir = need_memory(strdup(path)), *slash = strrchr(dir, '/'), *real;
	struct mount m;

	/* The file may not be there yet. */
	if (slash)
		slash[slash == dir] = '\0';
	real = realpath(path, NULL);
	if (!real)
		real = realpath(slash ? dir : ".", NULL);
	if (real && find_mount(real, &m))
		printf("  file system        %s (%s) on %s, %s\n", m.type, m.source, m.point,
			m.options);
	free(real);
	free(dir);
}

/* Register it and let the library tell. */
static void tell_flush(const struct mem *m)
{
	struct rpma_mr_local *mr = NULL;
	char *text = NULL, *what;
	size_t len;
	struct site site;
	FILE *f = need_memory(open_memstream(&text, &len));

	site_open(&site, "127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL);
	log_copy(f);
	rpma_mr_reg(site.peer, m->ptr, m->size, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &mr);
	log_copy(NULL);
	rpma_mr_dereg(&mr);
	site_close(&site);
	fclose(f);
	what = strstr(text, "persistent flush");
	what = what ? strstr(what, ": ") : NULL;
	if (what)
		printf("  persistent flush   by tcp: %.*s\n", (int)strcspn(what + 2, ",;\n"),
			what + 2);
	free(text);
}

static int try_out(struct mem *m, const char *spec, const char *path)
{
	struct mem like = { .kind = MEM_FILE, .path = NULL };
	struct stat st;
	char *inside = NULL;
	int err;

	if (path && !stat(path, &st) && S_ISCHR(st.st_mode)) {
		*m = (struct mem){ .kind = MEM_DAX, .fd = -1 };
		return 0;
	}
	if (path && !stat(path, &st) && S_ISDIR(st.st_mode) && asprintf(&inside, "%s/x", path) < 0)
		fail("out of memory");
	if (!path)
		like.kind = strcmp(spec, "memfd") ? MEM_DRAM : MEM_MEMFD;
	like.path = inside ? inside : (char *)path;
	err = mem_scratch(m, &like, (uint64_t)sysconf(_SC_PAGESIZE));
	free(inside);
	return err;
}

void describe_memory(const char *spec)
{
	const char *path = strncmp(spec, "file=", 5) ? NULL : spec + 5;
	struct mem m;
	int err;

	if (path ? !*path : strcmp(spec, "dram") && strcmp(spec, "memfd"))
		usage_error("--mem %s: it is dram, memfd or file=PATH", spec);
	printf("memory %s\n", spec);
	if (path)
		tell_mount(path);
	err = try_out(&m, spec, path);
	if (err)
		fail("cannot try out %s: %s", path ? path : spec, strerror(-err));
	printf("  kind               %s\n", mem_kind_name(m.kind));
	if (path)
		printf("  DAX                %s\n",
			m.kind == MEM_DAX ? "yes: stores reach persistent memory by cache flushes"
					  : "no: data goes by way of the page cache");
	if (m.ptr)
		tell_flush(&m);
	printf("                     by verbs: %s\n",
		m.kind == MEM_DAX
			? "of the device, or a read where serve --direct declares it enough"
			: "none of the device; rpma put asks the server, if it has a file");
	printf("  then survives      %s\n", mem_survives(m.kind));
	mem_close(&m);
}
