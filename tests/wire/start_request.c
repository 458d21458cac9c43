/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* start_request.c -- the library as initiator: items 24 to 36 */

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

struct start {
	struct net n;
	struct raw r;
	struct rpma_conn *conn;
};

static void start_open(struct start *s, const struct side_opts *o)
{
	struct raw_door door;

	net_open(&s->n);
	raw_open_door(&door, s->n.addr);
	s->conn = rig_connect(&s->n, &door, &s->r, o);
}

static void start_drop(struct start *s)
{
	assert_ok(rpma_conn_delete(&s->conn));
	raw_close(&s->r);
	net_close(&s->n);
}

/* This reply (with its key) gets no FPDU, and the program this event. */
static void no_connection(enum rpma_conn_event event, const char *format, ...)
{
	struct bytes b = { 0 };
	struct start s;
	va_list args;

	va_start(args, format);
	bytes_addv(&b, format, args);
	va_end(args);
	start_open(&s, NULL);
	raw_send_bytes(&s.r, b.p, b.len);
	expect_event(s.conn, event);
	raw_expect_gone(&s.r);
	start_drop(&s);
	bytes_free(&b);
}

static void item_024_wrong_key(void **state)
{
	(void)state;
	no_connection(RPMA_CONN_LOST, REQ "50 02 0004 8010 8010");
	no_connection(RPMA_CONN_LOST, "485454502f312e3120343030");
}

static void item_025_rejected(void **state)
{
	(void)state;
	no_connection(RPMA_CONN_REJECTED, REP "70 02 0004 0000 0000");
	no_connection(RPMA_CONN_REJECTED, REP "70 02 0007 0000 0000 616263");
	no_connection(RPMA_CONN_REJECTED, REP "70 02 0000"); /* S, and no block: siw's own */
	no_connection(RPMA_CONN_REJECTED, REP "60 01 0003 616263");
	no_connection(RPMA_CONN_REJECTED, REP "f0 02 0004 0000 0000");
}

/* By the API the data of a reject is not read. */
static void item_025_data_of_a_reject(void **state)
{
	struct rpma_conn_private_data got = { 0 };
	struct start s;

	(void)state;
	start_open(&s, NULL);
	raw_send(&s.r, REP "70 02 0007 0000 0000 616263");
	expect_event(s.conn, RPMA_CONN_REJECTED);
	assert_ok(rpma_conn_get_private_data(s.conn, &got));
	assert_null(got.ptr);
	assert_int_equal(got.len, 0);
	start_drop(&s);
}

/* We ask for the enhanced start-up, and do not ask again without it. */
static void item_026_old_reply(void **state)
{
	(void)state;
	no_connection(RPMA_CONN_LOST, REP "40 01 0000");
	no_connection(RPMA_CONN_LOST, REP "50 01 0004 8010 8010");
	no_connection(RPMA_CONN_LOST, REP "40 02 0000");
	no_connection(RPMA_CONN_LOST, REP "50 03 0004 8010 8010");
	no_connection(RPMA_CONN_LOST, REP "50 02 0201");
}

static void item_027_markers(void **state)
{
	(void)state;
	no_connection(RPMA_CONN_LOST, REP "d0 02 0004 8010 8010");
}

static void item_034_block_too_short(void **state)
{
	(void)state;
	for (int len = 0; len < 4; len++)
		no_connection(RPMA_CONN_LOST, REP "50 02 %2 %z", len, (size_t)len);
}

static void item_028_crc_not_wanted(void **state)
{
	struct start s;

	(void)state;
	start_open(&s, NULL);
	raw_send(&s.r, REP "10 02 0004 8010 8010");
	raw_expect(&s.r, WRITE_RTR); /* has a CRC */
	expect_event(s.conn, RPMA_CONN_ESTABLISHED);
	raw_send(&s.r, "000ec140 00000001 0000000000000000 00000000");
	raw_expect_term(&s.r, "20 02", TERM_BARE);
	expect_event(s.conn, RPMA_CONN_LOST);
	start_drop(&s);
}

/* A Terminate ends the start-up. */
static void terminated(const char *reply, const char *triple)
{
	struct start s;

	start_open(&s, NULL);
	raw_send(&s.r, REP);
	raw_send(&s.r, reply);
	raw_expect_term(&s.r, triple, TERM_BARE);
	expect_event(s.conn, RPMA_CONN_LOST);
	start_drop(&s);
}

static void item_029_ord_over_our_ird(void **state)
{
	(void)state;
	terminated("50 02 0004 8010 8011", "20 06");
	terminated("50 02 0004 8010 bffe", "20 06");
}

static void item_029_ird_below_our_ord(void **state)
{
	struct rig_opts o = { .depth = 2 };
	struct rpma_mr_remote *far = far_region();
	enum role role = INITIATOR, *p = &role;
	struct rig g;

	(void)state;
	rig_open(&g, (void **)&p, &o);
	for (uint64_t i = 0; i < 3; i++)
		assert_ok(rpma_read(
			g.side.conn, g.mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
	for (int i = 0; i < 2; i++) {
		struct bytes f = raw_read_fpdu(&g.raw);

		assert_memory_equal(f.p + 2, "\x41\x41", 2);
		bytes_free(&f);
	}
	raw_expect_quiet(&g.raw);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

static void item_030_no_rtr_in_common(void **state)
{
	(void)state;
	terminated("50 02 0004 c010 0010", "20 07");
	terminated("50 02 0004 8010 0010", "20 07");
}

static void item_031_write_rtr(void **state)
{
	struct start s;

	(void)state;
	start_open(&s, NULL);
	raw_expect_quiet(&s.r);
	raw_send(&s.r, REP "50 02 0004 8010 8010");
	raw_expect(&s.r, WRITE_RTR);
	expect_event(s.conn, RPMA_CONN_ESTABLISHED);
	start_drop(&s);
}

/* It carries what the trailer did not get an answer to. */
static void item_031_read_rtr(void **state)
{
	struct start s;

	(void)state;
	start_open(&s, NULL);
	raw_send(&s.r, REP "50 02 0004 8010 4010");
	raw_expect_fpdu(&s.r, "41 41 00000000 00000001 00000001 00000000"
			      "00000001 00000000fd000007 00000000 00000001 72d4b1096fc35ae8");
	raw_expect_quiet(&s.r);
	raw_fpdu(&s.r, "c1 42 00000001 00000000fd000007");
	expect_event(s.conn, RPMA_CONN_ESTABLISHED);
	start_drop(&s);
}

static void post_two(struct rpma_conn_req *req, void *arg)
{
	struct region *mem = arg;

	for (size_t i = 0; i < 2; i++)
		assert_ok(rpma_conn_req_recv(req, mem->mr, 8 * i, 8, CTX(i)));
}

static void item_032_fpdus_behind_the_reply(void **state)
{
	struct side_opts o = { .prepare = post_two };
	struct raw_door door;
	struct region mem;
	struct bytes b = { 0 };
	struct start s;
	struct side side;

	(void)state;
	net_open(&s.n);
	region_open(&mem, s.n.peer[CLIENT], 16, USAGE_ALL);
	o.arg = &mem;
	raw_open_door(&door, s.n.addr);
	s.conn = rig_connect(&s.n, &door, &s.r, &o);
	bytes_add(&b, REP "50 02 0004 8010 8010");
	bytes_fpdu(&b, "41 43 00000000 00000000 00000001 00000000 6f6e65");
	bytes_fpdu(&b, "41 43 00000000 00000000 00000002 00000000 74776f");
	raw_send_bytes(&s.r, b.p, b.len);
	expect_event(s.conn, RPMA_CONN_ESTABLISHED);
	side_init(&side, s.n.peer[CLIENT], s.conn, &o);
	for (uint64_t i = 0; i < 2; i++)
		assert_int_equal(expect_recv(&side, CTX(i)).byte_len, 3);
	assert_memory_equal(mem.data, "one\0\0\0\0\0two", 11);
	bytes_free(&b);
	assert_ok(rpma_conn_delete(&s.conn));
	region_close(&mem);
	raw_close(&s.r);
	net_close(&s.n);
}

static void item_033_no_reply(void **state)
{
	static const char *const parts[] = { "MPA ID Rep Frame",
		"MPA ID Rep Frame\x50\2\0\x10\x80" };
	static const size_t lens[] = { 16, 21 };
	struct side_opts o = { .timeout_ms = 1000 };
	struct start s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		start_open(&s, &o);
		raw_send_maybe(&s.r, parts[i], lens[i]);
		expect_event(s.conn, RPMA_CONN_UNREACHABLE);
		raw_expect_gone(&s.r);
		start_drop(&s);
	}
}

/* rig_connect() has checked the trailer of the request. */
static void item_035_trailer_of_the_reply(void **state)
{
	struct rpma_conn_private_data got = { 0 };

	(void)state;
	for (int spoilt = 0; spoilt < 2; spoilt++) {
		struct bytes b = { 0 };
		struct start s;

		bytes_add(&b, "616263");
		bytes_trailer(&b, spoilt ? 1 : 2);
		start_open(&s, NULL);
		raw_send(&s.r, REP "50 02 001b 8010 8010 %p", b.p, b.len);
		raw_expect(&s.r, WRITE_RTR);
		expect_event(s.conn, RPMA_CONN_ESTABLISHED);
		assert_ok(rpma_conn_get_private_data(s.conn, &got));
		assert_int_equal(got.len, spoilt ? b.len : 3);
		assert_memory_equal(got.ptr, b.p, got.len);
		bytes_free(&b);
		start_drop(&s);
	}
}

/* 231 bytes and the trailer make 255; with one more there is none (rig_connect()
 * checks it), and yet a connection, to a foreign peer. */
static void item_036_no_room_for_the_trailer(void **state)
{
	static const uint8_t lens[] = { 1, 230, 231, 232, 251, 255 };
	uint8_t data[255];

	(void)state;
	fill(data, sizeof(data), 36);
	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		struct side_opts o = { .data = data, .data_len = lens[i] };
		struct start s;

		start_open(&s, &o);
		raw_send(&s.r, REP "50 02 0004 8010 8010");
		raw_expect(&s.r, WRITE_RTR);
		expect_event(s.conn, RPMA_CONN_ESTABLISHED);
		start_drop(&s);
	}
}

/* The door takes one connection until that is accepted; TCP tries the next one again
 * after a second. */
static void start_late(struct start *s, struct raw_door *door)
{
	struct raw first;

	net_open(&s->n);
	raw_open_door(door, s->n.addr);
	assert_int_equal(listen(door->fd, 0), 0);
	raw_connect(&first, s->n.addr, door->port);
	memcpy(s->n.port, door->port, PORT_LEN);
	s->conn = client_start(&s->n, NULL);
	raw_close(&first);
}

static void *wait_blocking(void *arg)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	assert_ok(rpma_conn_next_event(arg, &event));
	return (void *)(uintptr_t)event;
}

/* The socket is connected while the program waits for the event already, as it is with
 * any other host. */
static void tcp_connects_late(void **state)
{
	struct raw_door door;
	struct bytes t = { 0 };
	struct start s;
	pthread_t waiter;
	void *event;

	(void)state;
	start_late(&s, &door);
	assert_int_equal(pthread_create(&waiter, NULL, wait_blocking, s.conn), 0);
	close(accept(door.fd, NULL, NULL));
	raw_accept(&s.r, &door);
	bytes_trailer(&t, 1);
	raw_expect(&s.r, REQ "50 02 0018 8010 c010 %p", t.p, t.len);
	raw_send(&s.r, REP "50 02 0004 8010 8010");
	raw_expect(&s.r, WRITE_RTR);
	pthread_join(waiter, &event);
	assert_int_equal((uintptr_t)event, RPMA_CONN_ESTABLISHED);
	bytes_free(&t);
	start_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_connects_late),
		cmocka_unit_test(item_024_wrong_key),
		cmocka_unit_test(item_025_rejected),
		cmocka_unit_test(item_025_data_of_a_reject),
		cmocka_unit_test(item_026_old_reply),
		cmocka_unit_test(item_027_markers),
		cmocka_unit_test(item_028_crc_not_wanted),
		cmocka_unit_test(item_029_ord_over_our_ird),
		cmocka_unit_test(item_029_ird_below_our_ord),
		cmocka_unit_test(item_030_no_rtr_in_common),
		cmocka_unit_test(item_031_write_rtr),
		cmocka_unit_test(item_031_read_rtr),
		cmocka_unit_test(item_032_fpdus_behind_the_reply),
		cmocka_unit_test(item_033_no_reply),
		cmocka_unit_test(item_034_block_too_short),
		cmocka_unit_test(item_035_trailer_of_the_reply),
		cmocka_unit_test(item_036_no_room_for_the_trailer),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-start-request", tests, NULL, NULL);
}
