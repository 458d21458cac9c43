/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * soak.c -- 64 connections under mixed load for as long as one likes
 *
 * Every byte that is moved is compared. Connections are closed, dropped in full use
 * and made anew, memory is registered anew, at random. From time to time all of
 * them rest with every connection open: what the process uses must then be what it
 * was the first time.
 *
 * RPMA_TEST_SOAK_S: seconds (default 20). RPMA_TEST_SEED: another course of events.
 */

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_thread.h"

/* A sanitizer keeps what is freed for a while, to see whether it is used. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_FREED_MEMORY true
#else
#define KEEPS_FREED_MEMORY false
#endif

enum {
	THREADS = 4,
	CONNS = 16, /* per thread */
	SLOTS = 4,  /* requests at once, each with a piece of the memory */
	SLOT = 65536,
	RESTS = 5,
};

/* One request of a burst, in its slot */
struct shot {
	const struct op *op;
	size_t len;
	uint64_t seed;
};

struct worker {
	const struct net *shared;
	pthread_barrier_t *rest;
	unsigned seed;
	struct net net;
	struct field *field;
	uint64_t shots;
	uint64_t bytes;
	uint64_t connects;
	uint64_t registrations;
};

static atomic_bool resting; /* everybody is to come to the barrier */
static atomic_bool over;

/* ---- a burst ------------------------------------------------------------------ */

static void fire(struct worker *w, struct field *f, int from, int slot, struct shot *s)
{
	struct xfer x = field_xfer(f, from, 0, CTX(slot));
	char *here = f->mem[from].data + slot * SLOT, *there = f->mem[!from].data + slot * SLOT;
	int k = rand_r(&w->seed) % OP_COUNT;

	s->op = &ops[k];
	s->len = s->op->unit ? 8 : (size_t)(rand_r(&w->seed) % (SLOT - 64) + 1);
	s->seed = (uint64_t)rand_r(&w->seed);
	fill(k == OP_READ ? there : here, s->len, s->seed);
	x.local_off = x.remote_off = (size_t)slot * SLOT;
	x.len = s->len;
	x.imm = (uint32_t)s->seed;
	if (s->op->recv_opcode >= 0)
		assert_int_equal(recv_at(&f->pair.side[!from], &f->mem[!from], (size_t)slot * SLOT,
					 SLOT, CTX(slot)),
			0);
	op_post(s->op, &x);
	w->shots++;
}

static void check_shot(struct worker *w, struct field *f, int from, int slot, const struct shot *s)
{
	int k = (int)(s->op - ops);

	if (k == OP_FLUSH_PERSISTENT || k == OP_FLUSH_VISIBILITY)
		return;
	assert_filled(f->mem[k == OP_READ ? from : !from].data + slot * SLOT, s->len, s->seed);
	w->bytes += s->len;
}

/* Receives may complete in another order than the slots' when kinds differ: they
 * are taken by messages in order, so count them and look at the bytes. */
static void burst(struct worker *w, struct field *f)
{
	int from = rand_r(&w->seed) % 2, receives = 0;
	struct shot shot[SLOTS];
	struct ibv_wc wc;

	for (int i = 0; i < SLOTS; i++)
		fire(w, f, from, i, &shot[i]);
	for (int i = 0; i < SLOTS; i++)
		expect_done(&f->pair.side[from], CTX(i));
	for (int i = 0; i < SLOTS; i++)
		receives += shot[i].op->recv_opcode >= 0;
	while (receives-- > 0) {
		next_wc(&f->pair.side[!from], f->pair.side[!from].rcq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, shot[wc.wr_id].op->recv_opcode);
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			assert_int_equal(ntohl(wc.imm_data), (uint32_t)shot[wc.wr_id].seed);
	}
	for (int i = 0; i < SLOTS; i++)
		check_shot(w, f, from, i, &shot[i]);
}

/* ---- a worker ------------------------------------------------------------------- */

static void connect_field(struct worker *w, struct field *f)
{
	field_connect(f, &w->net, NULL, (size_t)SLOTS * SLOT);
	w->connects++;
}

static void register_anew(struct worker *w, struct field *f)
{
	for (int s = 0; s < SIDES; s++) {
		struct region *r = &f->mem[s];

		assert_ok(rpma_mr_remote_delete(&r->remote));
		assert_ok(rpma_mr_dereg(&r->mr));
		assert_ok(rpma_mr_reg(f->pair.side[s].peer, r->data, r->size, USAGE_ALL, &r->mr));
		r->remote = remote_of(r->mr);
		w->registrations++;
	}
}

/* In the middle of things; nobody asks what became of them. */
static void drop_in_full_use(struct worker *w, struct field *f)
{
	struct shot s;

	for (int i = 0; i < SLOTS; i++)
		fire(w, f, i % 2, i, &s);
	if (rand_r(&w->seed) % 2)
		assert_ok(rpma_conn_disconnect(f->pair.side[rand_r(&w->seed) % 2].conn));
	field_drop(f);
}

static void rest(struct worker *w)
{
	pthread_barrier_wait(w->rest); /* all have stopped */
	pthread_barrier_wait(w->rest); /* the books are done */
}

static void work(struct worker *w)
{
	struct field *f = &w->field[rand_r(&w->seed) % CONNS];
	int chance = rand_r(&w->seed) % 1000;

	burst(w, f);
	if (chance < 5)
		field_close(f);
	else if (chance < 10)
		drop_in_full_use(w, f);
	else if (chance < 30)
		register_anew(w, f);
	if (chance < 10)
		connect_field(w, f);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->net = *w->shared;
	listen_at(w->net.peer[SERVER], w->net.addr, &w->net.ep, w->net.port);
	w->field = calloc(CONNS, sizeof(*w->field));
	assert_non_null(w->field);
	for (int i = 0; i < CONNS; i++)
		connect_field(w, &w->field[i]);
	while (!atomic_load(&over)) {
		if (atomic_load(&resting))
			rest(w);
		else
			work(w);
	}
	for (int i = 0; i < CONNS; i++)
		field_close(&w->field[i]);
	free(w->field);
	assert_ok(rpma_ep_shutdown(&w->net.ep));
	return NULL;
}

/* ---- the books --------------------------------------------------------------------- */

struct usage {
	long rss_kib;
	int fds;
	int threads;
};

static struct usage usage_now(void)
{
	struct usage u = { .fds = count_self("fd"), .threads = count_self("task") };
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*s %ld", &u.rss_kib), 1);
	fclose(f);
	u.rss_kib *= sysconf(_SC_PAGESIZE) / 1024;
	return u;
}

/* Sockets of connections that are gone stay for a moment. */
static struct usage usage_settled(const struct usage *limit)
{
	if (limit) {
		settle_self("fd", limit->fds);
		settle_self("task", limit->threads);
	}
	return usage_now();
}

static int fds_at_rest(int before)
{
	/* Per pair two sockets, two events, two completion channels; an endpoint
	 * per thread with its socket. */
	return before + THREADS * (CONNS * 6 + 2);
}

static void sleep_ms(int64_t ms)
{
	int64_t end = clock_ms() + ms;

	while (clock_ms() < end)
		poll(NULL, 0, 20);
}

static void print_figures(const struct worker *w, int seconds, struct usage a, struct usage b)
{
	uint64_t shots = 0, bytes = 0, connects = 0, registrations = 0;

	for (int i = 0; i < THREADS; i++) {
		shots += w[i].shots;
		bytes += w[i].bytes;
		connects += w[i].connects;
		registrations += w[i].registrations;
	}
	printf("= soak: %d s, %d connections: %lu requests, %lu MiB compared, %lu connections made, "
	       "%lu registrations\n",
		seconds, THREADS * CONNS, shots, bytes >> 20, connects, registrations);
	printf("= soak: first rest, last rest: RSS %ld, %ld KiB; descriptors %d, %d; threads %d, %d\n",
		a.rss_kib, b.rss_kib, a.fds, b.fds, a.threads, b.threads);
}

static void soak(void **state)
{
	const char *s = getenv("RPMA_TEST_SOAK_S"), *seed = getenv("RPMA_TEST_SEED");
	int seconds = s ? atoi(s) : 20;
	struct usage first = { 0 }, last = { 0 }, limit;
	struct worker w[THREADS];
	pthread_barrier_t barrier;
	pthread_t t[THREADS];
	struct net n;

	(void)state;
	net_open(&n);
	limit = usage_now();
	limit.fds = fds_at_rest(limit.fds);
	limit.threads += THREADS;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .shared = &n, .rest = &barrier };
		w[i].seed = i + (seed ? (unsigned)atoi(seed) * THREADS : 0);
		t[i] = thread_start(worker_main, &w[i]);
	}
	for (int i = 0; i < RESTS; i++) {
		sleep_ms((int64_t)seconds * 1000 / RESTS);
		atomic_store(&resting, true);
		pthread_barrier_wait(&barrier);
		last = usage_settled(&limit);
		if (i == 0)
			first = last;
		atomic_store(&resting, false);
		atomic_store(&over, i == RESTS - 1);
		pthread_barrier_wait(&barrier);
	}
	for (int i = 0; i < THREADS; i++)
		thread_join(t[i]);
	print_figures(w, seconds, first, last);
	assert_int_equal(last.fds, first.fds);
	assert_int_equal(last.threads, first.threads);
	if (!KEEPS_FREED_MEMORY)
		assert_true(last.rss_kib < first.rss_kib + first.rss_kib / 10 + 8192);
	pthread_barrier_destroy(&barrier);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soak),
	};

	test_init();
	threads_init();
	return cmocka_run_group_tests_name("stress-soak", tests, NULL, NULL);
}
