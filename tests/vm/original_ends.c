/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_ends.c -- scenarios: connections that do not come about, and all ways that
 * others end
 */

#include <poll.h>

#include "original.h"

/* ---- connections that do not come about ------------------------------------- */

static void reject(void)
{
	struct rpma_conn_private_data data = { 0 };
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, ALL_USAGE);
	for (int i = 0; i < 3; i++) {
		req = end_request(&e, NULL);
		if (role == SERVER) {
			TELL(rpma_conn_req_delete(&req));
			say("request", "%s", req ? "still there" : "NULL");
			continue;
		}
		MUST(rpma_conn_req_connect(&req, NULL, &e.conn));
		say_event(e.conn);
		TELL(rpma_conn_get_private_data(e.conn, &data));
		say_data("data", &data);
		TELL(rpma_conn_disconnect(e.conn));
		TELL(rpma_conn_delete(&e.conn));
	}
	end_connect(&e);
	end_all(&e);
}

static void bad_offers(void)
{
	struct rpma_conn_private_data bad[] = { { NULL, 4 }, { "abcd", 0 } };
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, ALL_USAGE);
	for (int i = 0; i < 2; i++) {
		if (role == CLIENT) {
			req = end_request(&e, NULL);
			TELL(rpma_conn_req_connect(&req, &bad[i], &e.conn));
			say("request", "%s", req ? "still there" : "NULL");
			req = end_request(&e, NULL);
			MUST(rpma_conn_req_connect(&req, NULL, &e.conn));
			say_event(e.conn);
			TELL(rpma_conn_delete(&e.conn));
			continue;
		}
		req = end_request(&e, NULL);
		TELL(rpma_conn_req_connect(&req, &bad[i], &e.conn));
		say("request", "%s", req ? "still there" : "NULL");
	}
	end_close(&e);
}

static void nobody_there(void)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	TELL(rpma_ep_shutdown(&e.ep));
	meet();
	if (role == CLIENT) {
		req = end_request(&e, NULL);
		TELL(rpma_conn_req_connect(&req, NULL, &e.conn));
		if (e.conn) {
			say_event(e.conn);
			TELL(rpma_conn_delete(&e.conn));
		}
		MUST(rpma_conn_cfg_new(&cfg));
		MUST(rpma_conn_cfg_set_timeout(cfg, 100));
		TELL(rpma_conn_req_new(e.peer, "10.77.0.9", "1", cfg, &req));
		TELL(rpma_conn_req_new(e.peer, address, "no port", cfg, &req));
		MUST(rpma_conn_cfg_delete(&cfg));
	}
	end_close(&e);
}

/* The server cannot take the first request, and does take the second. */
static void cannot_equip(void)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *first = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_cq_size(cfg, UINT32_MAX));
	if (role == CLIENT) {
		TELL(rpma_conn_req_new(e.peer, address, port, cfg, &req));
		req = end_request(&e, NULL);
		MUST(rpma_conn_req_connect(&req, NULL, &first));
	} else {
		TELL(rpma_ep_next_conn_req(e.ep, cfg, &req));
	}
	MUST(rpma_conn_cfg_delete(&cfg));
	end_connect(&e);
	end_disconnect(&e);
	if (role == CLIENT)
		say_event_soon(first);
	meet();
	MUST(rpma_conn_delete(&first));
	end_close(&e);
}

/* Private data that no transport carries */
static void too_much_data(void)
{
	struct rpma_conn_private_data sent = { 0 };
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, ALL_USAGE);
	sent = (struct rpma_conn_private_data){ e.mem, 255 };
	fill(e.mem, sent.len, 'A');
	if (role == CLIENT && !is_iwarp(e.device)) {
		req = end_request(&e, NULL);
		TELL(rpma_conn_req_connect(&req, &sent, &e.conn));
		say("request", "%s", req ? "still there" : "NULL");
	}
	req = end_request(&e, NULL);
	TELL(rpma_conn_req_connect(&req, role == SERVER ? &sent : NULL, &e.conn));
	if (e.conn)
		say_event_soon(e.conn);
	meet();
	MUST(rpma_conn_delete(&e.conn));
	end_close(&e);
}

/* Private data that iWARP has room for, and the kernel's field for its length has not */
static void lost_data(void)
{
	struct rpma_conn_private_data data = { 0 };
	struct rpma_conn_req *req = NULL;
	struct pollfd pfd = { .events = POLLIN };
	struct end e;

	end_open(&e, ALL_USAGE);
	if (role == CLIENT) {
		data = (struct rpma_conn_private_data){ e.mem, 252 };
		fill(e.mem, data.len, 'A');
		req = end_request(&e, NULL);
		say_result("connect", rpma_conn_req_connect(&req, &data, &e.conn));
	}
	if (e.conn)
		say_event_soon(e.conn);
	meet();
	if (role == SERVER) {
		MUST(rpma_ep_get_fd(e.ep, &pfd.fd));
		say("requests", "%d", poll(&pfd, 1, 0));
	}
	meet();
	MUST(rpma_conn_delete(&e.conn));
	end_close(&e);
}

/* ---- ends ------------------------------------------------------------------ */

static void server_disconnects(void)
{
	struct end e;

	end_open_connected(&e);
	meet();
	if (role == SERVER)
		TELL(rpma_conn_disconnect(e.conn));
	say_event(e.conn);
	if (role == CLIENT)
		TELL(rpma_conn_disconnect(e.conn));
	end_drop(&e);
	end_close(&e);
}

static void both_disconnect(void)
{
	struct end e;

	end_open_connected(&e);
	meet();
	TELL(rpma_conn_disconnect(e.conn));
	say_event(e.conn);
	TELL(rpma_conn_disconnect(e.conn));
	end_drop(&e);
	end_close(&e);
}

/* As servers do when they are told to stop */
static void not_waited_for(void)
{
	struct end e;

	end_open_connected(&e);
	meet();
	if (role == SERVER) {
		TELL(rpma_conn_disconnect(e.conn));
	} else {
		say_event(e.conn);
		TELL(rpma_conn_disconnect(e.conn));
	}
	end_drop(&e);
	end_close(&e);
}

static void deleted(enum role by)
{
	struct end e;

	end_open_connected(&e);
	meet();
	if (role != by) {
		say_event(e.conn);
		TELL(rpma_conn_disconnect(e.conn));
	}
	end_drop(&e);
	end_close(&e);
}

static void client_deletes(void)
{
	deleted(CLIENT);
}

static void server_deletes(void)
{
	deleted(SERVER);
}

/* The endpoint goes, the connection stays. */
static void endpoint_goes(void)
{
	struct end e;

	end_open_connected(&e);
	TELL(rpma_ep_shutdown(&e.ep));
	if (role == CLIENT) {
		MUST(rpma_write(e.conn, e.far, 0, e.mr, 0, 64, ALWAYS, CTX(1)));
		say_wc("write", e.cq, e.conn);
	}
	end_all(&e);
}

const struct scenario ends_scenarios[] = {
	{ SCENARIO(reject) },
	{ SCENARIO(bad_offers) },
	{ SCENARIO(nobody_there) },
	{ SCENARIO(cannot_equip) },
	{ SCENARIO(too_much_data) },
	{ SCENARIO(lost_data) },
	{ SCENARIO(server_disconnects) },
	{ SCENARIO(both_disconnect) },
	{ SCENARIO(not_waited_for) },
	{ SCENARIO(client_deletes) },
	{ SCENARIO(server_deletes) },
	{ SCENARIO(endpoint_goes) },
	{ 0 },
};
