/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * options.c -- options, by one table per command
 */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum {
	OPTS_MAX = 40,
	LONG_ONLY = 256, /* what getopt_long() returns for table entry 0 */
};

static bool want_help, want_version;
static const char *provider;

static const struct opt common[] = {
	{ 'h', "help", OPT_FLAG, &want_help },
	{ 0, "version", OPT_FLAG, &want_version },
	{ 0, "provider", OPT_TEXT, &provider },
	{ 0, "timeout", OPT_SECONDS, &tool.timeout },
	{ 'v', "verbose", OPT_FLAG, &tool.verbose },
};

/* The tables of a command as getopt_long() wants them. */
struct parser {
	struct opt table[OPTS_MAX];
	struct option long_opts[OPTS_MAX + 1];
	char letters[2 * OPTS_MAX + 2];
	size_t n;
};

static void add(struct parser *p, const struct opt *opts, size_t n)
{
	char *at = p->letters + strlen(p->letters);

	for (size_t i = 0; i < n && p->n < OPTS_MAX; i++, p->n++) {
		bool has_arg = opts[i].kind != OPT_FLAG;

		p->table[p->n] = opts[i];
		p->long_opts[p->n] = (struct option){ opts[i].name ? opts[i].name : "", has_arg,
			NULL, LONG_ONLY + (int)p->n };
		if (opts[i].letter) {
			*at++ = (char)opts[i].letter;
			if (has_arg)
				*at++ = ':';
		}
	}
}

static bool parse_seconds(const char *s, double *value)
{
	char *end;

	*value = strtod(s, &end);
	return end != s && !*end && *value > 0 && *value <= 1e6;
}

static bool parse_count(const char *s, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end && !errno;
}

static void store(const struct opt *o, const char *arg)
{
	bool good = true;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->to = true;
		break;
	case OPT_TEXT:
		*(const char **)o->to = arg;
		break;
	case OPT_SIZE:
		good = parse_size(arg, o->to);
		break;
	case OPT_COUNT:
		good = parse_count(arg, o->to);
		break;
	case OPT_SECONDS:
		good = parse_seconds(arg, o->to);
		break;
	}
	if (!good)
		usage_error("'%s' is no %s for %s%s", arg,
			o->kind == OPT_SIZE ? "size (like 4096, 64k, 1G)" : "number",
			o->name ? "--" : "-", o->name ? o->name : (char[]){ (char)o->letter, 0 });
}

static const struct opt *find(const struct parser *p, int c)
{
	for (size_t i = 0; i < p->n; i++) {
		if (c == LONG_ONLY + (int)i || (c < LONG_ONLY && c == p->table[i].letter))
			return &p->table[i];
	}
	return NULL;
}

static void obey_common(const char *help)
{
	if (want_help || want_version) {
		fputs(want_help ? help : "rpma " RPMA_VERSION "\n", stdout);
		exit(fflush(stdout) ? STATUS_FAILED : STATUS_OK);
	}
	/* The library reads it at its first use. */
	if (provider && strcmp(provider, "auto") && strcmp(provider, "tcp") &&
		strcmp(provider, "verbs"))
		usage_error("--provider %s: it is auto, tcp or verbs", provider);
	if (provider)
		setenv("RPMA_PROVIDER", provider, 1);
	log_start();
}

int opt_parse(int argc, char **argv, const char *help, const struct opt *opts, size_t n_opts,
	int min, int max)
{
	struct parser p = { .n = 0 };
	int c, operands;

	add(&p, common, sizeof(common) / sizeof(common[0]));
	add(&p, opts, n_opts);
	opterr = 0;
	while ((c = getopt_long(argc, argv, p.letters, p.long_opts, NULL)) != -1) {
		const struct opt *o = c == '?' ? NULL : find(&p, c);

		if (!o)
			usage_error(
				"%s: no such option, or its value is missing", argv[optind - 1]);
		store(o, optarg);
	}
	obey_common(help);
	operands = argc - optind;
	if (operands < min)
		usage_error("%s", min == 1 ? "an operand is missing" : "operands are missing");
	if (operands > max)
		usage_error("'%s' is one operand too many", argv[optind + max]);
	return optind;
}
