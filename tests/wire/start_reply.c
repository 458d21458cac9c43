/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* start_reply.c -- requests that are answered, and how: items 1 to 9, 17, 18, 20 */

#include <string.h>

#include "rig.h"

/* A request (behind its key), and the reply it gets when it is accepted */
struct exchange {
	const char *request;
	const char *reply;
};

/* Leaves the connection as it is after the reply. */
static struct rpma_conn *exchange(struct net *n, struct raw *r, const struct exchange *x)
{
	struct rpma_conn *conn;

	raw_connect(r, n->addr, n->port);
	raw_send(r, REQ);
	raw_send(r, x->request);
	conn = rig_accept(n, NULL);
	raw_expect(r, REP);
	raw_expect(r, x->reply);
	raw_expect_quiet(r);
	return conn;
}

/* The whole of it: reply, first FPDU, ESTABLISHED, end. */
static void accepted(const struct exchange *x)
{
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	net_open(&n);
	conn = exchange(&n, &r, x);
	raw_send(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	raw_fin(&r);
	expect_event(conn, RPMA_CONN_CLOSED);
	raw_expect_fin(&r);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

static void item_001_full_request(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 02 0004 8010 c010", "50 02 0004 8010 8010" });
}

static void item_002_one_rtr_of_the_offered(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 02 0004 8010 4010", "50 02 0004 8010 4010" });
	accepted(&(struct exchange){ "50 02 0004 c010 0010", "50 02 0004 8010 8010" });
}

static void item_003_no_peer_to_peer(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 02 0004 0010 0010", "50 02 0004 0010 0010" });
	accepted(&(struct exchange){ "50 02 0004 4010 c010", "50 02 0004 0010 0010" });
}

/* What the application finds as private data of a request */
static void request_data(const char *request, const char *data)
{
	struct rpma_conn_private_data got = { 0 };
	struct rpma_conn_req *req;
	struct net n;
	struct raw r;

	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ);
	raw_send(&r, request);
	req = server_req(&n, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &got));
	assert_int_equal(got.len, strlen(data));
	assert_memory_equal(got.ptr, data, got.len);
	assert_ok(rpma_conn_req_delete(&req));
	raw_close(&r);
	net_close(&n);
}

static void item_004_revision_1(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "40 01 0000", "40 01 0000" });
	accepted(&(struct exchange){ "00 01 0003 616263", "40 01 0000" });
	request_data("40 01 0003 616263", "abc");
	accepted(&(struct exchange){ "40 02 0000", "40 02 0000" }); /* 2, not enhanced */
}

static void item_005_revision_1_with_s(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 01 0000", "40 01 0000" });
	request_data("50 01 0006 616263646566", "abcdef");
}

static void item_006_crc_not_wanted(void **state)
{
	struct region mem;
	struct rpma_conn *conn;
	struct side s;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	conn = exchange(
		&n, &r, &(struct exchange){ "10 02 0004 8010 c010", "50 02 0004 8010 8010" });
	raw_send(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&s, n.peer[SERVER], conn, NULL);
	region_open(&mem, s.peer, 8, USAGE_ALL);
	assert_ok(rpma_send(conn, mem.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	raw_expect_fpdu(&r, "41 43 00000000 00000000 00000001 00000000 0000000000000000");
	raw_fpdu(&r, "41 43 00000000 00000001 00000001 00000000"); /* no such queue, but... */
	raw_expect_term(&r, "12 01", TERM_DDP);
	expect_event(conn, RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&conn));
	region_close(&mem);
	raw_close(&r);

	conn = exchange(
		&n, &r, &(struct exchange){ "10 02 0004 8010 c010", "50 02 0004 8010 8010" });
	raw_send(&r, "000ec140 00000001 0000000000000000 00000000"); /* CRC 0, as by siw */
	raw_expect_term(&r, "20 02", TERM_BARE);
	expect_event(conn, RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

/* The application never hears of such a request. */
static void item_007_markers_wanted(void **state)
{
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "d0 02 0004 8010 c010");
	raw_expect(&r, REP "70 02 0004 0000 0000");
	raw_expect_fin(&r);
	raw_close(&r);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "c0 01 0000");
	raw_expect(&r, REP "60 01 0000");
	raw_expect_fin(&r);
	raw_close(&r);
	net_close(&n);
}

static void item_008_reserved_bits(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "5f 02 0004 8010 c010", "50 02 0004 8010 8010" });
	accepted(&(struct exchange){ "4f 01 0000", "40 01 0000" });
}

static void item_009_r_in_a_request(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "70 02 0004 8010 c010", "50 02 0004 8010 8010" });
}

static void item_017_depths(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 02 0004 8001 c001", "50 02 0004 8010 8001" });
	accepted(&(struct exchange){ "50 02 0004 8000 c000", "50 02 0004 8010 8000" });
	accepted(&(struct exchange){ "50 02 0004 8080 c080", "50 02 0004 8010 8010" });
	accepted(&(struct exchange){ "50 02 0004 bffe fffe", "50 02 0004 8010 8010" });
}

static void item_018_depths_not_negotiated(void **state)
{
	(void)state;
	accepted(&(struct exchange){ "50 02 0004 bfff ffff", "50 02 0004 bfff bfff" });
	accepted(&(struct exchange){ "50 02 0004 bfff c003", "50 02 0004 8010 bfff" });
	accepted(&(struct exchange){ "50 02 0004 8003 ffff", "50 02 0004 bfff 8003" });
}

/* The API has no private data for a reject: the block is all there is. */
static void item_020_reject(void **state)
{
	static const struct exchange cases[] = {
		{ "50 02 0004 8010 c010", "70 02 0004 0000 0000" },
		{ "50 02 0007 8010 c010 616263", "70 02 0004 0000 0000" },
		{ "40 01 0000", "60 01 0000" },
	};
	struct rpma_conn_req *req;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		raw_connect(&r, n.addr, n.port);
		raw_send(&r, REQ);
		raw_send(&r, cases[i].request);
		req = server_req(&n, NULL);
		assert_ok(rpma_conn_req_delete(&req));
		raw_expect(&r, REP);
		raw_expect(&r, cases[i].reply);
		raw_expect_fin(&r);
		raw_close(&r);
	}
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_001_full_request),
		cmocka_unit_test(item_002_one_rtr_of_the_offered),
		cmocka_unit_test(item_003_no_peer_to_peer),
		cmocka_unit_test(item_004_revision_1),
		cmocka_unit_test(item_005_revision_1_with_s),
		cmocka_unit_test(item_006_crc_not_wanted),
		cmocka_unit_test(item_007_markers_wanted),
		cmocka_unit_test(item_008_reserved_bits),
		cmocka_unit_test(item_009_r_in_a_request),
		cmocka_unit_test(item_017_depths),
		cmocka_unit_test(item_018_depths_not_negotiated),
		cmocka_unit_test(item_020_reject),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-start-reply", tests, NULL, NULL);
}
