/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench_thread.c -- a thread of a measurement: it drives its connections, in turns
 */

#include <string.h>

#include "bench.h"

static void ended(struct load *l) __attribute__((noreturn));

static void ended(struct load *l)
{
	struct link link = { .conn = l->conn };

	if (l->error)
		fail("%s to the server failed: %s", op_name(l->spec.op), cause(l->error));
	link_broken(&link, l->status);
	fail("%s", link.why);
}

/* Post and take once. *open: there is, or will be, something under way. */
static int turn(struct load *l, uint64_t limit, bool stop, bool *open)
{
	int got;

	if (stop && limit > l->posted)
		limit = l->posted;
	if (!load_post(l, limit) || !load_take(l, &got))
		ended(l);
	*open = *open || l->done < limit;
	return got;
}

/* Until each connection has done "more" requests, or the deadline. */
static void drive(struct worker *w, uint64_t more, uint64_t deadline)
{
	uint64_t limits[CONNECTIONS_MAX], progress = nanoseconds();
	bool open = true;

	for (unsigned i = 0; i < w->n_loads; i++)
		limits[i] = more == UINT64_MAX ? more : w->loads[i]->posted + more;
	while (open) {
		uint64_t now = nanoseconds();
		int got = 0;

		open = false;
		for (unsigned i = 0; i < w->n_loads; i++)
			got += turn(w->loads[i], limits[i], now >= deadline, &open);
		if (got)
			progress = now;
		else if (now - progress > (uint64_t)(tool.timeout * 1e9))
			fail("no answer for %g s: see whether the server is stopped or the network "
			     "is down, or wait longer by --timeout",
				tool.timeout);
		else if (open)
			load_idle(w->loads, w->n_loads, 100);
	}
}

static void record(struct worker *w, struct hist *hist)
{
	for (unsigned i = 0; i < w->n_loads; i++)
		w->loads[i]->hist = hist;
}

/* Read what was written, and compare. The server checks what it receives itself. */
static void read_back(struct worker *w)
{
	const struct bench_plan *p = w->run->plan;

	if (!(p->flags & HELLO_VERIFY) || p->op == OP_READ || op_needs_receive(p->op))
		return;
	for (unsigned i = 0; i < w->n_loads; i++) {
		struct load *l = w->loads[i];

		l->spec.op = OP_READ;
		memset((char *)l->mem.ptr + l->mem.size / 2, 0, l->mem.size / 2);
	}
	drive(w, p->depth, UINT64_MAX);
}

/* ---- connect ------------------------------------------------------------------------- */

static void connect_once(struct worker *w, bool recorded)
{
	const struct run *run = w->run;
	struct hello hello = { .role = ROLE_CONNECT };
	uint64_t start = nanoseconds();
	struct link link;

	if (link_open(&link, run->site, &run->plan->target, &hello,
		    &(struct link_queues){ .sends = 1 }))
		fail("%s", link.why);
	w->last = nanoseconds();
	if (recorded)
		hist_add(&w->hist, w->last - start);
	link_close(&link);
	atomic_fetch_add(&w->run->count, 1);
}

static void connect_often(struct worker *w, uint64_t n, uint64_t deadline, bool recorded)
{
	for (uint64_t i = 0; i < n && nanoseconds() < deadline; i++)
		connect_once(w, recorded);
}

/* ---- phases ---------------------------------------------------------------------------- */

static void measured(struct worker *w)
{
	const struct bench_plan *p = w->run->plan;
	uint64_t n = p->iterations ? p->iterations : UINT64_MAX;
	uint64_t deadline = p->iterations ? UINT64_MAX : w->run->deadline;

	if (p->op == OP_CONNECT) {
		connect_often(w, n, deadline, true);
		return;
	}
	record(w, &w->hist);
	drive(w, n, deadline);
	record(w, NULL);
	for (unsigned i = 0; i < w->n_loads; i++) {
		if (w->loads[i]->last > w->last)
			w->last = w->loads[i]->last;
	}
}

void *bench_thread(void *arg)
{
	struct worker *w = arg;
	struct run *run = w->run;

	if (run->plan->op == OP_CONNECT)
		connect_often(w, run->plan->warmup < 3 ? run->plan->warmup : 3, UINT64_MAX, false);
	else
		drive(w, run->plan->warmup, UINT64_MAX);
	pthread_barrier_wait(&run->barrier);
	pthread_barrier_wait(&run->barrier);
	measured(w);
	pthread_mutex_lock(&run->lock);
	if (++run->finished == run->plan->threads)
		pthread_cond_signal(&run->done);
	pthread_mutex_unlock(&run->lock);
	pthread_barrier_wait(&run->barrier);
	read_back(w);
	return NULL;
}
