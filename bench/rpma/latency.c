/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * latency.c -- one small operation at a time; also beside many idle connections,
 * and what these cost
 */

#include "rpma/rpma.h"

enum { SMALL = 8 };

struct pair {
	struct rpma_peer *peer;
	struct target target;
	struct link link;
	struct rpma_mr_local *mr;
};

typedef void post_fn(const struct pair *p);

static void post_write(const struct pair *p)
{
	must(rpma_write(
		p->link.conn, p->link.dst, 0, p->mr, 0, SMALL, RPMA_F_COMPLETION_ON_ERROR, NULL));
	must(rpma_flush(p->link.conn, p->link.dst, 0, SMALL, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, NULL));
}

static void post_read(const struct pair *p)
{
	must(rpma_read(
		p->link.conn, p->mr, 0, p->link.dst, 0, SMALL, RPMA_F_COMPLETION_ALWAYS, NULL));
}

static post_fn *post_of(const char *word)
{
	if (strcmp(word, "write") && strcmp(word, "read"))
		die("'%s' is neither write nor read", word);
	return strcmp(word, "write") ? post_read : post_write;
}

/* Two processes and one connection; the target waits for as many more as idle says. */
static struct pair pair_open(const char *mode, unsigned idle)
{
	static char word[SMALL];
	struct pair p;

	need_files(64 + 3 * (uint64_t)idle);
	p.target = target_start(mode, 4096, 1 + idle, NULL);
	p.peer = peer_open();
	must(rpma_mr_reg(p.peer, word, sizeof(word),
		RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, &p.mr));
	p.link = link_open(p.peer, p.target.port, 0, 0);
	return p;
}

static void add_idle(struct pair *p, unsigned idle)
{
	for (unsigned i = 1; i <= idle; i++)
		link_open(p->peer, p->target.port, i, 0);
	target_up(&p->target);
}

static void repeat(struct samples *s, const struct pair *p, post_fn *post, bool poll, int64_t ns)
{
	samples_begin(s);
	for (int64_t t = s->start; t < s->start + ns; t = samples_add(s, t)) {
		post(p);
		link_await(&p->link, poll);
	}
}

void latency(char **argv)
{
	post_fn *post = post_of(argv[0]);
	bool poll = is_poll(argv[1]);
	unsigned idle = (unsigned)strtoul(argv[2], NULL, 10);
	int64_t ns = ns_of(argv[3]);
	struct pair p = pair_open(argv[1], idle);
	struct samples s = { 0 };

	add_idle(&p, idle);
	repeat(&s, &p, post, poll, ns / 5);
	repeat(&s, &p, post, poll, ns);
	samples_tell(&s);
	target_end(&p.target);
}

static void sleep_for(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&t, &t))
		;
}

/* What the two processes do while nothing happens. */
static void tell_cpu(pid_t target, int64_t ns)
{
	int64_t own = cpu_ns_of(getpid()), others = cpu_ns_of(target);

	sleep_for(ns);
	printf("initiator_cpu_percent %.3f\n",
		(double)(cpu_ns_of(getpid()) - own) * 100 / (double)ns);
	printf("target_cpu_percent %.3f\n",
		(double)(cpu_ns_of(target) - others) * 100 / (double)ns);
}

/* The first connection has brought what is needed once. */
void idle(char **argv)
{
	unsigned n = (unsigned)strtoul(argv[0], NULL, 10);
	int64_t ns = ns_of(argv[1]);
	struct pair p = pair_open(TARGET_IDLE, n);
	pid_t target = p.target.helper.pid;
	uint64_t own = rss_of(getpid()), others = rss_of(target);
	int64_t start = now_ns();

	if (n == 0)
		die("no connections, no figure");
	add_idle(&p, n);
	printf("connect_per_s %.0f\n", n * 1e9 / (double)(now_ns() - start));
	printf("initiator_bytes %.0f\n", (double)(rss_of(getpid()) - own) / n);
	printf("target_bytes %.0f\n", (double)(rss_of(target) - others) / n);
	tell_cpu(target, ns);
	target_end(&p.target);
}
