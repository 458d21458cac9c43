/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rpma -- try, use, measure and diagnose remote memory access
 */

#include <signal.h>
#include <string.h>

#include "tool.h"

struct tool tool = { .command = "", .timeout = 20 };

static const struct {
	const char *name;
	command_fn *run;
} commands[] = {
	{ "info", cmd_info },
	{ "serve", cmd_serve },
	{ "put", cmd_put },
	{ "get", cmd_get },
	{ "ping", cmd_ping },
	{ "bench", cmd_bench },
};

static const char help[] =
	"usage: rpma COMMAND [OPTION...] [OPERAND...]\n"
	"\n"
	"  info [ADDR]          what would serve an address, and why; limits; memory\n"
	"  serve                export memory until interrupted\n"
	"  put FILE HOST        copy a file into exported memory, durably\n"
	"  get HOST FILE        copy exported memory into a file\n"
	"  ping HOST            is it there, how far, is what comes back right?\n"
	"  bench HOST           measure latency and bandwidth\n"
	"\n"
	"HOST is HOST[:PORT][@OFFSET]; the port is " DEFAULT_PORT " when none is given.\n"
	"\n"
	"      --provider P     auto, tcp or verbs\n"
	"      --timeout S      give up after so many seconds without an answer (20)\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           help, also of each command\n"
	"      --version        the version\n"
	"\n"
	"Status: 0 done, 1 failed, 2 wrong usage.\n"
	"Example: rpma serve --mem file=/tmp/there --size 1G   and, from another host,\n"
	"         rpma put backup.tar that-host\n";

int main(int argc, char **argv)
{
	/* A reader that goes away is an error of write(2), and told of. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0) {
			tool.command = commands[i].name;
			return commands[i].run(argc - 1, argv + 1);
		}
	}
	if (argc > 1 && argv[1][0] != '-')
		usage_error("there is no command '%s'", argv[1]);
	opt_parse(argc, argv, help, NULL, 0, 0, 0);
	usage_error("a command is missing");
}
