/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * setup.c -- connections that are made, and ended at once
 */

#include "rpma/rpma.h"

void setup_target(char **argv)
{
	struct rpma_ep *ep = listen_and_tell(peer_open());
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	(void)argv;
	for (;;) {
		must(rpma_ep_next_conn_req(ep, NULL, &req));
		must(rpma_conn_req_connect(&req, NULL, &conn));
		link_expect(conn, RPMA_CONN_ESTABLISHED);
		link_expect(conn, RPMA_CONN_CLOSED);
		must(rpma_conn_disconnect(conn));
		must(rpma_conn_delete(&conn));
	}
}

static void come_and_go(struct rpma_peer *peer, const char *port, unsigned i)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	char addr[16];

	loopback(addr, i);
	must(rpma_conn_req_new(peer, addr, port, NULL, &req));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	link_expect(conn, RPMA_CONN_ESTABLISHED);
	must(rpma_conn_disconnect(conn));
	link_expect(conn, RPMA_CONN_CLOSED);
	must(rpma_conn_delete(&conn));
}

void setup(char **argv)
{
	int64_t ns = ns_of(argv[0]);
	struct rpma_peer *peer = peer_open();
	struct samples s = { 0 };
	char port[WORD];

	struct helper h = helper_start((const char *[]){ "setup-target", NULL });
	helper_hear(&h, port);
	samples_begin(&s);
	for (int64_t t = s.start; t < s.start + ns; t = samples_add(&s, t))
		come_and_go(peer, port, (unsigned)s.count);
	samples_tell(&s);
	helper_end(&h);
}
