/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mutate.c -- a whole connection with one byte of it wrong, again and again: item 98
 *
 * Every second time the CRC is made right again, so that what is behind it gets its
 * share. The order of the changes is always the same.
 */

#include <stdarg.h>
#include <sys/socket.h>

#include "rig.h"

#define RUNS 5000 /* in each role */

/* A session of every kind of message, and where each FPDU begins */
struct session {
	struct bytes b;
	size_t start[16];
	size_t n;
};

static void add(struct session *s, const char *format, ...)
{
	va_list args;

	s->start[s->n++] = s->b.len;
	va_start(args, format);
	bytes_fpduv(&s->b, format, args);
	va_end(args);
}

static void record(struct session *s, uint32_t stag, uint64_t to)
{
	add(s, "c1 40 %4 %8 68656c6c6f", stag, to);
	add(s, "81 40 %4 %8 6162636465666768", stag, to + 8);
	add(s, "c1 40 %4 %8 69", stag, to + 16);
	add(s, "41 43 00000000 00000000 00000001 00000000 73656e64");
	add(s, "01 43 00000000 00000000 00000002 00000000 31323334");
	add(s, "41 45 00000000 00000000 00000002 00000004 35");
	add(s, "41 41 00000000 00000001 00000001 00000000 cafef00d 0000000000001000 00000010 %4 %8",
		stag, to);
	add(s, "41 48 00000000 00000000 00000003 00000000 0000000001020304");
	add(s,
		"41 4a 00000000 00000001 00000002 00000000 00000002 00000001 %4 %8"
		"0101010101010101 ffffffffffffffff 0000000000000000 0000000000000000",
		stag, to + 64);
	add(s, "41 4c 00000000 00000001 00000003 00000000 %4 00000008 %8 00000001", stag, to);
	add(s, "c1 40 %4 %8", stag, to);
	add(s, "41 47 00000000 00000002 00000001 00000000 20020000");
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static struct bytes mutated(const struct session *s, uint32_t run)
{
	uint32_t seed = run * 2654435761u;
	struct bytes m = { 0 };
	size_t i = next_random(&seed) % s->n;
	size_t end = i + 1 < s->n ? s->start[i + 1] : s->b.len;
	size_t len = end - s->start[i];
	bool recrc = run % 2;

	bytes_add(&m, "%p", s->b.p, s->b.len);
	m.p[s->start[i] + next_random(&seed) % (recrc ? len - 4 : len)] ^=
		(uint8_t)(1 + next_random(&seed) % 255);
	if (recrc)
		bytes_recrc(m.p + s->start[i], len - 4);
	return m;
}

static void responder_start(struct rig *g)
{
	struct bytes t = { 0 };

	bytes_trailer(&t, 1);
	raw_connect(&g->raw, g->net.addr, g->net.port);
	raw_send(&g->raw, REQ "50 02 0018 8010 c010 %p" WRITE_RTR, t.p, t.len);
	g->side.conn = rig_accept(&g->net, NULL);
	bytes_free(&t);
}

static void initiator_start(struct rig *g)
{
	struct raw_door door;
	struct bytes t = { 0 };

	bytes_trailer(&t, 2);
	raw_open_door(&door, g->net.addr);
	g->side.conn = rig_connect(&g->net, &door, &g->raw, NULL);
	raw_send(&g->raw, REP "50 02 0018 8010 8010 %p", t.p, t.len);
	bytes_free(&t);
}

static void one_run(struct rig *g, const struct bytes *m)
{
	uint8_t scrap[4096];

	if (g->role == RESPONDER)
		responder_start(g);
	else
		initiator_start(g);
	expect_event(g->side.conn, RPMA_CONN_ESTABLISHED);
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(rpma_recv(g->side.conn, g->mem.mr, 512, 64, CTX(i)));
	raw_send_maybe(&g->raw, m->p, m->len);
	shutdown(g->raw.fd, SHUT_WR);
	while (recv(g->raw.fd, scrap, sizeof(scrap), 0) > 0)
		;
	expect_end(g->side.conn);
	assert_ok(rpma_conn_delete(&g->side.conn));
	raw_close(&g->raw);
}

static void item_098_one_byte_wrong(void **state)
{
	struct rig g = { .role = *(enum role *)*state };
	struct region secret;
	struct session s = { 0 };

	net_open(&g.net);
	g.side.peer = g.net.peer[g.role == RESPONDER ? SERVER : CLIENT];
	region_open(&g.mem, g.side.peer, 4096, USAGE_ALL);
	region_open(&secret, g.side.peer, 4096, RPMA_MR_USAGE_WRITE_SRC);
	record(&s, stag_of(g.mem.mr), to_of(g.mem.mr));
	for (uint32_t run = 0; run < RUNS; run++) {
		struct bytes m = mutated(&s, run);

		one_run(&g, &m);
		bytes_free(&m);
	}
	assert_all(secret.data, secret.size, 0);
	region_close(&secret);
	region_close(&g.mem);
	bytes_free(&s.b);
	net_close(&g.net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_098_one_byte_wrong),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-mutate", tests, NULL, NULL);
}
