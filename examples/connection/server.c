/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- greet one client
 *
 * Each side sends the other up to 255 bytes when the connection is made: private
 * data. (Adapters carry 56 of the client's, and may pad what arrives with zeros.)
 */

#include "common/common.h"

int main(int argc, char **argv)
{
	static char greeting[] = "hello, client";
	struct rpma_conn_private_data ours = { greeting, sizeof(greeting) }, theirs;
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	enum rpma_conn_event event;

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	must(rpma_utils_get_ibv_context(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	must(rpma_peer_new(device, &peer));
	must(rpma_ep_listen(peer, argv[1], argv[2], &ep));
	printf("server: ready\n");
	fflush(stdout);

	/* A request can be looked at before it is answered. */
	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_get_private_data(req, &theirs));
	printf("server: a client says: %.*s\n", theirs.len, (char *)theirs.ptr);

	/* This says yes; rpma_conn_req_delete(&req) would say no. */
	must(rpma_conn_req_connect(&req, &ours, &conn));
	must(rpma_conn_next_event(conn, &event));
	printf("server: %s\n", rpma_utils_conn_event_2str(event));
	if (event == RPMA_CONN_ESTABLISHED) {
		must(rpma_conn_next_event(conn, &event));
		printf("server: %s\n", rpma_utils_conn_event_2str(event));
	}

	must(rpma_conn_disconnect(conn));
	must(rpma_conn_delete(&conn));
	must(rpma_ep_shutdown(&ep));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
