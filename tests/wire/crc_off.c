/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* crc_off.c -- both sides do without the CRC: item 41 */

#include <stdlib.h>
#include <string.h>

#include "rig.h"

struct link2 {
	struct net n;
	struct raw r;
	struct side s;
	struct region mem;
};

static void wrong_sums_are_taken(struct link2 *l)
{
	assert_ok(rpma_send(l->s.conn, l->mem.mr, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	raw_expect(&l->r, "00164143 00000000 00000000 00000001 00000000 00000000 00000000");
	expect_done(&l->s, CTX(1));
	raw_send(&l->r, "0012c140 %4 %8 67696665 00000000", stag_of(l->mem.mr), to_of(l->mem.mr));
	raw_send(&l->r, "0012c140 %4 %8 6c6f7665 12345678", stag_of(l->mem.mr),
		to_of(l->mem.mr) + 4);
	raw_send(&l->r, "0012c140 %4 %8 6c6f7665 12345678", stag_of(l->mem.mr) ^ 0x100,
		to_of(l->mem.mr));
	raw_expect(&l->r,
		"00264147 00000000 00000002 00000001 00000000 1100c000 0012 c140 %4 %8 00000000",
		stag_of(l->mem.mr) ^ 0x100, to_of(l->mem.mr));
	raw_expect_fin(&l->r);
	expect_event(l->s.conn, RPMA_CONN_LOST);
	assert_memory_equal(l->mem.data, "gifelove", 8);
	assert_ok(rpma_conn_delete(&l->s.conn));
	region_close(&l->mem);
	raw_close(&l->r);
	net_close(&l->n);
}

static void item_041_crc_off_responder(void **state)
{
	struct rpma_conn *conn;
	struct link2 l;

	(void)state;
	net_open(&l.n);
	raw_connect(&l.r, l.n.addr, l.n.port);
	raw_send(&l.r, REQ "10 02 0004 8010 c010");
	conn = rig_accept(&l.n, NULL);
	raw_expect(&l.r, REP "10 02 0004 8010 8010");
	raw_send(&l.r, "000ec140 00000001 0000000000000000 00000000");
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&l.s, l.n.peer[SERVER], conn, NULL);
	region_open(&l.mem, l.s.peer, 64, USAGE_ALL);
	wrong_sums_are_taken(&l);
}

static void initiator_open(struct link2 *l, struct raw_door *d, const char *reply)
{
	struct rpma_conn *conn;
	struct bytes t = { 0 };

	net_open(&l->n);
	raw_open_door(d, l->n.addr);
	memcpy(l->n.port, d->port, PORT_LEN);
	conn = client_start(&l->n, NULL);
	raw_accept(&l->r, d);
	bytes_trailer(&t, 1);
	raw_expect(&l->r, REQ "10 02 0018 8010 c010 %p", t.p, t.len);
	bytes_free(&t);
	raw_send(&l->r, REP);
	raw_send(&l->r, reply);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&l->s, l->n.peer[CLIENT], conn, NULL);
	region_open(&l->mem, l->s.peer, 64, USAGE_ALL);
}

static void item_041_crc_off_initiator(void **state)
{
	struct raw_door door;
	struct link2 l;

	(void)state;
	initiator_open(&l, &door, "10 02 0004 8010 8010");
	raw_expect(&l.r, "000ec140 00000001 0000000000000000 00000000");
	wrong_sums_are_taken(&l);
}

/* It takes two to do without. */
static void item_041_other_side_wants_it(void **state)
{
	struct raw_door door;
	struct link2 l;

	(void)state;
	initiator_open(&l, &door, "50 02 0004 8010 8010");
	raw_expect(&l.r, WRITE_RTR);
	raw_send(&l.r, "000ec140 00000001 0000000000000000 00000000");
	raw_expect_term(&l.r, "20 02", TERM_BARE);
	expect_event(l.s.conn, RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&l.s.conn));
	region_close(&l.mem);
	raw_close(&l.r);
	net_close(&l.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_041_crc_off_responder),
		cmocka_unit_test(item_041_crc_off_initiator),
		cmocka_unit_test(item_041_other_side_wants_it),
	};

	setenv("RPMA_TCP_CRC", "off", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-crc-off", tests, NULL, NULL);
}
