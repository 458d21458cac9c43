/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* crowd.c -- see crowd.h */

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "pair_wait.h"

/* A stranger costs the library a connection object, not its buffers: of 1024 at once
 * this is far more than the sum. */
#define GROWTH_MAX_KB (32 * 1024)

/* ---- what it costs ------------------------------------------------------------------ */

long rss_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*s %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

void check_growth(const char *what, long before)
{
	long after = rss_kb();

	print_message("%s: RSS %ld KiB before, %ld KiB after\n", what, before, after);
#if !defined(__SANITIZE_ADDRESS__)
	assert_true(after - before < GROWTH_MAX_KB);
#endif
}

/* ---- a connection that was there before ----------------------------------------------- */

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000;
}

/* A round trip; not by cmocka's means, which belong to the main thread. */
static bool round_trip(struct witness *w)
{
	struct xfer x = field_xfer(&w->f, CLIENT, 64, CTX(1));
	int64_t begin = now_us(), took;
	struct ibv_wc wc;

	if (ops[OP_WRITE].post(&x) || rpma_cq_wait(x.by->cq) ||
		rpma_cq_get_wc(x.by->cq, 1, &wc, NULL) || wc.status != IBV_WC_SUCCESS)
		return false;
	took = now_us() - begin;
	w->sum_us += took;
	w->n++;
	if (took > w->worst_us)
		w->worst_us = took;
	return true;
}

static void *witness_main(void *arg)
{
	struct witness *w = arg;

	do /* one at least, however late this thread gets its turn */
		w->failed = !round_trip(w);
	while (!w->failed && !atomic_load(&w->stop));
	return NULL;
}

static void witness_start(struct witness *w, struct net *n)
{
	*w = (struct witness){ 0 };
	field_connect(&w->f, n, NULL, 4096);
	for (int i = 0; i < 1000; i++)
		assert_true(round_trip(w));
	print_message("alone: %lld us in the mean, %lld us at most\n",
		(long long)(w->sum_us / w->n), (long long)w->worst_us);
	w->worst_us = w->sum_us = w->n = 0;
	assert_int_equal(pthread_create(&w->thread, NULL, witness_main, w), 0);
}

static void witness_stop(struct witness *w)
{
	atomic_store(&w->stop, true);
	pthread_join(w->thread, NULL);
	assert_false(w->failed);
	assert_true(w->n > 0);
	print_message("in the crowd: %lld us in the mean, %lld us at most, of %lld\n",
		(long long)(w->sum_us / w->n), (long long)w->worst_us, (long long)w->n);
	field_close(&w->f);
}

void newcomer(struct net *n)
{
	struct pair p;

	pair_connect(&p, n, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

void crowd_open(struct crowd *c)
{
	net_open(&c->n);
	newcomer(&c->n);
	witness_start(&c->w, &c->n);
	c->rss = rss_kb();
}

void crowd_close(struct crowd *c, const char *what)
{
	int fd = -1;

	newcomer(&c->n);
	check_growth(what, c->rss);
	witness_stop(&c->w);
	assert_ok(rpma_ep_get_fd(c->n.ep, &fd));
	assert_false(readable(fd));
	net_close(&c->n);
}
