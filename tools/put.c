/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * put.c -- rpma put: a file into exported memory
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy.h"
#include "memory.h"

static const char help[] =
	"usage: rpma put [OPTION...] FILE HOST[:PORT][@OFFSET]\n"
	"\n"
	"Copy FILE into the memory that 'rpma serve' exports at HOST, from OFFSET on, and\n"
	"make it durable there. Says what the data survives then.\n"
	"\n"
	"      --flush F        persistent (default): done when the data is durable;\n"
	"                       visibility: ... when others there see it; none\n"
	"      --verify         read it back and compare\n"
	"      --resume         leave out what is there already, and complete the rest\n"
	"  -6                   by IPv6\n"
	"  -q, --quiet          no progress, no summary\n"
	"      --timeout S      give up after so many seconds without an answer (20)\n"
	"      --provider P     auto, tcp or verbs\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           this text\n"
	"\n"
	"Example: rpma put --verify backup.tar that-host:7470@64M\n";

static const char *flush = "persistent";
static bool verify, resume, ipv6;
static struct copy copy;

static const struct opt options[] = {
	{ 0, "flush", OPT_TEXT, &flush },
	{ 0, "verify", OPT_FLAG, &verify },
	{ 0, "resume", OPT_FLAG, &resume },
	{ '6', NULL, OPT_FLAG, &ipv6 },
	{ 'q', "quiet", OPT_FLAG, &copy.quiet },
};

static enum copy_flush parse_flush(void)
{
	if (!strcmp(flush, "persistent"))
		return FLUSH_PERSISTENT;
	if (!strcmp(flush, "visibility"))
		return FLUSH_VISIBILITY;
	if (strcmp(flush, "none"))
		usage_error("--flush %s: it is persistent, visibility or none", flush);
	return FLUSH_NONE;
}

static void open_source(const char *path)
{
	struct stat st;

	copy.file = path;
	copy.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (copy.fd < 0 || fstat(copy.fd, &st))
		fail("cannot open %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		fail("%s is no regular file", path);
	copy.size = (uint64_t)st.st_size;
}

static void check_room(const struct target *t)
{
	char size[16], there[16];

	copy.base = t->offset;
	if (copy.base > copy.link.size || copy.size > copy.link.size - copy.base)
		fail("%s is %s, and %s has %s, from which %llu are left out: serve more by "
		     "--size",
			copy.file, show_size(copy.size, size), t->host,
			show_size(copy.link.size, there), (unsigned long long)copy.base);
}

/* How it becomes durable, if it is to. */
static void choose_flush(void)
{
	int types = 0;

	rpma_mr_remote_get_flush_type(copy.link.remote, &types);
	if (copy.flush != FLUSH_PERSISTENT || types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)
		return;
	if (!(copy.link.offer.flags & OFFER_CAN_SYNC))
		copy_never_durable(&copy);
	copy.flush = FLUSH_BY_SYNC;
}

int cmd_put(int argc, char **argv)
{
	struct target target;
	int at = opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 2, 2);

	copy.flush = parse_flush();
	if (!parse_target(argv[at + 1], &target) || target.has_length)
		usage_error("'%s' is not HOST[:PORT][@OFFSET]", argv[at + 1]);
	if (ipv6)
		target_ipv6(&target);
	open_source(argv[at]);
	copy_connect(&copy, &target);
	check_room(&target);
	choose_flush();
	if (resume)
		copy_find_same(&copy);
	copy_run(&copy, COPY_PUT);
	copy_tell(&copy, stdout, "put");
	if (copy.flush >= FLUSH_PERSISTENT && !copy.quiet)
		printf("it survives %s\n", mem_survives(copy.link.offer.mem_kind));
	if (verify) {
		copy_run(&copy, COPY_COMPARE);
		copy_tell(&copy, stdout, "verified");
	}
	copy_close(&copy);
	close(copy.fd);
	return STATUS_OK;
}
