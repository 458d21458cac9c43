/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_link.c -- see pair_link.h */

#include <string.h>

#include "pair_link.h"
#include "pair_wait.h"

/* ---- the other process --------------------------------------------------- */

static int stay(struct net *n, struct region *r, struct rpma_conn *conn)
{
	puts("ready");
	child_wait_for_end();
	assert_ok(rpma_conn_delete(&conn));
	region_close(r);
	net_close(n);
	return 0;
}

/* Connect to the parent, hand it a region, then do nothing. */
static int be_client(const char *port, bool wait)
{
	struct net n = { .addr = test_addr() };
	uint8_t desc[DESC_SIZE];
	struct side_opts o = { .data = desc, .data_len = DESC_SIZE };
	struct region r;
	struct rpma_conn *conn;

	snprintf(n.port, sizeof(n.port), "%.*s", PORT_LEN - 1, port);
	n.peer[CLIENT] = peer_at(n.addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	region_open(&r, n.peer[CLIENT], LINK_SIZE, USAGE_ALL);
	desc_of(r.mr, desc);
	conn = client_start(&n, &o);
	if (wait)
		expect_event(conn, RPMA_CONN_ESTABLISHED);
	return stay(&n, &r, conn);
}

/* Listen, tell the port, accept one connection, and hand it a region. */
static int be_server(void)
{
	uint8_t desc[DESC_SIZE];
	struct side_opts o = { .data = desc, .data_len = DESC_SIZE };
	struct rpma_conn *conn;
	struct region r;
	struct net n;

	net_open(&n);
	region_open(&r, n.peer[SERVER], LINK_SIZE, USAGE_ALL);
	desc_of(r.mr, desc);
	printf("port %s\n", n.port);
	conn = server_start(&n, &o);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	return stay(&n, &r, conn);
}

int link_be(const char *role, const char *arg)
{
	if (strcmp(role, "client") == 0)
		return be_client(arg, true);
	if (strcmp(role, "connecting") == 0)
		return be_client(arg, false);
	return be_server();
}

/* ---- our side ------------------------------------------------------------ */

static void link_finish_open(struct link *l, struct rpma_peer *peer, struct rpma_conn *conn)
{
	struct rpma_conn_private_data data = { 0 };

	expect_event(conn, RPMA_CONN_ESTABLISHED);
	child_expect(&l->child, "ready", NULL);
	side_init(&l->side, peer, conn, NULL);
	assert_ok(rpma_conn_get_private_data(conn, &data));
	assert_true(data.len >= DESC_SIZE);
	l->far = (struct region){ .remote = remote_from(data.ptr), .size = LINK_SIZE };
	region_open(&l->mem, peer, LINK_SIZE, USAGE_ALL);
}

void link_open(struct link *l, int we)
{
	*l = (struct link){ 0 };
	net_open(&l->net);
	if (we == SERVER) {
		child_start(&l->child, "client", l->net.port, false);
		link_finish_open(l, l->net.peer[SERVER], server_start(&l->net, NULL));
	} else {
		char port[CHILD_LINE];

		child_start(&l->child, "server", NULL, false);
		child_expect(&l->child, "port", port);
		snprintf(l->net.port, PORT_LEN, "%.*s", PORT_LEN - 1, port);
		link_finish_open(l, l->net.peer[CLIENT], client_start(&l->net, NULL));
	}
}

void link_close(struct link *l)
{
	assert_ok(rpma_conn_delete(&l->side.conn));
	assert_ok(rpma_mr_remote_delete(&l->far.remote));
	region_close(&l->mem);
	net_close(&l->net);
}

void link_post(struct link *l, const struct op *op, uint64_t ctx)
{
	struct xfer x = {
		.by = &l->side,
		.local = &l->mem,
		.remote = &l->far,
		.len = op->unit ? 8 : LINK_SIZE,
		.ctx = CTX(ctx),
	};

	op_post(op, &x);
}
