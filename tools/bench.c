/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench.c -- rpma bench: its options, and what is measured in which order
 */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench.h"

static const char help[] =
	"usage: rpma bench [OPTION...] HOST[:PORT]\n"
	"Measure round trips and bandwidth to an 'rpma serve', which needs no options.\n"
	"  --op OP           write (default), read, write+flush, write+pflush,\n"
	"                    atomic-write, send, write-imm, connect\n"
	"  -s, --size S,...  message sizes (64)    -a, --all    1 to 8M, powers of two\n"
	"  -n, --iterations N  per connection, or  -D, --duration T  seconds per size (1)\n"
	"  -d, --depth N     requests under way per connection (1)\n"
	"  -c, --connections N (1)                 -t, --threads N (1)\n"
	"  -b, --both        the server does the same at once, towards us\n"
	"  -e, --events      both sides sleep for completions; default: they poll\n"
	"      --warmup N    requests before, per connection (100)\n"
	"      --verify      check data, of which pattern is made\n"
	"      --json, --csv   results on standard output, nothing else there\n"
	"      --plot FILE   as SVG, by gnuplot\n"
	"  -6  by IPv6       --provider P  auto, tcp or verbs\n"
	"  --timeout S       give up after so many seconds without an answer (20)\n"
	"  -v, --verbose     the library's log     -h, --help   this text\n"
	"Example: rpma bench --op write+pflush -s 4k -d 16 -D 5 that-host\n";

static struct bench_plan plan = {
	.duration = 1, .warmup = 100, .depth = 1, .connections = 1, .threads = 1
};

static const char *op = "write", *sizes = "64", *plot;
static bool all, both, events, verify, json, csv, ipv6;

static const struct opt options[] = {
	{ 0, "op", OPT_TEXT, &op },
	{ 's', "size", OPT_TEXT, &sizes },
	{ 'a', "all", OPT_FLAG, &all },
	{ 'n', "iterations", OPT_COUNT, &plan.iterations },
	{ 'D', "duration", OPT_SECONDS, &plan.duration },
	{ 'd', "depth", OPT_COUNT, &plan.depth },
	{ 'c', "connections", OPT_COUNT, &plan.connections },
	{ 't', "threads", OPT_COUNT, &plan.threads },
	{ 'b', "both", OPT_FLAG, &both },
	{ 'e', "events", OPT_FLAG, &events },
	{ 0, "warmup", OPT_COUNT, &plan.warmup },
	{ 0, "verify", OPT_FLAG, &verify },
	{ 0, "json", OPT_FLAG, &json },
	{ 0, "csv", OPT_FLAG, &csv },
	{ 0, "plot", OPT_TEXT, &plot },
	{ '6', NULL, OPT_FLAG, &ipv6 },
};

/* ---- the plan ---------------------------------------------------------------------- */

static void parse_op(void)
{
	while (plan.op < OPS && strcmp(op, op_name(plan.op)))
		plan.op++;
	if (plan.op == OPS)
		usage_error("--op %s: there is no such operation", op);
}

static void add_size(uint64_t size)
{
	if (!size || size > MESSAGE_MAX)
		usage_error("a size is from 1 to %u bytes", MESSAGE_MAX);
	if (plan.n_sizes == SIZES_MAX)
		usage_error("at most %d sizes", SIZES_MAX);
	if (2 * plan.depth * ((size + 63) & ~(uint64_t)63) > ARENA_MAX)
		usage_error("%llu times %llu bytes are too much: choose a smaller size or depth",
			(unsigned long long)plan.depth, (unsigned long long)size);
	plan.sizes[plan.n_sizes++] = size;
}

static void choose_sizes(void)
{
	char *list = need_memory(strdup(sizes)), *rest = list, *word;
	uint64_t size;

	if (plan.op == OP_ATOMIC_WRITE || plan.op == OP_CONNECT) {
		add_size(RPMA_ATOMIC_WRITE_ALIGNMENT); /* the only one */
	} else if (all) {
		for (size = 1; size <= 8 << 20; size *= 2)
			add_size(size);
	} else {
		while ((word = strsep(&rest, ","))) {
			if (!parse_size(word, &size))
				usage_error("-s: '%s' is no size", word);
			add_size(size);
		}
	}
	free(list);
}

static void check_plan(void)
{
	if (json && csv)
		usage_error("--json or --csv, not both");
	if (!plan.depth || plan.depth > DEPTH_MAX)
		usage_error("--depth: from 1 to %u", DEPTH_MAX);
	if (!plan.threads || !plan.connections || plan.connections > CONNECTIONS_MAX ||
		plan.threads > CONNECTIONS_MAX)
		usage_error("--connections, --threads: from 1 to %d", CONNECTIONS_MAX);
	if (plan.connections < plan.threads)
		plan.connections = plan.threads;
	if (plan.op == OP_CONNECT) {
		if (both || verify)
			usage_error("--both and --verify do not go with connect");
		plan.threads = plan.connections; /* they connect one after the other */
		plan.depth = 1;
	}
	plan.flags = (both ? HELLO_BOTH : 0u) | (events ? HELLO_EVENTS : 0u) |
		     (verify ? HELLO_VERIFY : 0u);
	/* So that every slot has been used. */
	if (verify && plan.warmup < plan.depth)
		plan.warmup = plan.depth;
	if (plot && !plot_possible())
		fail("--plot needs gnuplot: install it (Debian: gnuplot-nox), or leave that out");
}

/* ---- doing it ------------------------------------------------------------------------ */

static void tell_one(const struct bench_result *r)
{
	if (csv)
		csv_result(&plan, r);
	else if (!json)
		tell_result(&plan, r);
	fflush(stdout);
}

static uint64_t measure(struct bench_result *results)
{
	struct site site;
	struct link session;
	uint64_t id, mismatches = 0;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = nanoseconds();
	site_open(&site, plan.target.host, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	plan.tcp = site.tcp;
	plan.device = site.device->device->name;
	bench_session(&plan, &site, &session, id);
	if (csv)
		csv_begin();
	else if (!json)
		tell_begin(&plan);
	for (unsigned i = 0; i < plan.n_sizes; i++) {
		results[i].size = plan.sizes[i];
		bench_run(&plan, &site, &session, id, &results[i]);
		mismatches += results[i].mismatches;
		tell_one(&results[i]);
	}
	link_close(&session);
	site_close(&site);
	return mismatches;
}

int cmd_bench(int argc, char **argv)
{
	int at = opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 1, 1);
	struct bench_result *results;
	uint64_t mismatches;

	if (!parse_target(argv[at], &plan.target) || plan.target.has_length ||
		plan.target.has_offset)
		usage_error("'%s' is not HOST[:PORT]", argv[at]);
	parse_op();
	check_plan();
	choose_sizes();
	if (ipv6)
		target_ipv6(&plan.target);
	results = need_memory(calloc(plan.n_sizes, sizeof(*results)));
	mismatches = measure(results);
	if (json)
		json_results(&plan, results);
	if (plot)
		plot_results(&plan, results, plot);
	free(results);
	if (mismatches)
		fail("MISMATCH in %llu messages", (unsigned long long)mismatches);
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write the results");
	return STATUS_OK;
}
