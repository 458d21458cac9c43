/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * proto.c -- see proto.h
 *
 *  hello    0 "rpma"  4 version  5 role  6 op  7 flags  8 u32 depth  12 u32 size
 *          16 u64 session  24 name, or 24 descriptor (21) and zeros
 *  offer    0 "rpma"  4 version  5 status  6 kind of memory  7 flags
 *           8 has descriptor  9 descriptor (21)
 *  request  0 type  8 u64 offset  16 u64 length
 *  reply    0 type  1 failed  2 u16 hashes  8 the hashes, or the counts, u64 each
 */

#include <string.h>

#include "proto.h"

static const uint8_t magic[4] = { 'r', 'p', 'm', 'a' };

static void put_le(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_le(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* ---- hello, offer -------------------------------------------------------------- */

void hello_encode(const struct hello *h, uint8_t buf[HELLO_SIZE])
{
	memset(buf, 0, HELLO_SIZE);
	memcpy(buf, magic, sizeof(magic));
	buf[4] = PROTO_VERSION;
	buf[5] = (uint8_t)h->role;
	buf[6] = (uint8_t)h->op;
	buf[7] = (uint8_t)h->flags;
	put_le(buf + 8, h->depth, 4);
	put_le(buf + 12, h->size, 4);
	put_le(buf + 16, h->session, 8);
	if (h->role == ROLE_LOAD)
		memcpy(buf + 24, h->desc, DESC_SIZE);
	else
		memcpy(buf + 24, h->name, strnlen(h->name, NAME_SIZE));
}

static void take_name(const uint8_t *buf, char name[NAME_SIZE + 1])
{
	size_t n;

	memcpy(name, buf, NAME_SIZE);
	name[NAME_SIZE] = '\0';
	n = strlen(name);
	for (size_t i = 0; i < n; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			name[i] = '?';
	}
}

static bool sensible(const struct hello *h)
{
	bool load = h->role == ROLE_LOAD;
	bool sized = load || h->role == ROLE_PING;

	if (h->role >= ROLES || h->op >= OPS || h->flags & ~HELLO_FLAGS)
		return false;
	if (sized && (!h->size || h->size > MESSAGE_MAX))
		return false;
	return !load || (h->depth && h->depth <= DEPTH_MAX && h->op != OP_CONNECT);
}

bool hello_decode(const uint8_t *buf, size_t len, struct hello *h, unsigned *version)
{
	*h = (struct hello){ 0 };
	*version = 0;
	/* A network may have padded it. */
	if (len < HELLO_SIZE || memcmp(buf, magic, sizeof(magic)))
		return false;
	*version = buf[4];
	if (*version != PROTO_VERSION)
		return false;
	h->role = buf[5];
	h->op = buf[6];
	h->flags = buf[7];
	h->depth = (uint32_t)get_le(buf + 8, 4);
	h->size = get_le(buf + 12, 4);
	h->session = get_le(buf + 16, 8);
	if (h->role == ROLE_LOAD)
		memcpy(h->desc, buf + 24, DESC_SIZE);
	else
		take_name(buf + 24, h->name);
	*version = sensible(h) ? PROTO_VERSION : 0;
	return *version;
}

void offer_encode(const struct offer *o, uint8_t buf[OFFER_SIZE])
{
	memset(buf, 0, OFFER_SIZE);
	memcpy(buf, magic, sizeof(magic));
	buf[4] = PROTO_VERSION;
	buf[5] = (uint8_t)o->status;
	buf[6] = o->mem_kind;
	buf[7] = (uint8_t)o->flags;
	buf[8] = o->has_desc;
	memcpy(buf + 9, o->desc, DESC_SIZE);
}

bool offer_decode(const uint8_t *buf, size_t len, struct offer *o)
{
	if (len < OFFER_SIZE || memcmp(buf, magic, sizeof(magic)))
		return false;
	*o = (struct offer){
		.version = buf[4],
		.status = buf[5],
		.mem_kind = buf[6],
		.flags = buf[7],
		.has_desc = buf[8] != 0,
	};
	memcpy(o->desc, buf + 9, DESC_SIZE);
	if (o->version != PROTO_VERSION)
		o->status = OFFER_VERSION;
	return o->status < OFFERS;
}

/* ---- the desk --------------------------------------------------------------------- */

void request_encode(const struct request *r, uint8_t buf[REQUEST_SIZE])
{
	memset(buf, 0, REQUEST_SIZE);
	buf[0] = (uint8_t)r->type;
	put_le(buf + 8, r->offset, 8);
	put_le(buf + 16, r->length, 8);
}

bool request_decode(const uint8_t *buf, size_t len, struct request *r)
{
	if (len != REQUEST_SIZE)
		return false;
	*r = (struct request){ buf[0], get_le(buf + 8, 8), get_le(buf + 16, 8) };
	return r->type >= REQUEST_HASH && r->type < REQUEST_TYPES;
}

size_t reply_encode(enum request_type type, const struct reply *r, uint8_t buf[REPLY_SIZE])
{
	const struct counts *c = &r->counts;
	const uint64_t v[] = { c->time, c->cpu, c->messages, c->bytes, c->mismatches };
	uint8_t *p = buf + REPLY_HEAD;

	memset(buf, 0, REPLY_HEAD);
	buf[0] = (uint8_t)type;
	buf[1] = r->failed;
	put_le(buf + 2, r->n_hashes, 2);
	if (type == REQUEST_HASH) {
		memcpy(p, r->hashes, (size_t)r->n_hashes * HASH_SIZE);
		p += (size_t)r->n_hashes * HASH_SIZE;
	}
	for (size_t i = 0; type == REQUEST_COUNT && i < sizeof(v) / sizeof(v[0]); i++, p += 8)
		put_le(p, v[i], 8);
	return (size_t)(p - buf);
}

bool reply_decode(enum request_type type, const uint8_t *buf, size_t len, struct reply *r)
{
	const uint8_t *p = buf + REPLY_HEAD;

	*r = (struct reply){ 0 };
	if (len < REPLY_HEAD || buf[0] != type)
		return false;
	r->failed = buf[1];
	r->n_hashes = (unsigned)get_le(buf + 2, 2);
	len -= REPLY_HEAD;
	if (type == REQUEST_HASH) {
		if (r->n_hashes > HASHES_MAX || len != (size_t)r->n_hashes * HASH_SIZE)
			return false;
		memcpy(r->hashes, p, len);
	} else if (type == REQUEST_COUNT) {
		if (len != 40)
			return false;
		r->counts = (struct counts){ get_le(p, 8), get_le(p + 8, 8), get_le(p + 16, 8),
			get_le(p + 24, 8), get_le(p + 32, 8) };
	}
	return true;
}
