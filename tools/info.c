/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * info.c -- rpma info: what is here, and what would serve an address
 */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "describe.h"
#include "link.h"

static const char help[] =
	"usage: rpma info [OPTION...] [ADDR]\n"
	"\n"
	"Show the devices, what would serve ADDR and why, the limits of this process and,\n"
	"with --mem, what a persistent flush does with memory and what that survives.\n"
	"\n"
	"      --mem M          file=PATH, dram or memfd; nothing is changed\n"
	"      --provider P     auto, tcp or verbs\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           this text\n"
	"\n"
	"Example: rpma info --mem file=/mnt/pmem/x 192.0.2.7\n";

static const char *mem_spec;

static const struct opt options[] = {
	{ 0, "mem", OPT_TEXT, &mem_spec },
};

#define SYSFS "/sys/class/infiniband"

/* A line of a file in sysfs. */
static const char *attribute(const char *device, const char *name, char buf[64])
{
	char path[512];
	FILE *f;

	buf[0] = '\0';
	snprintf(path, sizeof(path), SYSFS "/%s/%s", device, name);
	f = fopen(path, "re");
	if (f && fgets(buf, 64, f))
		buf[strcspn(buf, "\n")] = '\0';
	if (f)
		fclose(f);
	return buf[0] ? buf : "?";
}

static void tell_devices(void)
{
	char a[64], b[64], c[64];
	struct dirent *e;
	DIR *dir = opendir(SYSFS);
	unsigned n = 0;

	puts("devices");
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		printf("  %-18s verbs: %s, port 1 %s, %s\n", e->d_name,
			attribute(e->d_name, "node_type", a),
			attribute(e->d_name, "ports/1/state", b),
			attribute(e->d_name, "ports/1/link_layer", c));
		n++;
	}
	if (dir)
		closedir(dir);
	if (!n)
		puts("  (no RDMA device)   provider verbs has nothing to use");
	puts("  rpma_tcp           tcp: in this process, over sockets; always there");
}

/* ---- an address --------------------------------------------------------------------- */

enum { FLUSH_BITS = 3, FLUSH_SHIFT = 38, ATOMIC_WRITE_SHIFT = 40 }; /* of the kernel's flags */

static void tell_abilities(struct ibv_context *device, bool tcp)
{
	struct ibv_device_attr_ex attr;
	int odp = 0;
	uint64_t caps;

	if (rpma_utils_ibv_context_is_odp_capable(device, &odp))
		odp = 0;
	if (tcp) {
		puts("  flush              of its own, between two processes of this library");
		puts("  atomic write       likewise");
	} else if (!ibv_query_device_ex(device, NULL, &attr)) {
		caps = attr.device_cap_flags_ex;
		printf("  flush              %s\n", (caps >> FLUSH_SHIFT & FLUSH_BITS) == FLUSH_BITS
							    ? "of the device"
							    : "by a read");
		printf("  atomic write       %s\n",
			caps >> ATOMIC_WRITE_SHIFT & 1 ? "of the device" : "by a write of 8 bytes");
	}
	printf("  pinned memory      %s\n",
		odp ? "not needed (on-demand paging)" : "needed: see the limit of locked memory");
}

static void tell_why(char *text)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("  why                %s\n", line);
}

static void tell_address(const char *addr)
{
	struct ibv_context *device = NULL;
	char *text = NULL;
	size_t len;
	FILE *f = need_memory(open_memstream(&text, &len));
	bool local, tcp;
	int ret;

	/* Which of the two it is we only know when one has succeeded. */
	ret = rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device);
	local = !ret;
	cause(0);
	log_copy(f);
	ret = rpma_utils_get_ibv_context(
		addr, local ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE, &device);
	log_copy(NULL);
	fclose(f);
	if (ret) {
		free(text);
		fail("nothing serves %s: %s", addr, cause(ret));
	}
	tcp = !strcmp(device->device->name, "rpma_tcp");
	printf("address %s\n", addr);
	printf("  is                 %s\n", local ? "of this host" : "of another host");
	printf("  served by          %s, provider %s\n", device->device->name,
		tcp ? "tcp" : "verbs");
	tell_why(text);
	free(text);
	tell_abilities(device, tcp);
}

/* ---- limits -------------------------------------------------------------------------- */

static void tell_limit(const char *name, int resource, bool bytes, const char *what)
{
	struct rlimit limit;
	char buf[24];

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(buf, sizeof(buf), "unlimited");
	else if (bytes)
		show_size(limit.rlim_cur, buf);
	else
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)limit.rlim_cur);
	printf("  %-18s %s; %s\n", name, buf, what);
}

int cmd_info(int argc, char **argv)
{
	int at = opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 0, 1);

	tell_devices();
	if (at < argc)
		tell_address(argv[at]);
	puts("limits");
	tell_limit("locked memory", RLIMIT_MEMLOCK, true,
		"devices without on-demand paging need it, tcp does not (ulimit -l)");
	tell_limit("open files", RLIMIT_NOFILE, false, "about 4 per connection (ulimit -n)");
	if (mem_spec)
		describe_memory(mem_spec);
	return STATUS_OK;
}
