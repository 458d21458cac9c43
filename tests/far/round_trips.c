/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * round_trips.c RTT_MS -- how often a message goes to the other side and back
 *
 * To be run over a network whose round trip is so long that all else takes no time. If it
 * did, as other programs take their time, too, it is tried again.
 */

#include <poll.h>
#include <stdlib.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096
#define TRIES 3

static int64_t rtt_ms;

/* Not as quick as that many round trips can be */
static bool is_late(int trips, int64_t ms)
{
	return ms >= (trips + 1) * rtt_ms;
}

static void assert_trips(int trips, int64_t ms)
{
	assert_in_range(ms, trips * rtt_ms - 1, (trips + 1) * rtt_ms - 1);
}

/* ---- connections ----------------------------------------------------------------- */

/* How long the client took, and both sides to the end */
struct took {
	int64_t up;
	int64_t down;
};

static struct took connect_once(const struct side_opts *o)
{
	struct rpma_conn *client, *server;
	struct took took;
	struct net n;
	int64_t start;

	net_open(&n);
	start = clock_ms();
	client = client_start(&n, o);
	server = server_start(&n, o);
	expect_event(client, RPMA_CONN_ESTABLISHED);
	took.up = clock_ms() - start;
	expect_event(server, RPMA_CONN_ESTABLISHED);
	start = clock_ms();
	assert_ok(rpma_conn_disconnect(client));
	expect_event(client, RPMA_CONN_CLOSED);
	took.down = clock_ms() - start;
	expect_event(server, RPMA_CONN_CLOSED);
	assert_ok(rpma_conn_delete(&client));
	assert_ok(rpma_conn_delete(&server));
	net_close(&n);
	return took;
}

static void connects_in(int trips, const struct side_opts *o)
{
	struct took took = connect_once(o);

	for (int i = 1; i < TRIES && (is_late(trips, took.up) || is_late(1, took.down)); i++)
		took = connect_once(o);
	assert_trips(trips, took.up);
	assert_trips(1, took.down);
}

/* TCP's, and that of request and answer */
static void connect_and_disconnect(void **state)
{
	(void)state;
	connects_in(2, NULL);
}

/* Where private data leaves no room to say who we are, we ask. */
static void connect_with_most_private_data(void **state)
{
	static const char data[255];
	const struct side_opts o = { .data = data, .data_len = sizeof(data) };

	(void)state;
	connects_in(3, &o);
}

/* ---- requests --------------------------------------------------------------------- */

static int64_t one(struct field *f, const struct op *op)
{
	struct xfer x = field_xfer(f, CLIENT, 8, CTX(1));
	int64_t start = clock_ms();

	if (op->recv_opcode >= 0)
		post_recv(&f->pair.side[SERVER], &f->mem[SERVER], SIZE, CTX(2));
	x.flags = RPMA_F_COMPLETION_ON_ERROR;
	op_post(&ops[OP_WRITE], &x);
	x.flags = RPMA_F_COMPLETION_ALWAYS;
	op_post(op, &x);
	expect_done(x.by, CTX(1));
	start = clock_ms() - start;
	if (op->recv_opcode >= 0)
		expect_recv(&f->pair.side[SERVER], CTX(2));
	return start;
}

/* A write and any other request behind it: one, for both. */
static void every_operation(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < OP_COUNT; i++) {
		int64_t ms = one(&f, &ops[i]);

		for (int k = 1; k < TRIES && is_late(1, ms); k++)
			ms = one(&f, &ops[i]);
		assert_trips(1, ms);
	}
	field_close(&f);
}

/* Nobody is dead for not having answered before he was asked. */
static void asked_after_a_long_silence(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (int from = 0; from < SIDES; from++) {
		struct xfer x = field_xfer(&f, from, 8, CTX(1));

		poll(NULL, 0, 1300);
		op_post(&ops[OP_FLUSH_PERSISTENT], &x);
		expect_done(x.by, CTX(1));
	}
	field_close(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connect_and_disconnect),
		cmocka_unit_test(connect_with_most_private_data),
		cmocka_unit_test(every_operation),
		cmocka_unit_test(asked_after_a_long_silence),
	};

	rtt_ms = argc > 1 ? atoi(argv[1]) : 0;
	if (rtt_ms <= 0)
		return 2;
	setenv("RPMA_TCP_DEAD_PEER_MS", "1000", 1);
	test_init();
	return cmocka_run_group_tests_name("far-round-trips", tests, NULL, NULL);
}
