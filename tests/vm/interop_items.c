/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop_items.c -- what needs the kernel's siw: the items of tests/wire/README.md about
 * it, that is what goes over the wire between it and us, noted by a relay between the
 * two; and its limit
 */

#include <string.h>

#include "interop.h"
#include "interop_tap.h"

/* A server that is tcp has something to say at once. */
static void connect_and_post(struct duo *d, size_t near_len, size_t far_len)
{
	struct rpma_conn *conn = line_start(d, 0, near_len, far_len);
	const bool early = d->we == SERVER && near_is("tcp");

	expect_event(conn, RPMA_CONN_ESTABLISHED);
	if (early)
		assert_ok(rpma_read(conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(7)));
	line_finish(d, 0, conn, near_len, far_len);
	if (early)
		expect_done(&d->line[0].side, CTX(7));
}

static void converse(struct duo *d, struct tap *t, size_t near_len, size_t far_len)
{
	tap_open(t, d->port);
	memcpy(d->port, t->port, PORT_LEN);
	connect_and_post(d, near_len, far_len);
	use_both_ways(d, OP_WRITE, 10);
	use_both_ways(d, OP_READ, 20);
	use_both_ways(d, OP_SEND, 30);
	line_close(d, 0);
	memcpy(d->port, t->server_port, PORT_LEN);
	tap_finish(t);
}

/* siw wants neither a CRC nor to send an RTR message; we ask for the CRC and wait
 * until it has sent something. */
static void siw_as_initiator(struct duo *d, size_t near_len, size_t far_len)
{
	struct tap_frame f;
	struct tap t;

	converse(d, &t, near_len, far_len);
	f = tap_frame(&t, FROM_CLIENT);
	assert_memory_equal(f.key, "MPA ID Req Frame", 16);
	assert_int_equal(f.flags, 0x10);
	assert_int_equal(f.revision, 2);
	assert_int_equal((f.ird | f.ord) & 0xc000, 0);
	f = tap_frame(&t, FROM_SERVER);
	assert_memory_equal(f.key, "MPA ID Rep Frame", 16);
	assert_int_equal(f.flags, 0x50);
	assert_int_equal(f.revision, 2);
	assert_int_equal((f.ird | f.ord) & 0xc000, 0);
	assert_int_equal(t.server_first, f.size);
	assert_true(tap_check_crcs(&t, FROM_CLIENT) > 4);
	assert_true(tap_check_crcs(&t, FROM_SERVER) > 4);
	tap_free(&t);
}

/* siw chooses the Write of the two RTR messages, and our CRC. */
static void siw_as_responder(struct duo *d, size_t near_len, size_t far_len)
{
	static const uint8_t write_rtr[] = { 0x00, 0x0e, 0xc1, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
		0, 0, 0xeb, 0xd3, 0x4c, 0x5f };
	struct tap_frame f;
	struct tap t;

	converse(d, &t, near_len, far_len);
	f = tap_frame(&t, FROM_CLIENT);
	assert_memory_equal(f.key, "MPA ID Req Frame", 16);
	assert_int_equal(f.flags, 0x50);
	assert_int_equal(f.revision, 2);
	assert_int_equal(f.ird & 0xc000, 0x8000);
	assert_int_equal(f.ord & 0xc000, 0xc000);
	assert_memory_equal(t.said[FROM_CLIENT].p + f.size, write_rtr, sizeof(write_rtr));
	f = tap_frame(&t, FROM_SERVER);
	assert_memory_equal(f.key, "MPA ID Rep Frame", 16);
	assert_int_equal(f.flags, 0x50);
	assert_int_equal(f.revision, 2);
	assert_int_equal(f.ird & 0xc000, 0x8000);
	assert_int_equal(f.ord & 0xc000, 0x8000);
	assert_int_equal(t.server_first, f.size);
	assert_true(tap_check_crcs(&t, FROM_CLIENT) > 4);
	assert_true(tap_check_crcs(&t, FROM_SERVER) > 4);
	tap_free(&t);
}

static void with_roles(int we, void (*run)(struct duo *d, size_t near_len, size_t far_len))
{
	struct duo d;

	duo_open(&d, we);
	run(&d, 0, 0);
	run(&d, 231, 231);
	duo_close(&d);
}

/* Whether near is siw or we are */
static void item_099_siw_initiator(void **state)
{
	(void)state;
	with_roles(near_is("tcp") ? SERVER : CLIENT, siw_as_initiator);
}

static void item_100_siw_responder(void **state)
{
	(void)state;
	with_roles(near_is("tcp") ? CLIENT : SERVER, siw_as_responder);
}

/* siw takes 251 bytes and passes no more on; refused at once where that is known. */
static void too_much_private_data(void **state)
{
	struct rpma_conn *conn = NULL;
	struct rpma_conn_req *req;
	uint8_t bytes[255] = { 0 };
	const struct rpma_conn_private_data data = { bytes, sizeof(bytes) };
	struct duo d;

	(void)state;
	duo_open(&d, CLIENT);
	memcpy(d.net.port, d.port, PORT_LEN);
	req = client_req(&d.net, NULL);
	if (near_is("verbs")) {
		assert_rpma(RPMA_E_PROVIDER, rpma_conn_req_connect(&req, &data, &conn));
	} else {
		assert_ok(rpma_conn_req_connect(&req, &data, &conn));
		expect_event(conn, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&conn));
	}
	duo_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_099_siw_initiator),
		cmocka_unit_test(item_100_siw_responder),
		cmocka_unit_test(too_much_private_data),
	};

	if (duo_init(argc, argv))
		return 0;
	return cmocka_run_group_tests_name("vm-interop-items", tests, NULL, NULL);
}
