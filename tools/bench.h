/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench.h -- rpma bench: bench.c options and sizes, bench_run.c one measurement,
 * bench_thread.c what its threads do, bench_tell.c, bench_json.c and plot.c results
 *
 * What is measured: each request from its posting until its completion has been taken,
 * which is a round trip; all of them from a common start until the last one. The
 * server's part is asked for by a connection of its own, the session, before and after,
 * while nothing is under way.
 */

#ifndef BENCH_H
#define BENCH_H 1

#include <pthread.h>
#include <stdatomic.h>

#include "link.h"
#include "load.h"

enum { SIZES_MAX = 64, CONNECTIONS_MAX = LOADS_MAX };

struct bench_plan {
	struct target target;
	enum op op;
	uint64_t sizes[SIZES_MAX];
	unsigned n_sizes;
	uint64_t iterations; /* per connection; 0: for so many seconds */
	double duration;
	uint64_t warmup; /* iterations per connection */
	uint64_t depth;
	uint64_t connections;
	uint64_t threads;
	unsigned flags; /* HELLO_* */
	bool tcp;
	const char *device;
};

struct bench_result {
	uint64_t size;
	struct hist times; /* nanoseconds */
	double elapsed;	   /* seconds */
	double cpu_here;   /* in CPUs */
	double cpu_there;
	double back_messages; /* per second, what the server sent */
	double back_bytes;    /* per second */
	uint64_t mismatches;
};

/* ---- measuring ------------------------------------------------------------------ */

struct run;

struct worker {
	pthread_t thread;
	struct run *run;
	struct load **loads;
	unsigned n_loads;
	struct hist hist;
	uint64_t last; /* nanoseconds, when its last request was done */
};

struct run {
	const struct bench_plan *plan;
	const struct site *site;
	uint64_t size;
	struct worker *workers;
	pthread_barrier_t barrier; /* of workers and the main thread */
	uint64_t deadline;	   /* nanoseconds; set before the barrier */
	atomic_ullong count;	   /* of messages, for the live line */
	pthread_mutex_t lock;	   /* of finished */
	pthread_cond_t done;	   /* all have finished */
	unsigned finished;
};

/* All end the program when they fail. */
void bench_session(
	const struct bench_plan *p, const struct site *s, struct link *session, uint64_t id);
void bench_run(const struct bench_plan *p, const struct site *s, struct link *session, uint64_t id,
	struct bench_result *r);
void *bench_thread(void *worker);

/* ---- results ------------------------------------------------------------------------ */

static inline double result_rate(const struct bench_result *r)
{
	return r->elapsed > 0 ? (double)r->times.count / r->elapsed : 0;
}

void tell_begin(const struct bench_plan *p);
void tell_result(const struct bench_plan *p, const struct bench_result *r);
void csv_begin(void);
void csv_result(const struct bench_plan *p, const struct bench_result *r);
void json_results(const struct bench_plan *p, const struct bench_result *r);
bool plot_possible(void);
void plot_results(const struct bench_plan *p, const struct bench_result *r, const char *path);

#endif /* BENCH_H */
