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
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "crowd.h"
#include "rig.h"

#define CROWD 10000
#define GARBAGE ((size_t)1 << 20)

/* So many descriptors, for both ends, or the test is skipped. */
static void need_descriptors(rlim_t n)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
	if (r.rlim_cur >= n)
		return;
	print_message("needs %llu descriptors\n", (unsigned long long)n);
	skip();
}

static void half_open(void **state)
{
	struct raw *raw = calloc(CROWD, sizeof(*raw));
	struct crowd c;

	(void)state;
	need_descriptors(CROWD + 3000);
	crowd_open(&c);
	for (int i = 0; i < CROWD; i++) {
		raw_connect(&raw[i], c.n.addr, c.n.port);
		if (i % 3 == 1)
			raw_send_maybe(&raw[i], "MPA ID", 6);
		if (i % 1000 == 999)
			newcomer(&c.n);
	}
	crowd_close(&c, "10000 half-open strangers");
	for (int i = 0; i < CROWD; i++)
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

static int count_gone(const struct raw *raw, int n)
{
	int gone = 0;
	char scrap;

	for (int i = 0; i < n; i++)
		gone += recv(raw[i].fd, &scrap, 1, MSG_DONTWAIT | MSG_PEEK) == 0 || errno != EAGAIN;
	return gone;
}

/* Whole requests that nobody takes: so many wait, the rest is turned away. */
static void requests_by_the_thousand(void **state)
{
	enum { N = 3000, WAIT = 1024 };
	struct raw *raw = calloc(N, sizeof(*raw));
	struct net net;
	long rss;
	int fd = -1, waiting = 0;

	(void)state;
	need_descriptors(3 * N);
	net_open(&net);
	newcomer(&net);
	rss = rss_kb();
	for (int i = 0; i < N; i++) {
		raw_connect(&raw[i], net.addr, net.port);
		raw_send(&raw[i], REQ "50 02 0004 8010 c010");
	}
	while (count_gone(raw, N) < N - WAIT)
		sched_yield();
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
	assert_int_equal(waiting, WAIT);
	newcomer(&net);
	for (int i = 0; i < N; i++)
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
			bytes_fpdu(&raw[i].last, "41 43 00000000 00000000 %4 00000000 %p", msn,
				data, sizeof(data));
			send(raw[i].fd, raw[i].last.p, raw[i].last.len,
				MSG_DONTWAIT | MSG_NOSIGNAL);
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
