/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* start_refuse.c -- requests that are none, or come in pieces: items 10 to 15, 35 */

#include <string.h>

#include "rig.h"

/* Nobody hears of it, and not a byte comes back. */
static void refused(const char *format, ...)
{
	struct bytes b = { 0 };
	va_list args;
	struct net n;
	struct raw r;
	int fd = -1;

	va_start(args, format);
	bytes_addv(&b, format, args);
	va_end(args);
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send_maybe(&r, b.p, b.len);
	raw_expect_gone(&r);
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	assert_false(readable(fd));
	bytes_free(&b);
	raw_close(&r);
	net_close(&n);
}

static void item_010_wrong_key(void **state)
{
	(void)state;
	refused(REP "50 02 0004 8010 c010");
	refused("4d504120494420526571204672616d64 50 02 0004 8010 c010");
	refused("4d504120494420726571204672616d65 50 02 0004 8010 c010");
	refused("474554202f20485454502f312e310d0a0d0a");
	refused("00");
}

static void item_011_unknown_revision(void **state)
{
	(void)state;
	refused(REQ "50 03 0004 8010 c010");
	refused(REQ "50 00 0004 8010 c010");
	refused(REQ "50 ff 0004 8010 c010");
}

static void item_012_length_513(void **state)
{
	(void)state;
	refused(REQ "50 02 0201");
	refused(REQ "50 02 ffff");
	refused(REQ "40 01 0201");
}

/* More than an API with one byte for the length can tell of: no connection. */
static void item_013_length_512(void **state)
{
	(void)state;
	refused(REQ "50 02 0200 8010 c010 %z", (size_t)508);
	refused(REQ "50 02 0104 8010 c010 %z", (size_t)256);
	refused(REQ "40 01 0200 %z", (size_t)512);
	refused(REQ "40 01 0100 %z", (size_t)256);
}

static void item_014_block_too_short(void **state)
{
	(void)state;
	for (int len = 0; len < 4; len++)
		refused(REQ "50 02 %2 %z", len, (size_t)len);
}

/* ---- in pieces ----------------------------------------------------------------- */

/* Send the bytes, the library having read those before each cut. */
static void send_cut(struct raw *r, const struct bytes *b, size_t first, size_t step)
{
	for (size_t at = 0; at < b->len;) {
		size_t n = at == 0 ? first : step;

		if (n > b->len - at)
			n = b->len - at;
		raw_send_bytes(r, b->p + at, n);
		at += n;
		if (at < b->len)
			raw_sync(r);
	}
}

static void connect_cut(struct net *n, size_t first, size_t step)
{
	struct rpma_conn_private_data got = { 0 };
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	struct bytes b = { 0 }, t = { 0 };
	struct raw r;

	bytes_add(&b, REQ "50 02 001b 8010 c010 616263");
	bytes_trailer(&b, 1);
	bytes_trailer(&t, 2);
	raw_connect(&r, n->addr, n->port);
	send_cut(&r, &b, first, step);
	req = server_req(n, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &got));
	assert_int_equal(got.len, 3);
	assert_memory_equal(got.ptr, "abc", 3);
	assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
	raw_expect(&r, REP "50 02 0018 8010 8010 %p", t.p, t.len);
	raw_send(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	bytes_free(&b);
	bytes_free(&t);
}

static void item_015_request_in_pieces(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t first = 1; first < 20 + 4 + 3 + 20; first++)
		connect_cut(&n, first, 1000);
	connect_cut(&n, 1, 1);
	connect_cut(&n, 2, 3);
	net_close(&n);
}

static void item_015_first_fpdu_behind_the_request(void **state)
{
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "50 02 0004 8010 c010" WRITE_RTR);
	conn = rig_accept(&n, NULL);
	raw_expect(&r, REP "50 02 0004 8010 8010");
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

/* ---- the trailer ------------------------------------------------------------------ */

/* A request with 3 + 20 bytes of private data, of which the last 20 were a trailer
 * but for byte i; the CRC is right for the bytes as they are, or not. */
static void spoilt_trailer(struct net *n, size_t i, int bits, bool recrc)
{
	struct rpma_conn_private_data got = { 0 };
	struct bytes b = { 0 };
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	struct raw r;

	bytes_add(&b, "616263");
	bytes_trailer(&b, 1);
	b.p[3 + i] ^= (uint8_t)bits;
	if (recrc)
		bytes_recrc(b.p + 3, 16);
	raw_connect(&r, n->addr, n->port);
	raw_send(&r, REQ "50 02 001b 8010 c010 %p", b.p, b.len);
	req = server_req(n, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &got));
	assert_int_equal(got.len, b.len);
	assert_memory_equal(got.ptr, b.p, b.len);
	assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
	raw_expect(&r, REP "50 02 0004 8010 8010");
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	bytes_free(&b);
}

static void item_035_spoilt_trailer_is_data(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < 20; i++)
		spoilt_trailer(&n, i, 0x04, false);
	for (size_t i = 0; i < 10; i++) /* magic, version, role */
		spoilt_trailer(&n, i, 0x02, true);
	spoilt_trailer(&n, 9, 1 ^ 2, true); /* that of a reply */
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_010_wrong_key),
		cmocka_unit_test(item_011_unknown_revision),
		cmocka_unit_test(item_012_length_513),
		cmocka_unit_test(item_013_length_512),
		cmocka_unit_test(item_014_block_too_short),
		cmocka_unit_test(item_015_request_in_pieces),
		cmocka_unit_test(item_015_first_fpdu_behind_the_request),
		cmocka_unit_test(item_035_spoilt_trailer_is_data),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-start-refuse", tests, NULL, NULL);
}
