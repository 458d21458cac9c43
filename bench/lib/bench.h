/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench.h -- what all benchmark programs share: time, samples, the second process
 *
 * A program tells its figures on stdout, a line each: a name and a number. Units are
 * in the name. bench/run puts them together.
 */

#ifndef BENCH_LIB_BENCH_H
#define BENCH_LIB_BENCH_H 1

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define die(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(EXIT_FAILURE))

/* A subcommand; argv[0] is the first argument. */
struct command {
	const char *name;
	const char *usage; /* NULL: not for users, a program's own second process */
	int n_args;
	void (*run)(char **argv);
};

/* Ends with a NULL name. */
int run_command(const struct command *commands, int argc, char **argv);

/* ---- time ------------------------------------------------------------------ */

int64_t now_ns(void);
int64_t ns_of(const char *seconds);

/* Latencies of single operations; those that do not fit are only counted. */
struct samples {
	uint32_t *ns;
	size_t n;
	size_t count;
	int64_t start;
	int64_t end;
};

void samples_begin(struct samples *s);
/* An operation ends now that began at start; returns now. */
int64_t samples_add(struct samples *s, int64_t start);
/* p50_ns, p99_ns, mean_ns, per_s */
void samples_tell(struct samples *s);

/* ---- the second process -------------------------------------------------------- */

/* This program again, with other arguments. It dies with us. */
struct helper {
	pid_t pid;
	FILE *out;
};

enum { WORD = 128 };

struct helper helper_start(const char *const args[]);
/* Its next line, which has to come. */
void helper_hear(struct helper *h, char line[WORD]);
void helper_end(struct helper *h);
/* The second process's side: one line for helper_hear(). */
void tell_parent(const char *line);

/* ---- system -------------------------------------------------------------------- */

/* A port of the loopback address that was free a moment ago. */
void free_port(char port[8]);
/* 127.0.0.1, .2, ...: many connections need more ports than one address has. */
void loopback(char addr[16], unsigned i);
uint64_t rss_of(pid_t pid);
/* CPU time that a process has used. */
int64_t cpu_ns_of(pid_t pid);
/* As many descriptors as we may have; dies when these are fewer. */
void need_files(uint64_t n);
void *anonymous(size_t size);

#endif /* BENCH_LIB_BENCH_H */
