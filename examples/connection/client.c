/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- connect, exchange greetings, disconnect
 */

#include "common/common.h"

int main(int argc, char **argv)
{
	static char greeting[] = "hello, server";
	struct rpma_conn_private_data ours = { greeting, sizeof(greeting) }, theirs;
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	enum rpma_conn_event event;

	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	must(rpma_utils_get_ibv_context(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	must(rpma_peer_new(device, &peer));

	/* The configuration has served its purpose once the request is made. */
	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_timeout(cfg, 10000));
	must(rpma_conn_req_new(peer, argv[1], argv[2], cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));

	/* Connecting takes its time; the first event tells how it went. */
	must(rpma_conn_req_connect(&req, &ours, &conn));
	must(rpma_conn_next_event(conn, &event));
	printf("client: %s\n", rpma_utils_conn_event_2str(event));
	if (event == RPMA_CONN_ESTABLISHED) {
		must(rpma_conn_get_private_data(conn, &theirs));
		printf("client: the server says: %.*s\n", theirs.len, (char *)theirs.ptr);
		must(rpma_conn_disconnect(conn));
		must(rpma_conn_next_event(conn, &event));
		printf("client: %s\n", rpma_utils_conn_event_2str(event));
	}

	must(rpma_conn_delete(&conn));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
