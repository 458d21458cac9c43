/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * tool.h -- what all commands of rpma share: their ends, options and units
 *
 * A command is a process of its own: what it cannot do ends it, by fail(), with one
 * line that names the cause and the next step. Only what serves several others
 * (serve, ping) reports failures to its caller instead.
 */

#ifndef TOOL_H
#define TOOL_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "librpma.h"

enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* mismatch, loss, peer gone, ... */
	STATUS_USAGE = 2,
};

#define DEFAULT_PORT "7470"

/* The options that every command has. */
struct tool {
	const char *command; /* for messages */
	bool verbose;
	double timeout; /* seconds without an answer until we give up */
	bool live;	/* a line of progress is on the terminal */
};

extern struct tool tool;

typedef int command_fn(int argc, char **argv);
command_fn cmd_info, cmd_serve, cmd_put, cmd_get, cmd_ping, cmd_bench;

/* ---- say.c: messages ------------------------------------------------------- */

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A line on stderr, "rpma COMMAND: ...". */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line on stderr that the next one replaces; nothing when that is no terminal. */
void live(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool live_shown(void);
void live_end(void);

/* Take the library's log: its last complaint is the cause of what fails next. */
void log_start(void);
/* From now on its records of level INFO and above go to f as well; NULL: no more. */
void log_copy(FILE *f);
/* Why a function of the library returned ret; valid until the next call. */
const char *cause(int ret);

void *need_memory(void *p); /* p, if it is not NULL */

/* ---- options.c --------------------------------------------------------------- */

enum opt_kind {
	OPT_FLAG,    /* bool */
	OPT_TEXT,    /* const char * */
	OPT_SIZE,    /* uint64_t, with k, M, G */
	OPT_COUNT,   /* uint64_t */
	OPT_SECONDS, /* double */
};

struct opt {
	int letter; /* 0: only long */
	const char *name;
	enum opt_kind kind;
	void *to;
};

/* Parse the options of a command and those that all have, print help. argv[0] is the
 * command. Returns the index of the first operand; there are at least min and at
 * most max. */
int opt_parse(int argc, char **argv, const char *help, const struct opt *opts, size_t n_opts,
	int min, int max);

/* ---- units.c ------------------------------------------------------------------ */

bool parse_size(const char *s, uint64_t *value);
const char *show_size(uint64_t bytes, char buf[16]); /* "1.5 GiB" */
double seconds(void);
uint64_t nanoseconds(void);

/* HOST[:PORT][@OFFSET][+LENGTH]; an IPv6 address with a port is in brackets. */
struct target {
	char host[256];
	char port[8];
	uint64_t offset;
	uint64_t length;
	bool has_offset;
	bool has_length;
};

bool parse_target(const char *s, struct target *t);
/* Make host a numeric IPv6 address. */
void target_ipv6(struct target *t);

#endif /* TOOL_H */
