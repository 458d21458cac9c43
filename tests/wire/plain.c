/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* plain.c -- the library says nothing of itself (RPMA_TCP_CAPS=off): items 23, 31, 35 */

#include <stdlib.h>
#include <string.h>

#include "rig.h"

static struct rpma_conn *start(struct net *n, struct raw *r)
{
	struct raw_door door;
	struct rpma_conn *conn;

	net_open(n);
	raw_open_door(&door, n->addr);
	memcpy(n->port, door.port, PORT_LEN);
	conn = client_start(n, NULL);
	raw_accept(r, &door);
	return conn;
}

static void item_023_request_to_the_byte(void **state)
{
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	(void)state;
	conn = start(&n, &r);
	raw_expect(&r, "4d504120494420526571204672616d65 50 02 0004 8010 c010");
	raw_expect_quiet(&r);
	raw_send(&r, REP "50 02 0004 8010 8010");
	raw_expect(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

static void item_031_read_rtr_without_magic(void **state)
{
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	(void)state;
	conn = start(&n, &r);
	raw_expect(&r, REQ "50 02 0004 8010 c010");
	raw_send(&r, REP "50 02 0004 8010 4010");
	raw_expect_fpdu(&r, "41 41 00000000 00000001 00000001 00000000"
			    "00000001 0000000000000000 00000000 00000001 0000000000000000");
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	raw_fpdu(&r, "c1 42 00000001 0000000000000000");
	raw_fin(&r);
	expect_event(conn, RPMA_CONN_CLOSED);
	raw_expect_fin(&r);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

/* The trailer of a request is still no business of the application. */
static void item_035_no_trailer_in_the_reply(void **state)
{
	struct bytes t = { 0 };
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	bytes_trailer(&t, 1);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "50 02 0018 8010 c010 %p", t.p, t.len);
	conn = rig_accept(&n, NULL);
	raw_expect(&r, REP "50 02 0004 8010 8010");
	raw_send(&r, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&conn));
	bytes_free(&t);
	raw_close(&r);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_023_request_to_the_byte),
		cmocka_unit_test(item_031_read_rtr_without_magic),
		cmocka_unit_test(item_035_no_trailer_in_the_reply),
	};

	setenv("RPMA_TCP_CAPS", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-plain", tests, NULL, NULL);
}
