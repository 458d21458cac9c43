/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hostile_crowd.c -- strangers at the port, by the thousand
 *
 * Meanwhile a connection that was there before is used, and how long it waits is
 * printed; and after each crowd a new client gets in. What the process grows by is
 * bounded; it is printed, too.
 */

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define CROWD 10000
#define GARBAGE ((size_t)1 << 20)

/* A stranger costs the library a connection object, not its buffers: of 1024 at once
 * this is far more than the sum. */
#define GROWTH_MAX_KB (32 * 1024)

/* ---- what it costs ------------------------------------------------------------------ */

static long rss_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*s %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void check_growth(const char *what, long before)
{
	long after = rss_kb();

	print_message("%s: RSS %ld KiB before, %ld KiB after\n", what, before, after);
#if !defined(__SANITIZE_ADDRESS__)
	assert_true(after - before < GROWTH_MAX_KB);
#endif
}

/* ---- a connection that was there before ----------------------------------------------- */

struct witness {
	struct field f;
	pthread_t thread;
	atomic_bool stop;
	int64_t worst_us;
	int64_t sum_us;
	int64_t n;
	bool failed;
};

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

	while (!w->failed && !atomic_load(&w->stop))
		w->failed = !round_trip(w);
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

static void newcomer(struct net *n)
{
	struct pair p;

	pair_connect(&p, n, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

/* ---- crowds ------------------------------------------------------------------------------ */

struct crowd {
	struct net n;
	struct witness w;
	long rss;
};

static void crowd_open(struct crowd *c)
{
	net_open(&c->n);
	newcomer(&c->n);
	witness_start(&c->w, &c->n);
	c->rss = rss_kb();
}

static void crowd_close(struct crowd *c, const char *what)
{
	int fd = -1;

	newcomer(&c->n);
	check_growth(what, c->rss);
	witness_stop(&c->w);
	assert_ok(rpma_ep_get_fd(c->n.ep, &fd));
	assert_false(readable(fd));
	net_close(&c->n);
}

/* As many descriptors as can be had, half of them for the library's ends */
static int crowd_size(void)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
	if (r.rlim_cur < CROWD + 3000) {
		print_message("only %llu descriptors\n", (unsigned long long)r.rlim_cur);
		return (int)r.rlim_cur / 2;
	}
	return CROWD;
}

static void half_open(void **state)
{
	int n = crowd_size();
	struct raw *raw = calloc((size_t)n, sizeof(*raw));
	struct crowd c;

	(void)state;
	crowd_open(&c);
	for (int i = 0; i < n; i++) {
		raw_connect(&raw[i], c.n.addr, c.n.port);
		if (i % 3 == 1)
			raw_send_maybe(&raw[i], "MPA ID", 6);
		if (i % 1000 == 999)
			newcomer(&c.n);
	}
	crowd_close(&c, "10000 half-open strangers");
	for (int i = 0; i < n; i++)
		raw_reset(&raw[i]);
	free(raw);
}

static void port_scan(void **state)
{
	struct crowd c;

	(void)state;
	crowd_open(&c);
	for (int i = 0; i < 3000; i++) {
		struct raw r;

		raw_connect(&r, c.n.addr, c.n.port);
		if (i % 3 == 0)
			raw_close(&r);
		else
			raw_reset(&r);
	}
	crowd_close(&c, "3000 scans");
}

static void random_megabytes(void **state)
{
	uint8_t *garbage = malloc(GARBAGE);
	struct crowd c;

	(void)state;
	crowd_open(&c);
	for (uint64_t i = 0; i < 200; i++) {
		struct raw r;

		fill(garbage, GARBAGE, i);
		raw_connect(&r, c.n.addr, c.n.port);
		raw_send_maybe(&r, garbage, GARBAGE);
		raw_expect_gone(&r);
		raw_reset(&r);
	}
	crowd_close(&c, "200 random megabytes");
	free(garbage);
}

/* Let in, and garbage then: a bad frame, or a long one that never ends well */
static void random_megabytes_inside(void **state)
{
	uint8_t *garbage = malloc(GARBAGE);
	struct crowd c;

	(void)state;
	crowd_open(&c);
	for (uint64_t i = 0; i < 200; i++) {
		struct rpma_conn *conn;
		uint8_t scrap[4096];
		struct raw r;

		fill(garbage, GARBAGE, i);
		raw_connect(&r, c.n.addr, c.n.port);
		raw_send(&r, REQ "50 02 0004 8010 c010");
		conn = rig_accept(&c.n, NULL);
		raw_expect(&r, REP "50 02 0004 8010 8010");
		raw_send(&r, WRITE_RTR);
		expect_event(conn, RPMA_CONN_ESTABLISHED);
		raw_send_maybe(&r, garbage, GARBAGE);
		while (recv(r.fd, scrap, sizeof(scrap), 0) > 0)
			;
		expect_event(conn, RPMA_CONN_LOST);
		assert_ok(rpma_conn_delete(&conn));
		raw_reset(&r);
	}
	crowd_close(&c, "200 random megabytes from clients");
	free(garbage);
}

/* Whole requests that nobody takes: so many wait, the rest is turned away. */
static void requests_by_the_thousand(void **state)
{
	const int n = 3000;
	struct raw *raw = calloc((size_t)n, sizeof(*raw));
	struct net net;
	long rss;
	int fd = -1, waiting = 0;

	(void)state;
	crowd_size();
	net_open(&net);
	newcomer(&net);
	rss = rss_kb();
	for (int i = 0; i < n; i++) {
		raw_connect(&raw[i], net.addr, net.port);
		raw_send(&raw[i], REQ "50 02 0004 8010 c010");
	}
	for (int i = 0; i < n; i++)
		raw_sync(&raw[i]);
	check_growth("3000 requests", rss);
	assert_ok(rpma_ep_get_fd(net.ep, &fd));
	set_nonblock(fd);
	for (;;) {
		struct rpma_conn_req *req = NULL;

		if (rpma_ep_next_conn_req(net.ep, NULL, &req) != 0)
			break;
		assert_ok(rpma_conn_req_delete(&req));
		waiting++;
	}
	print_message("of 3000 requests %d waited\n", waiting);
	assert_in_range(waiting, 1, 1024);
	newcomer(&net);
	for (int i = 0; i < n; i++)
		raw_reset(&raw[i]);
	free(raw);
	net_close(&net);
}

/* ---- those who do not read, or do not let us ------------------------------------------------ */

/* 100 clients that ask for 64 MiB each and read none of it, others that send what
 * finds no receive: what waits for them is bounded. */
static void takers_that_do_not_take(void **state)
{
	enum { TAKERS = 100 };
	struct rpma_conn *conn[TAKERS];
	struct raw raw[TAKERS];
	struct region mem;
	struct crowd c;
	uint8_t data[60000];

	(void)state;
	memset(data, 0x55, sizeof(data));
	crowd_open(&c);
	region_open(&mem, c.n.peer[SERVER], 64 << 20, USAGE_ALL);
	memset(mem.data, 0, mem.size);
	c.rss = rss_kb();
	for (int i = 0; i < TAKERS; i++) {
		raw_connect(&raw[i], c.n.addr, c.n.port);
		raw_send(&raw[i], REQ "50 02 0004 8010 c010");
		conn[i] = rig_accept(&c.n, NULL);
		raw_expect(&raw[i], REP "50 02 0004 8010 8010");
		raw_send(&raw[i], WRITE_RTR);
		expect_event(conn[i], RPMA_CONN_ESTABLISHED);
		for (uint32_t msn = 1; msn <= 16; msn++)
			raw_fpdu(&raw[i],
				"41 41 00000000 00000001 %4 00000000 00000001 0000000000000001"
				"%4 %4 %8",
				msn, (uint32_t)mem.size, stag_of(mem.mr), to_of(mem.mr));
		for (uint32_t msn = 1; msn <= 60 && i % 4 == 0; msn++) {
			raw[i].last.len = 0;
			bytes_fpdu(&raw[i].last, "41 43 00000000 00000000 %4 00000000 %p", msn, data,
				sizeof(data));
			send(raw[i].fd, raw[i].last.p, raw[i].last.len, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
	}
	newcomer(&c.n);
	print_message("100 that do not take: RSS %ld KiB before, %ld KiB after\n", c.rss, rss_kb());
#if !defined(__SANITIZE_ADDRESS__)
	/* a batch each of what is being sent, 1.5 MiB and one frame of what waits */
	assert_true(rss_kb() - c.rss < TAKERS * (256 + 1536 + 256));
#endif
	for (int i = 0; i < TAKERS; i++) {
		raw_reset(&raw[i]);
		expect_end(conn[i]);
		assert_ok(rpma_conn_delete(&conn[i]));
	}
	region_close(&mem);
	crowd_close(&c, "and when they are gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_open),
		cmocka_unit_test(port_scan),
		cmocka_unit_test(random_megabytes),
		cmocka_unit_test(random_megabytes_inside),
		cmocka_unit_test(requests_by_the_thousand),
		cmocka_unit_test(takers_that_do_not_take),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-hostile-crowd", tests, NULL, NULL);
}
