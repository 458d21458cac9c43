/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * terminate.c -- the Terminate message, ours and those of others
 */

#include "base/bytes.h"
#include "tcp/iwarp/terminate.h"

/* Payload of the message:
 * control(4) [DDP segment length(2) DDP header(14 or 18) [RDMAP header(28)]] */
enum {
	CONTROL = 4,
	OFF_HDRCT = 2,
	OFF_SEG_LEN = CONTROL,
	OFF_DDP_HDR = CONTROL + 2,
	READ_REQ = FPDU_READ_REQ_HDR - FPDU_UNTAGGED_HDR,
};

_Static_assert(FPDU_UNTAGGED_HDR + OFF_DDP_HDR + DDP_UNTAGGED_HDR + READ_REQ == FPDU_TERMINATE_MAX,
	"room for all headers");

/* Which headers come along, in the third byte of the control field: M (the segment
 * length is valid), D, R. */
struct hdrct {
	uint8_t m;
	uint8_t d;
	uint8_t r;
};

static const struct hdrct rfc_hdrct = { 0x80, 0x40, 0x20 };
static const struct hdrct siw_hdrct = { 0x01, 0x02, 0x04 };

/* ---- encode ------------------------------------------------------------- */

void terminate_cause_set(struct terminate_cause *c, enum iwarp_err err, const struct fpdu *f)
{
	*c = (struct terminate_cause){ .err = err };
	if (!f)
		return;
	c->ulpdu_len = f->ulpdu_len;
	if (!f->ddp_hdr)
		return;
	c->ddp_hdr_len = f->tagged ? DDP_TAGGED_HDR : DDP_UNTAGGED_HDR;
	memcpy(c->ddp_hdr, f->ddp_hdr, c->ddp_hdr_len);
	if (f->opcode == RDMAP_READ_REQ && !f->tagged && f->payload_len == READ_REQ) {
		c->has_read_req = true;
		fpdu_get_read_req(f, &c->read_req);
	}
}

static void put_read_req(uint8_t *p, const struct rdmap_read_req *r)
{
	uint8_t whole[FPDU_READ_REQ_HDR];

	fpdu_put_read_req(whole, 0, r);
	memcpy(p, whole + FPDU_UNTAGGED_HDR, READ_REQ);
}

size_t terminate_encode(uint8_t *p, const struct terminate_cause *c)
{
	const struct iwarp_err_info *info = &iwarp_err_info[c->err];
	bool ddp = info->headers != IWARP_TERM_NONE && c->ddp_hdr_len > 0;
	bool read = ddp && info->headers == IWARP_TERM_DDP_READ && c->has_read_req;
	uint8_t *t = p + FPDU_UNTAGGED_HDR;
	uint32_t len = CONTROL;

	t[0] = (uint8_t)(info->layer << 4 | info->etype);
	t[1] = info->code;
	put_be16(t + OFF_HDRCT, 0);
	if (ddp) {
		t[OFF_HDRCT] |= rfc_hdrct.m | rfc_hdrct.d;
		put_be16(t + OFF_SEG_LEN, c->ulpdu_len);
		memcpy(t + OFF_DDP_HDR, c->ddp_hdr, c->ddp_hdr_len);
		len = OFF_DDP_HDR + c->ddp_hdr_len;
	}
	if (read) {
		t[OFF_HDRCT] |= rfc_hdrct.r;
		put_read_req(t + len, &c->read_req);
		len += READ_REQ;
	}
	return len + fpdu_put_untagged(p, RDMAP_TERMINATE, true, DDP_QN_TERMINATE, 1, 0, len);
}

/* ---- decode ------------------------------------------------------------- */

/* The three numbers as one, to compare and to look up. */
struct triple {
	uint8_t layer;
	uint8_t etype;
	uint8_t code;
};

enum {
	LAYERS = 3,
	ETYPES = 3,
};

#define CODES(first, last) ((1u << ((last) + 1)) - (1u << (first)))
#define CODE_FF (1u << 31)
#define CODE_ANY UINT32_MAX

/* Codes that are registered for a layer and error type, as bits: more than this
 * stack sends. A type without any is not registered itself. */
static const uint32_t registered_codes[LAYERS][ETYPES] = {
	[0] = { CODE_ANY, CODES(0, 4) | CODES(9, 9) | CODE_FF, CODES(5, 9) | CODE_FF },
	[1] = { CODES(0, 0), CODES(0, 4), CODES(1, 6) },
	[2] = { CODES(1, 7), 0, 0 },
};

static bool is_registered(struct triple t)
{
	uint32_t codes;

	if (t.layer >= LAYERS || t.etype >= ETYPES)
		return false;
	codes = registered_codes[t.layer][t.etype];
	if (codes == CODE_ANY)
		return true;
	return t.code == 0xff ? codes & CODE_FF : t.code < 31 && (codes >> t.code & 1);
}

static struct triple make_triple(uint8_t layer, uint8_t etype, uint8_t code)
{
	/* Some adapters use the type that RFC 5041 keeps for the layer below DDP. */
	if (layer == 2 && etype == 3)
		etype = 0;
	return (struct triple){ layer, etype, code };
}

/* A Terminate without header bits does not show which order its nibbles have. */
static bool is_siw_order(struct triple rfc, struct triple siw, bool fpdu_mode)
{
	bool siw_is_mpa = siw.layer == 2;

	if (is_registered(rfc) != is_registered(siw))
		return is_registered(siw);
	if (!is_registered(rfc) || (rfc.layer == 2) == siw_is_mpa)
		return false;
	/* Of codes with both meanings, the MPA one belongs to the start-up only. */
	return siw_is_mpa != fpdu_mode;
}

static enum iwarp_err index_of(struct triple t)
{
	for (enum iwarp_err e = IWARP_OK + 1; e < IWARP_ERR_MAX; e++) {
		const struct iwarp_err_info *i = &iwarp_err_info[e];

		if (i->layer == t.layer && i->etype == t.etype &&
			(i->code == t.code || e == IWARP_RDMAP_LOCAL))
			return e;
	}
	return IWARP_OK;
}

/* The headers that came along, as far as they are whole. */
static void get_headers(const uint8_t *p, size_t len, bool read, struct terminate_info *out)
{
	struct fpdu f = { 0 };

	if (len < OFF_DDP_HDR || !fpdu_get_ddp(p + OFF_DDP_HDR, len - OFF_DDP_HDR, &f))
		return;
	out->has_ddp = true;
	out->tagged = f.tagged;
	out->opcode = f.opcode;
	out->stag = f.stag;
	out->to = f.to;
	out->qn = f.qn;
	out->msn = f.msn;
	if (!read || f.tagged || f.opcode != RDMAP_READ_REQ || f.payload_len < READ_REQ)
		return;
	out->has_read_req = true;
	fpdu_get_read_req(&f, &out->read_req);
}

bool terminate_decode(
	const uint8_t *payload, size_t len, bool fpdu_mode, struct terminate_info *out)
{
	const uint8_t rfc_bits = rfc_hdrct.m | rfc_hdrct.d | rfc_hdrct.r;
	const struct hdrct *bits;
	struct triple rfc, siw, t;
	uint8_t h;

	*out = (struct terminate_info){ 0 };
	if (len < CONTROL)
		return false;
	h = payload[OFF_HDRCT];
	rfc = make_triple(payload[0] >> 4, payload[0] & 0xf, payload[1]);
	siw = make_triple(payload[0] & 0xf, payload[0] >> 4, payload[1]);
	if (h ? !(h & rfc_bits) : is_siw_order(rfc, siw, fpdu_mode)) {
		bits = &siw_hdrct;
		t = siw;
	} else {
		bits = &rfc_hdrct;
		t = rfc;
	}
	out->layer = t.layer;
	out->etype = t.etype;
	out->code = t.code;
	out->err = index_of(t);
	if (h & bits->d)
		get_headers(payload, len, h & bits->r, out);
	if (bits == &siw_hdrct && out->opcode == RDMAP_READ_REQ)
		out->msn = 0; /* siw has put the read size there */
	return true;
}
