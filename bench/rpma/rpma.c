/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rpma.c -- see rpma.h
 */

#include "rpma/rpma.h"

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "latency", "write|read poll|block IDLE_CONNECTIONS SECONDS", 4, latency },
		{ "stream", "poll|block SIZE DEPTH SIGNAL_EVERY CONNECTIONS THREADS SECONDS", 7,
			stream },
		{ "durable", "DIR DEPTH SECONDS", 3, durable },
		{ "registration", "DIR GIB", 2, registration },
		{ "idle", "CONNECTIONS SECONDS", 2, idle },
		{ "setup", "SECONDS", 1, setup },
		{ "target", NULL, 4, target_run },
		{ "setup-target", NULL, 0, setup_target },
		{ 0 },
	};

	return run_command(commands, argc, argv);
}
