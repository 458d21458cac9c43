/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* nocrc.c -- see nocrc.h */

#include <string.h>

#include "nocrc.h"

enum { DIRECT_MIN = 8192 }; /* still to come, to be placed as it comes */

#define RTR "000ec140 00000001 0000000000000000 00000000"

static struct rpma_conn *open_responder(struct rig *g, const struct rig_opts *o)
{
	struct bytes t = { 0 }, u = { 0 };
	struct rpma_conn *conn;

	if (o->own) {
		bytes_trailer(&t, 1);
		bytes_trailer(&u, 2);
	}
	raw_connect(&g->raw, g->net.addr, g->net.port);
	raw_send(&g->raw, REQ "10 02 %2 8010 c010 %p", (int)(4 + t.len), t.p, t.len);
	conn = rig_accept(&g->net, &o->side);
	raw_expect(&g->raw, REP "10 02 %2 8010 8010 %p", (int)(4 + u.len), u.p, u.len);
	raw_send(&g->raw, RTR);
	bytes_free(&t);
	bytes_free(&u);
	return conn;
}

static struct rpma_conn *open_initiator(struct rig *g, const struct rig_opts *o)
{
	struct bytes t = { 0 }, u = { 0 };
	struct raw_door door;
	struct rpma_conn *conn;

	bytes_trailer(&t, 1);
	if (o->own)
		bytes_trailer(&u, 2);
	raw_open_door(&door, g->net.addr);
	memcpy(g->net.port, door.port, PORT_LEN);
	conn = client_start(&g->net, &o->side);
	raw_accept(&g->raw, &door);
	raw_expect(&g->raw, REQ "10 02 %2 8010 c010 %p", (int)(4 + t.len), t.p, t.len);
	raw_send(&g->raw, REP "10 02 %2 8010 8010 %p", (int)(4 + u.len), u.p, u.len);
	raw_expect(&g->raw, RTR);
	bytes_free(&t);
	bytes_free(&u);
	return conn;
}

void nocrc_open(struct rig *g, void **state, const struct rig_opts *o)
{
	struct rpma_conn *conn;

	*g = (struct rig){ .role = *(enum role *)*state };
	net_open(&g->net);
	conn = g->role == RESPONDER ? open_responder(g, o) : open_initiator(g, o);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(&g->side, g->net.peer[g->role == RESPONDER ? SERVER : CLIENT], conn, &o->side);
	region_open(&g->mem, g->side.peer, o->size, o->usage ? o->usage : USAGE_ALL);
	g->stag = stag_of(g->mem.mr);
	g->to = to_of(g->mem.mr);
}

/* ---- FPDUs ---------------------------------------------------------------------- */

void nocrc_fpdu(struct bytes *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bytes_fpduv(b, format, args);
	va_end(args);
	b->p[b->len - 1] ^= 0x55;
}

void nocrc_message(struct bytes *b, uint32_t msn, const char *text)
{
	nocrc_fpdu(b, "41 43 00000000 00000000 %4 00000000 %p", msn, text, strlen(text));
}

void nocrc_ask(struct bytes *b, const struct rig *g, uint32_t msn, uint32_t len, uint64_t to)
{
	nocrc_fpdu(b, NOCRC_READ, msn, len, g->stag, to);
}

void nocrc_expect_at(struct rig *g, const char *where, const char *format, ...)
{
	struct bytes b = { 0 };
	va_list args;

	va_start(args, format);
	bytes_fpduv(&b, format, args);
	va_end(args);
	memset(b.p + b.len - 4, 0, 4);
	raw_expect_at(&g->raw, where, "%p", b.p, b.len);
	bytes_free(&b);
}

void nocrc_ends_at(
	struct rig *g, const char *triple, enum term_hdr hdr, const uint8_t *seg, const char *where)
{
	struct bytes cause = { 0 };

	bytes_add(&cause, triple);
	bytes_add(&cause, "%1 00 %p", hdr == TERM_DDP ? 0xc0 : 0, seg,
		hdr == TERM_DDP ? TAGGED_HDR : (size_t)0);
	nocrc_expect_at(
		g, where, "41 47 00000000 00000002 00000001 00000000 %p", cause.p, cause.len);
	raw_expect_fin_at(&g->raw, where);
	expect_event_at(g->side.conn, RPMA_CONN_LOST, where);
	bytes_free(&cause);
}

/* ---- pieces --------------------------------------------------------------------- */

void nocrc_part(struct rig *g, const struct bytes *b, size_t from, size_t to)
{
	raw_send_bytes(&g->raw, b->p + from, to - from);
	raw_sync(&g->raw);
}

void nocrc_cut(struct rig *g, const struct bytes *b, const size_t *cuts, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; from = cuts[i++])
		nocrc_part(g, b, from, cuts[i]);
	raw_send_bytes(&g->raw, b->p + from, b->len - from);
}

void nocrc_pieces(struct rig *g, const struct bytes *b, size_t size)
{
	for (size_t from = 0; from < b->len; from += size)
		nocrc_part(g, b, from, b->len - from < size ? b->len : from + size);
}

/* ---- large segments --------------------------------------------------------------- */

size_t nocrc_cuts(size_t len, size_t cut[NOCRC_CUTS])
{
	const size_t end = TAGGED_HDR + len, whole = (end + 3) / 4 * 4 + 4;
	const size_t all[] = { 1, 2, 3, 15, 16, 17, 19, 20, 21, end / 2, end - DIRECT_MIN - 1,
		end - DIRECT_MIN, end - DIRECT_MIN + 1, end - 1, end, end + 1, whole - 4, whole - 3,
		whole - 1, whole, whole + 1 };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (n == 0 || all[i] > cut[n - 1])
			cut[n++] = all[i];
	return n;
}

void nocrc_receive(struct rig *g, uint32_t msn)
{
	assert_ok(recv_at(&g->side, &g->mem, NOCRC_BOX, 64, CTX(msn)));
}

void nocrc_expect_message_at(struct rig *g, uint32_t msn, const char *text, const char *where)
{
	struct ibv_wc wc = expect_recv_at(&g->side, CTX(msn), where);

	if (wc.byte_len != strlen(text) || memcmp(g->mem.data + NOCRC_BOX, text, strlen(text)) != 0)
		fail_msg("%s: not the message '%s'", where, text);
}

void expect_only_at(char *mem, size_t off, size_t len, uint64_t seed, const char *where)
{
	check_all(mem, off, 0, where);
	check_filled(mem + off, len, seed, where);
	check_all(mem + off + len, NOCRC_BOX - off - len, 0, where);
	memset(mem + off, 0, len);
}

void nocrc_read(struct rig *g, struct rpma_mr_local *mr, uint32_t msn, uint32_t len)
{
	struct rpma_mr_remote *far = far_region();

	assert_ok(rpma_read(
		g->side.conn, mr, AT, far, 0, len, RPMA_F_COMPLETION_ALWAYS, CTX(100 + msn)));
	nocrc_expect(g, NOCRC_READ, msn, len, FAR_STAG, FAR_TO);
	assert_ok(rpma_mr_remote_delete(&far));
}
