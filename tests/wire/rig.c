/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* rig.c -- see rig.h */

#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum role rig_roles[ROLES] = { RESPONDER, INITIATOR };

/* A loaded machine is slow: times out nothing but what is tested. */
void wire_init(void)
{
	setenv("RPMA_TCP_LINGER_MS", "20000", 0);
	setenv("RPMA_TCP_HANDSHAKE_MS", "20000", 0);
	test_init();
}

static uint64_t le(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

uint64_t to_of(const struct rpma_mr_local *mr)
{
	uint8_t desc[DESC_SIZE];

	desc_of(mr, desc);
	return le(desc, 8);
}

uint32_t stag_of(const struct rpma_mr_local *mr)
{
	uint8_t desc[DESC_SIZE];

	desc_of(mr, desc);
	return (uint32_t)le(desc + 16, 4);
}

struct rpma_mr_remote *far_region(void)
{
	/* address, length, key, usage; little-endian */
	static const uint8_t desc[DESC_SIZE] = { 0x44, 0x33, 0x22, 0x11, 0x00, 0x7f, 0, 0, 0, 0, 0,
		0, 1, 0, 0, 0, 0x07, 0x3c, 0xab, 0x00, USAGE_ALL };

	return remote_from(desc);
}

struct rpma_conn *rig_accept(struct net *n, const struct side_opts *o)
{
	return req_connect(server_req(n, o), o);
}

struct rpma_conn *rig_connect(
	struct net *n, struct raw_door *d, struct raw *r, const struct side_opts *o)
{
	size_t len = o && o->data ? o->data_len : 0;
	struct bytes b = { 0 };
	struct rpma_conn *conn;

	memcpy(n->port, d->port, PORT_LEN);
	conn = client_start(n, o);
	raw_accept(r, d);
	bytes_add(&b, "8010 c010 %p", len ? o->data : NULL, len);
	if (len <= 255 - 4 - 20)
		bytes_trailer(&b, 1);
	raw_expect(r, REQ "50 02 %2 %p", (int)b.len, b.p, b.len);
	bytes_free(&b);
	return conn;
}

static void open_responder(struct rig *g, const struct rig_opts *o, int depth)
{
	struct rpma_conn *conn;
	struct bytes t = { 0 }, u = { 0 };

	if (o->own) {
		bytes_trailer(&t, 1);
		bytes_trailer(&u, 2);
	}
	raw_connect(&g->raw, g->net.addr, g->net.port);
	raw_send(&g->raw, REQ "50 02 %2 %2 %2 %p", (int)(4 + t.len), 0x8000 | depth, 0xc000 | depth,
		t.p, t.len);
	conn = rig_accept(&g->net, &o->side);
	raw_expect(&g->raw, REP "50 02 %2 8010 %2 %p", (int)(4 + u.len),
		0x8000 | (depth < 16 ? depth : 16), u.p, u.len);
	raw_send(&g->raw, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&g->side, g->net.peer[SERVER], conn, &o->side);
	bytes_free(&t);
	bytes_free(&u);
}

static void open_initiator(struct rig *g, const struct rig_opts *o, int depth)
{
	struct raw_door door;
	struct rpma_conn *conn;
	struct bytes t = { 0 };

	if (o->own)
		bytes_trailer(&t, 2);
	raw_open_door(&door, g->net.addr);
	conn = rig_connect(&g->net, &door, &g->raw, &o->side);
	raw_send(&g->raw, REP "50 02 %2 %2 %2 %p", (int)(4 + t.len), 0x8000 | depth,
		0x8000 | (depth < 16 ? depth : 16), t.p, t.len);
	raw_expect(&g->raw, WRITE_RTR);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&g->side, g->net.peer[CLIENT], conn, &o->side);
	bytes_free(&t);
}

void rig_open(struct rig *g, void **state, const struct rig_opts *o)
{
	static const struct rig_opts defaults;
	int depth;

	if (o == NULL)
		o = &defaults;
	depth = o->depth ? o->depth : 16;
	*g = (struct rig){ .role = *(enum role *)*state };
	net_open(&g->net);
	if (g->role == RESPONDER)
		open_responder(g, o, depth);
	else
		open_initiator(g, o, depth);
	region_open(
		&g->mem, g->side.peer, o->size ? o->size : 4096, o->usage ? o->usage : USAGE_ALL);
	g->stag = stag_of(g->mem.mr);
	g->to = to_of(g->mem.mr);
}

void rig_drop(struct rig *g)
{
	assert_ok(rpma_conn_delete(&g->side.conn));
	region_close(&g->mem);
	net_close(&g->net);
	if (g->raw.fd >= 0)
		raw_close(&g->raw);
}

void rig_close(struct rig *g)
{
	raw_fin(&g->raw);
	expect_event(g->side.conn, RPMA_CONN_CLOSED);
	raw_expect_fin(&g->raw);
	rig_drop(g);
}

void rig_ends_at(struct rig *g, const char *triple, enum term_hdr hdr, const char *where)
{
	raw_expect_term_at(&g->raw, triple, hdr, where);
	expect_event_at(g->side.conn, RPMA_CONN_LOST, where);
}

void rig_dies_at(struct rig *g, const char *triple, enum term_hdr hdr, const char *where)
{
	rig_ends_at(g, triple, hdr, where);
	check_all(g->mem.data, g->mem.size, 0, where);
	rig_drop(g);
}

void rig_fence(struct rig *g, uint32_t msn)
{
	raw_fpdu(&g->raw,
		"41 41 00000000 00000001 %4 00000000 00000001 0000000000000001 00000000 00000001"
		"0000000000000000",
		msn);
	raw_expect_fpdu(&g->raw, "c1 42 00000001 0000000000000001");
}
