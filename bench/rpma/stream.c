/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * stream.c -- writes, as many under way as the queue takes
 */

#include <poll.h>
#include <pthread.h>

#include "rpma/rpma.h"

struct plan {
	bool poll;
	uint32_t size;
	uint32_t depth; /* a multiple of every */
	uint32_t every; /* one write in that many is signalled */
	unsigned conns;
	unsigned threads;
	int64_t ns;
};

struct flow {
	struct link link;
	uint32_t room; /* writes that the queue takes */
	uint64_t posted;
	uint64_t in_time; /* completed when the time was over */
};

/* A thread and its connections. */
struct worker {
	pthread_t thread;
	const struct plan *plan;
	struct rpma_mr_local *mr;
	struct flow *flows;
	struct pollfd *fds;
	unsigned n;
	unsigned first; /* its turn, so that none is always the last one served */
	int64_t ns;
	int64_t took;
};

static void post(struct flow *f, const struct worker *w)
{
	const struct plan *p = w->plan;

	for (; f->room > 0; f->room--) {
		bool last = ++f->posted % p->every == 0;

		must(rpma_write(f->link.conn, f->link.dst, 0, w->mr, 0, p->size,
			last ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR, NULL));
	}
}

static bool reap(struct flow *f, const struct plan *p)
{
	uint32_t before = f->room;

	while (f->room < p->depth && link_done(&f->link))
		f->room += p->every;
	return f->room != before;
}

static void sleep_at(struct worker *w)
{
	if (w->n > 1 && poll(w->fds, w->n, -1) < 0)
		die("poll: %s", strerror(errno));
	for (unsigned i = 0; i < w->n; i++) {
		if (w->n == 1 || w->fds[i].revents)
			must(rpma_cq_wait(w->flows[i].link.cq));
	}
}

/* Something has completed. */
static void await(struct worker *w)
{
	for (;;) {
		bool any = false;

		for (unsigned i = 0; i < w->n; i++)
			any |= reap(&w->flows[i], w->plan);
		if (any)
			return;
		if (!w->plan->poll)
			sleep_at(w);
	}
}

static bool all_done(const struct worker *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->flows[i].room < w->plan->depth)
			return false;
	}
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int64_t start = now_ns();

	for (unsigned i = 0; i < w->n; i++)
		w->flows[i].posted = 0;
	do {
		for (unsigned i = 0; i < w->n; i++)
			post(&w->flows[(w->first + i) % w->n], w);
		w->first++;
		await(w);
	} while (now_ns() < start + w->ns);
	for (unsigned i = 0; i < w->n; i++)
		w->flows[i].in_time = w->flows[i].posted + w->flows[i].room - w->plan->depth;
	while (!all_done(w))
		await(w);
	w->took = now_ns() - start;
	return NULL;
}

static void work_all(struct worker *w, const struct plan *p, int64_t ns)
{
	for (unsigned t = 0; t < p->threads; t++) {
		w[t].ns = ns;
		if (pthread_create(&w[t].thread, NULL, work, &w[t]))
			die("no thread");
	}
	for (unsigned t = 0; t < p->threads; t++)
		pthread_join(w[t].thread, NULL);
}

static struct worker *hire(const struct plan *p, struct flow *flows, struct rpma_mr_local *mr)
{
	struct worker *w = calloc(p->threads, sizeof(*w));
	struct pollfd *fds = calloc(p->conns, sizeof(*fds));
	unsigned each = p->conns / p->threads;

	if (!w || !fds)
		die("out of memory");
	for (unsigned i = 0; i < p->conns; i++) {
		must(rpma_cq_get_fd(flows[i].link.cq, &fds[i].fd));
		fds[i].events = POLLIN;
	}
	for (unsigned t = 0; t < p->threads; t++)
		w[t] = (struct worker){ .plan = p,
			.mr = mr,
			.flows = flows + t * each,
			.fds = fds + t * each,
			.n = each };
	return w;
}

/* How evenly the connections had their share of the time. */
static double spread(const struct flow *flows, unsigned n)
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t one = flows[i].in_time;

		sum += one;
		min = one < min ? one : min;
		max = one > max ? one : max;
	}
	return sum ? (double)(max - min) * n / (double)sum : 0;
}

static void tell(const struct plan *p, const struct flow *flows, const struct worker *w)
{
	uint64_t sum = 0;
	int64_t took = 0;

	for (unsigned i = 0; i < p->conns; i++)
		sum += flows[i].posted;
	for (unsigned t = 0; t < p->threads; t++)
		took = w[t].took > took ? w[t].took : took;
	printf("per_s %.1f\n", (double)sum * 1e9 / (double)took);
	printf("bytes_per_s %.0f\n", (double)sum * p->size * 1e9 / (double)took);
	printf("spread %.4f\n", spread(flows, p->conns));
}

static struct plan plan_of(char **argv)
{
	struct plan p = { is_poll(argv[0]), (uint32_t)strtoul(argv[1], NULL, 10),
		(uint32_t)strtoul(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10),
		(unsigned)strtoul(argv[4], NULL, 10), (unsigned)strtoul(argv[5], NULL, 10),
		ns_of(argv[6]) };

	if (!p.size || !p.depth || !p.every || p.depth % p.every || !p.threads || !p.conns ||
		p.conns % p.threads)
		die("stream: DEPTH has to be a multiple of SIGNAL_EVERY, CONNECTIONS of THREADS");
	return p;
}

void stream(char **argv)
{
	struct plan p = plan_of(argv);
	bool one = p.poll && p.conns == 1;
	struct target t = target_start(one ? TARGET_POLL : TARGET_IDLE, p.size, p.conns, NULL);
	struct flow *flows = calloc(p.conns, sizeof(*flows));
	struct rpma_peer *peer = peer_open();
	struct rpma_mr_local *mr;

	if (!flows)
		die("out of memory");
	must(rpma_mr_reg(peer, anonymous(p.size), p.size, RPMA_MR_USAGE_WRITE_SRC, &mr));
	for (unsigned i = 0; i < p.conns; i++)
		flows[i] = (struct flow){ .link = link_open(peer, t.port, i, p.depth),
			.room = p.depth };
	target_up(&t);
	struct worker *w = hire(&p, flows, mr);
	work_all(w, &p, p.ns / 5);
	work_all(w, &p, p.ns);
	tell(&p, flows, w);
	free(w->fds);
	free(w);
	free(flows);
	target_end(&t);
}
