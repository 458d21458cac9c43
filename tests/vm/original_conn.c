/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_conn.c -- scenarios: devices, and connections from the request to the end
 */

#include <fcntl.h>
#include <stdio.h>

#include "original.h"

/* ---- devices -------------------------------------------------------------- */

static void tell_device(const char *at, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device = NULL;
	int ret = rpma_utils_get_ibv_context(at, type, &device);
	char key[64];

	snprintf(key, sizeof(key), "rpma_utils_get_ibv_context(%s, %d)", at, type);
	if (ret)
		say_result(key, ret);
	else
		say(key, "%s", device ? ibv_get_device_name(device->device) : "no device");
}

static void devices(void)
{
	static const char *const at[] = { "127.0.0.1", "0.0.0.0", "192.0.2.1", "no.such.name" };
	struct ibv_context *device = NULL;
	struct rpma_peer *peer = NULL;
	int odp = -1;

	tell_device(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	tell_device(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		tell_device(at[i], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	MUST(rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	TELL(rpma_utils_ibv_context_is_odp_capable(device, &odp));
	say("odp", "%d", odp);
	TELL(rpma_peer_new(device, &peer));
	TELL(rpma_peer_delete(&peer));
	say("peer", "%s", peer ? "still there" : "NULL");
}

/* ---- from the request to the end ------------------------------------------- */

static void tell_connection(struct rpma_conn *conn)
{
	struct rpma_cq *cq = NULL, *rcq = (struct rpma_cq *)(uintptr_t)1;
	uint32_t qp_num = 0;
	int fd = -1;

	TELL(rpma_conn_get_event_fd(conn, &fd));
	say("event fd", "%s", fcntl(fd, F_GETFL) & O_NONBLOCK ? "non-blocking" : "blocking");
	TELL(rpma_conn_get_qp_num(conn, &qp_num));
	say("qp_num", "%s", qp_num ? "a number" : "0");
	TELL(rpma_conn_get_cq(conn, &cq));
	TELL(rpma_conn_get_rcq(conn, &rcq));
	say("queues", "%d %d", cq != NULL, rcq != NULL);
	TELL(rpma_conn_get_compl_fd(conn, &fd));
	TELL(rpma_cq_get_fd(cq, &fd));
	say("queue fd", "%s", fcntl(fd, F_GETFL) & O_NONBLOCK ? "non-blocking" : "blocking");
	TELL(rpma_conn_wait(conn, 0, &cq, NULL));
	say_empty(cq);
}

static void life(void)
{
	struct rpma_conn_req *req;
	struct rpma_conn_private_data data = { 0 };
	struct end e;

	end_open(&e, ALL_USAGE);
	req = end_request(&e, NULL);
	TELL(rpma_conn_req_get_private_data(req, &data));
	say("request's data", "%u bytes", data.len);
	TELL(rpma_conn_req_connect(&req, NULL, &e.conn));
	say("request", "%s", req ? "still there" : "NULL");
	TELL(rpma_conn_get_private_data(e.conn, &data));
	say_data("data before", &data);
	say_event(e.conn);
	TELL(rpma_conn_get_private_data(e.conn, &data));
	say_data("data after", &data);
	tell_connection(e.conn);
	end_disconnect(&e);
	say("connection", "%s", e.conn ? "still there" : "NULL");
	TELL(rpma_ep_shutdown(&e.ep));
	TELL(rpma_mr_dereg(&e.mr));
	TELL(rpma_peer_delete(&e.peer));
}

/* Private data of len bytes from the side that offers, and none from the other */
static void offer_data(struct end *e, enum role from, uint8_t len)
{
	struct rpma_conn_private_data sent = { e->mem, len }, came = { 0 };
	struct rpma_conn_req *req = end_request(e, NULL);
	char key[32];

	snprintf(key, sizeof(key), "%u bytes", len);
	fill(e->mem, len, 'A');
	must(key, rpma_conn_req_connect(&req, role == from ? &sent : NULL, &e->conn));
	say_event(e->conn);
	MUST(rpma_conn_get_private_data(e->conn, &came));
	if (role != from)
		say_data(key, &came);
	end_disconnect(e);
}

static void private_data(void)
{
	/* on InfiniBand a request has 56 bytes, and a reply 196 */
	static const uint8_t in_request[] = { 28, 48, 49, 56 };
	static const uint8_t in_reply[] = { 28, 188, 189, 196 };
	struct end e;

	end_open(&e, ALL_USAGE);
	for (size_t i = 0; i < sizeof(in_request); i++)
		offer_data(&e, CLIENT, in_request[i]);
	for (size_t i = 0; i < sizeof(in_reply); i++)
		offer_data(&e, SERVER, in_reply[i]);
	end_close(&e);
}

static void both_ways(void)
{
	struct rpma_conn_private_data sent = { 0 }, came = { 0 };
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, ALL_USAGE);
	sent = (struct rpma_conn_private_data){ e.mem, role == CLIENT ? 28 : 40 };
	fill(e.mem, sent.len, 'A');
	req = end_request(&e, NULL);
	MUST(rpma_conn_req_get_private_data(req, &came));
	say_data("of the request", &came);
	MUST(rpma_conn_req_connect(&req, &sent, &e.conn));
	MUST(rpma_conn_get_private_data(e.conn, &came));
	say_data("before the event", &came);
	say_event(e.conn);
	MUST(rpma_conn_get_private_data(e.conn, &came));
	say_data("after the event", &came);
	end_all(&e);
}

const struct scenario conn_scenarios[] = {
	{ SCENARIO(devices) },
	{ SCENARIO(life) },
	{ SCENARIO(private_data) },
	{ SCENARIO(both_ways) },
	{ 0 },
};
