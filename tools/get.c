/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * get.c -- rpma get: exported memory into a file
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy.h"

static const char help[] =
	"usage: rpma get [OPTION...] HOST[:PORT][@OFFSET][+LENGTH] FILE\n"
	"\n"
	"Copy LENGTH bytes (default: all that follow) from OFFSET on of the memory that\n"
	"'rpma serve' exports at HOST into FILE; '-' is standard output.\n"
	"\n"
	"      --verify         read it once more and compare with FILE\n"
	"      --resume         keep what FILE has already, and complete the rest\n"
	"  -6                   by IPv6\n"
	"  -q, --quiet          no progress, no summary\n"
	"      --timeout S      give up after so many seconds without an answer (20)\n"
	"      --provider P     auto, tcp or verbs\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           this text\n"
	"\n"
	"Example: rpma get that-host:7470@64M+10k part\n";

static bool verify, resume, ipv6;
static struct copy copy;

static const struct opt options[] = {
	{ 0, "verify", OPT_FLAG, &verify },
	{ 0, "resume", OPT_FLAG, &resume },
	{ '6', NULL, OPT_FLAG, &ipv6 },
	{ 'q', "quiet", OPT_FLAG, &copy.quiet },
};

static void open_target(const char *path)
{
	struct stat st;

	copy.file = path;
	copy.fd = STDOUT_FILENO;
	copy.in_order = strcmp(path, "-") == 0;
	if (!copy.in_order)
		copy.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (resume ? 0 : O_TRUNC), 0666);
	if (copy.fd < 0 || fstat(copy.fd, &st))
		fail("cannot open %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		copy.in_order = true;
	if (copy.in_order && (verify || resume))
		fail("%s is no regular file, which --verify and --resume need", path);
}

static void choose_range(const struct target *t)
{
	char there[16];

	copy.base = t->offset;
	if (copy.base <= copy.link.size)
		copy.size = t->has_length ? t->length : copy.link.size - copy.base;
	if (copy.base > copy.link.size || copy.size > copy.link.size - copy.base)
		fail("%s has %s (%llu bytes) only: ask for less by @OFFSET+LENGTH", t->host,
			show_size(copy.link.size, there), (unsigned long long)copy.link.size);
}

int cmd_get(int argc, char **argv)
{
	struct target target;
	int at = opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 2, 2);

	if (!parse_target(argv[at], &target))
		usage_error("'%s' is not HOST[:PORT][@OFFSET][+LENGTH]", argv[at]);
	if (ipv6)
		target_ipv6(&target);
	copy_connect(&copy, &target);
	choose_range(&target);
	open_target(argv[at + 1]);
	if (resume)
		copy_find_same(&copy);
	copy_run(&copy, COPY_GET);
	if (!copy.in_order && ftruncate(copy.fd, (off_t)copy.size))
		fail("cannot set the size of %s: %s", copy.file, strerror(errno));
	copy_tell(&copy, copy.fd == STDOUT_FILENO ? stderr : stdout, "got");
	if (verify) {
		copy_run(&copy, COPY_COMPARE);
		copy_tell(&copy, stdout, "verified");
	}
	copy_close(&copy);
	if (close(copy.fd))
		fail("cannot write %s: %s", copy.file, strerror(errno));
	return STATUS_OK;
}
