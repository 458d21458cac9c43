/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench_run.c -- one measurement: connections, threads, and what both sides count
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

/* A connection with its load. */
struct client {
	struct link link;
	struct load load;
};

/* ---- the server's part -------------------------------------------------------------- */

void bench_session(
	const struct bench_plan *p, const struct site *s, struct link *session, uint64_t id)
{
	struct hello hello = { .role = ROLE_SESSION, .session = id };

	if (link_open(session, s, &p->target, &hello,
		    &(struct link_queues){ .sends = 2, .receives = 1 }))
		fail("%s", session->why);
}

static void ask_counts(struct link *session, struct counts *c)
{
	const struct request request = { .type = REQUEST_COUNT };
	struct reply reply;

	if (link_ask(session, &request, &reply))
		fail("%s", session->why);
	*c = reply.counts;
}

/* What happened there between two counts. */
static void use_counts(const struct counts *a, const struct counts *b, struct bench_result *r)
{
	double time = (double)(b->time - a->time) / 1e9;

	r->mismatches += b->mismatches - a->mismatches;
	if (time <= 0)
		return;
	r->cpu_there = (double)(b->cpu - a->cpu) / 1e9 / time;
	r->back_messages = (double)(b->messages - a->messages) / time;
	r->back_bytes = (double)(b->bytes - a->bytes) / time;
}

/* ---- connections ---------------------------------------------------------------------- */

static void check_flush(const struct bench_plan *p, const struct link *l)
{
	int types = 0;

	rpma_mr_remote_get_flush_type(l->remote, &types);
	if (p->op == OP_WRITE_PFLUSH && !(types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		fail("%s has no persistent flush for %s over this provider: measure write+flush",
			p->target.host, mem_kind_name(l->offer.mem_kind));
}

static int first_receives(struct rpma_conn_req *req, void *load)
{
	struct load *l = load;

	return load_receives(l, req) ? 0 : l->error;
}

static void open_client(struct run *run, struct client *c, uint64_t id)
{
	static const struct mem like = { .kind = MEM_DRAM };
	const struct bench_plan *p = run->plan;
	struct hello hello = { ROLE_LOAD, p->op, p->flags, (uint32_t)p->depth, run->size, id, "",
		{ 0 } };
	struct load *l = &c->load;
	struct link_queues q = { .sends = 2 * (unsigned)p->depth };
	int ret;

	l->spec = (struct load_spec){ p->op, run->size, (uint32_t)p->depth, p->flags, id };
	if (p->flags & HELLO_BOTH && op_needs_receive(p->op))
		q = (struct link_queues){ q.sends, l->spec.depth, first_receives, l };
	ret = load_prepare(l, run->site, &like);
	if (!ret)
		ret = rpma_mr_get_descriptor(l->mr, hello.desc);
	if (ret)
		fail("cannot get %llu bytes of memory to be used: %s; see: rpma info",
			(unsigned long long)load_arena_size(&l->spec),
			ret <= RPMA_E_UNKNOWN ? cause(ret) : strerror(-ret));
	if (link_open(&c->link, run->site, &p->target, &hello, &q))
		fail("%s", c->link.why);
	check_flush(p, &c->link);
	l->conn = c->link.conn;
	l->cq = c->link.cq;
	l->cq_fd = c->link.cq_fd;
	l->remote = c->link.remote;
	l->count = &run->count;
}

static void close_client(struct client *c)
{
	c->load.remote = NULL; /* the link's */
	link_close(&c->link);
	load_release(&c->load);
}

/* ---- threads ---------------------------------------------------------------------------- */

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void start_workers(struct run *run, struct client *clients)
{
	const struct bench_plan *p = run->plan;
	unsigned n = (unsigned)p->threads;
	int err = pthread_barrier_init(&run->barrier, NULL, n + 1);

	run->workers = need_memory(calloc(n, sizeof(*run->workers)));
	for (unsigned i = 0; i < n && !err; i++) {
		struct worker *w = &run->workers[i];

		w->run = run;
		w->loads = need_memory(calloc(p->connections, sizeof(*w->loads)));
		for (uint64_t c = i; clients && c < p->connections; c += n) {
			clients[c].load.hist = NULL;
			w->loads[w->n_loads++] = &clients[c].load;
		}
		err = pthread_create(&w->thread, NULL, bench_thread, w);
	}
	if (err)
		fail("cannot start threads: %s; use fewer of them", strerror(err));
}

/* Until all threads are done. */
static void watch(struct run *run, uint64_t start)
{
	struct timespec next;
	double now;

	clock_gettime(CLOCK_REALTIME, &next);
	pthread_mutex_lock(&run->lock);
	while (run->finished < run->plan->threads) {
		next.tv_nsec += 250 * 1000 * 1000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		while (run->finished < run->plan->threads &&
			!pthread_cond_timedwait(&run->done, &run->lock, &next))
			;
		now = (double)(nanoseconds() - start) / 1e9;
		live("%s, %llu bytes: %.1f s, %.0f messages/s", op_name(run->plan->op),
			(unsigned long long)run->size, now, (double)atomic_load(&run->count) / now);
	}
	pthread_mutex_unlock(&run->lock);
	live_end();
}

static uint64_t end_workers(struct run *run, struct bench_result *r)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < run->plan->threads; i++) {
		struct worker *w = &run->workers[i];

		pthread_join(w->thread, NULL);
		hist_merge(&r->times, &w->hist);
		if (w->last > last)
			last = w->last;
		for (unsigned k = 0; k < w->n_loads; k++)
			r->mismatches += w->loads[k]->mismatches;
		free(w->loads);
	}
	free(run->workers);
	pthread_barrier_destroy(&run->barrier);
	return last;
}

static void measure(struct run *run, struct link *session, struct bench_result *r)
{
	struct counts before, after;
	uint64_t cpu, start, last;

	pthread_barrier_wait(&run->barrier); /* all are warm, and none does anything */
	ask_counts(session, &before);
	atomic_store(&run->count, 0);
	cpu = cpu_time();
	start = nanoseconds();
	run->deadline = start + (uint64_t)(run->plan->duration * 1e9);
	pthread_barrier_wait(&run->barrier);
	watch(run, start);
	cpu = cpu_time() - cpu;
	r->cpu_here = (double)cpu / (double)(nanoseconds() - start);
	ask_counts(session, &after);
	use_counts(&before, &after, r);
	pthread_barrier_wait(&run->barrier); /* they may check data now */
	last = end_workers(run, r);
	r->elapsed = last > start ? (double)(last - start) / 1e9 : 0;
	/* Found by the server after the count, and before the connections end. */
	ask_counts(session, &before);
	r->mismatches += before.mismatches - after.mismatches;
}

void bench_run(const struct bench_plan *p, const struct site *s, struct link *session, uint64_t id,
	struct bench_result *r)
{
	struct run run = { .plan = p,
		.site = s,
		.size = r->size,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.done = PTHREAD_COND_INITIALIZER };
	struct client *clients = NULL;

	if (p->op != OP_CONNECT) {
		clients = need_memory(calloc(p->connections, sizeof(*clients)));
		for (uint64_t i = 0; i < p->connections; i++)
			open_client(&run, &clients[i], id);
	}
	start_workers(&run, clients);
	measure(&run, session, r);
	for (uint64_t i = 0; clients && i < p->connections; i++)
		close_client(&clients[i]);
	free(clients);
}
