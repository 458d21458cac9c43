/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* late.c -- a start-up that takes too long: item 16 */

#include <poll.h>
#include <stdlib.h>

#include "rig.h"

enum { PATIENCE_MS = 800 };

/* Time runs from the accept, whatever comes meanwhile. */
static void stalled(const char *format)
{
	struct bytes b = { 0 };
	int64_t begin = clock_ms();
	struct net n;
	struct raw r;
	int fd = -1;

	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	bytes_add(&b, format);
	raw_send_maybe(&r, b.p, b.len);
	bytes_free(&b);
	raw_expect_gone(&r);
	assert_true(clock_ms() - begin >= PATIENCE_MS);
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	assert_false(readable(fd));
	raw_close(&r);
	net_close(&n);
}

static void item_016_no_request_in_time(void **state)
{
	(void)state;
	stalled("");
	stalled("4d");
	stalled(REQ "50 02 00");
	stalled(REQ "50 02 0010 8010 c010");
	stalled(REQ "40 01 0001");
}

/* One byte now and then does not buy more time. */
static void item_016_slow_request(void **state)
{
	static const char frame[] = "MPA ID Req Frame";
	int64_t begin = clock_ms();
	size_t sent = 0;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	while (clock_ms() - begin < 20 * PATIENCE_MS && sent < sizeof(frame)) {
		struct pollfd p = { .fd = r.fd, .events = POLLIN };

		raw_send_maybe(&r, frame + sent++, 1);
		if (poll(&p, 1, PATIENCE_MS / 4) > 0)
			break;
	}
	assert_true(sent < sizeof(frame));
	raw_expect_gone(&r);
	raw_close(&r);
	net_close(&n);
}

static void item_016_no_first_fpdu_in_time(void **state)
{
	struct rpma_conn *conn;
	struct net n;
	struct raw r;

	(void)state;
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "50 02 0004 8010 c010");
	conn = rig_accept(&n, NULL);
	raw_expect(&r, REP "50 02 0004 8010 8010");
	raw_expect_gone(&r);
	expect_event(conn, RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

/* An application may think as long as it likes. */
static void item_016_pending_is_not_timed(void **state)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct raw slow, r;
	struct net n;

	(void)state;
	net_open(&n);
	raw_connect(&r, n.addr, n.port);
	raw_send(&r, REQ "40 01 0000");
	req = server_req(&n, NULL);
	for (int i = 0; i < 2; i++) { /* a stranger's time runs out, twice */
		raw_connect(&slow, n.addr, n.port);
		raw_expect_gone(&slow);
		raw_close(&slow);
	}
	conn = req_connect(req, NULL);
	raw_expect(&r, REP "40 01 0000");
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&conn));
	raw_close(&r);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_016_no_request_in_time),
		cmocka_unit_test(item_016_slow_request),
		cmocka_unit_test(item_016_no_first_fpdu_in_time),
		cmocka_unit_test(item_016_pending_is_not_timed),
	};

	setenv("RPMA_TCP_HANDSHAKE_MS", "800", 1);
	wire_init();
	return cmocka_run_group_tests_name("wire-late", tests, NULL, NULL);
}
