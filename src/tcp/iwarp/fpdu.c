/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fpdu.c -- between FPDUs and host-order structs
 */

#include "base/bytes.h"
#include "tcp/iwarp/crc.h"
#include "tcp/iwarp/fpdu.h"

enum {
	OFF_DDP = 2, /* from the length field on */
	OFF_RDMAP = 3,
	/* DDP control */
	DDP_T = 0x80,
	DDP_L = 0x40,
	DDP_VERSION_MASK = 0x03,
	DDP_VERSION = 0x01,
	/* RDMAP control */
	RDMAP_VERSION_MASK = 0xc0,
	RDMAP_VERSION = 0x40,
	RDMAP_OPCODE_MASK = 0x0f,
	/* RDMAP header fields */
	ATOMIC_OP_MASK = 0x0f,
	CRC_SIZE = 4,
};

/* What a segment of an opcode must look like. */
struct op_info {
	bool tagged;
	bool single;  /* the message is one segment: L set, MO zero */
	uint8_t qn;   /* untagged */
	uint16_t min; /* bytes behind the DDP header */
	uint16_t max;
};

#define TAGGED_OP(X, name) X(name, true, false, 0, 0, FPDU_ULPDU_MAX)
#define SEND_OP(X, name) X(name, false, false, DDP_QN_SEND, 0, FPDU_ULPDU_MAX)
#define FIXED_OP(X, name, qn, whole)                                                               \
	X(name, false, true, qn, whole - FPDU_UNTAGGED_HDR, whole - FPDU_UNTAGGED_HDR)

#define OPCODES(X)                                                                                 \
	TAGGED_OP(X, WRITE)                                                                        \
	FIXED_OP(X, READ_REQ, DDP_QN_READ, FPDU_READ_REQ_HDR)                                      \
	TAGGED_OP(X, READ_RESP)                                                                    \
	SEND_OP(X, SEND)                                                                           \
	SEND_OP(X, SEND_INV)                                                                       \
	SEND_OP(X, SEND_SE)                                                                        \
	SEND_OP(X, SEND_SE_INV)                                                                    \
	X(TERMINATE, false, true, DDP_QN_TERMINATE, 4, FPDU_ULPDU_MAX)                             \
	FIXED_OP(X, IMM, DDP_QN_SEND, FPDU_IMM_HDR)                                                \
	FIXED_OP(X, IMM_SE, DDP_QN_SEND, FPDU_IMM_HDR)                                             \
	FIXED_OP(X, ATOMIC_REQ, DDP_QN_READ, FPDU_ATOMIC_REQ_HDR)                                  \
	FIXED_OP(X, ATOMIC_RESP, DDP_QN_RESPONSE, FPDU_ATOMIC_RESP_HDR)                            \
	FIXED_OP(X, FLUSH_REQ, DDP_QN_READ, FPDU_FLUSH_REQ_HDR)                                    \
	FIXED_OP(X, FLUSH_RESP, DDP_QN_RESPONSE, FPDU_UNTAGGED_HDR)

#define INFO(name, t, s, q, lo, hi)                                                                \
	[RDMAP_##name] = { .tagged = (t), .single = (s), .qn = (q), .min = (lo), .max = (hi) },
static const struct op_info op_info[RDMAP_OPCODES] = { OPCODES(INFO) };

#define KNOWN (RDMAP_SET_BASE | RDMAP_SET_IMM | RDMAP_SET_ATOMIC | RDMAP_SET_FLUSH)
#define AS_BIT(name, ...) | RDMAP_BIT(RDMAP_##name)
_Static_assert((0 OPCODES(AS_BIT)) == KNOWN, "every opcode of the sets has a row");

/* ---- receive ------------------------------------------------------------ */

uint16_t fpdu_peek_len(const uint8_t *p)
{
	return get_be16(p);
}

static void get_tagged(const uint8_t *p, struct fpdu *out)
{
	out->stag = get_be32(p + 2);
	out->to = get_be64(p + 6);
	out->payload = p + DDP_TAGGED_HDR;
}

static void get_untagged(const uint8_t *p, struct fpdu *out)
{
	out->inv_stag = get_be32(p + 2);
	out->qn = get_be32(p + 6);
	out->msn = get_be32(p + 10);
	out->mo = get_be32(p + 14);
	out->payload = p + DDP_UNTAGGED_HDR;
}

bool fpdu_get_ddp(const uint8_t *p, size_t len, struct fpdu *out)
{
	if (len < DDP_TAGGED_HDR || (!(p[0] & DDP_T) && len < DDP_UNTAGGED_HDR))
		return false;
	out->ddp_hdr = p;
	out->tagged = p[0] & DDP_T;
	out->last = p[0] & DDP_L;
	out->opcode = p[1] & RDMAP_OPCODE_MASK;
	if (out->tagged)
		get_tagged(p, out);
	else
		get_untagged(p, out);
	out->payload_len = (uint32_t)(len - (size_t)(out->payload - p));
	return true;
}

static bool crc_matches(const uint8_t *p, uint16_t ulpdu_len)
{
	size_t covered = fpdu_wire_size(ulpdu_len) - CRC_SIZE;

	return crc32c(0, p, covered) == get_le32(p + covered);
}

static enum iwarp_err check_versions(const uint8_t *p)
{
	if ((p[OFF_DDP] & DDP_VERSION_MASK) != DDP_VERSION)
		return p[OFF_DDP] & DDP_T ? IWARP_DDP_T_VERSION : IWARP_DDP_U_VERSION;
	if ((p[OFF_RDMAP] & RDMAP_VERSION_MASK) != RDMAP_VERSION)
		return IWARP_RDMAP_VERSION;
	return IWARP_OK;
}

static enum iwarp_err check_opcode(const struct fpdu *f, unsigned enabled)
{
	const struct op_info *op = &op_info[f->opcode];

	if (!(enabled & KNOWN & RDMAP_BIT(f->opcode)) || op->tagged != f->tagged)
		return IWARP_RDMAP_OPCODE;
	if (f->tagged)
		return IWARP_OK;
	if (op->qn != f->qn)
		return IWARP_DDP_U_QN;
	if (f->payload_len < op->min)
		return IWARP_MPA_LENGTH;
	if (!op->single)
		return IWARP_OK;
	if (f->payload_len > op->max || !f->last)
		return IWARP_RDMAP_UNSPECIFIED;
	return f->mo == 0 ? IWARP_OK : IWARP_DDP_U_MO;
}

enum iwarp_err fpdu_decode(const uint8_t *p, bool crc, unsigned enabled, struct fpdu *out)
{
	uint16_t len = get_be16(p);
	enum iwarp_err err;

	*out = (struct fpdu){ .ulpdu_len = len };
	if (!fpdu_get_ddp(p + OFF_DDP, len, out))
		return IWARP_MPA_LENGTH;
	if (crc && !crc_matches(p, len)) {
		out->ddp_hdr = NULL; /* not to be believed */
		return IWARP_MPA_CRC;
	}
	err = check_versions(p);
	return err != IWARP_OK ? err : check_opcode(out, enabled);
}

void fpdu_get_read_req(const struct fpdu *f, struct rdmap_read_req *out)
{
	const uint8_t *p = f->payload;

	out->sink_stag = get_be32(p);
	out->sink_to = get_be64(p + 4);
	out->size = get_be32(p + 12);
	out->src_stag = get_be32(p + 16);
	out->src_to = get_be64(p + 20);
}

void fpdu_get_atomic_req(const struct fpdu *f, struct rdmap_atomic_req *out)
{
	const uint8_t *p = f->payload;

	out->op = get_be32(p) & ATOMIC_OP_MASK;
	out->id = get_be32(p + 4);
	out->stag = get_be32(p + 8);
	out->to = get_be64(p + 12);
	out->data = get_be64(p + 20);
	out->mask = get_be64(p + 28);
	out->compare = get_be64(p + 36);
	out->compare_mask = get_be64(p + 44);
}

void fpdu_get_atomic_resp(const struct fpdu *f, struct rdmap_atomic_resp *out)
{
	out->id = get_be32(f->payload);
	out->original = get_be64(f->payload + 4);
}

void fpdu_get_flush_req(const struct fpdu *f, struct rdmap_flush_req *out)
{
	const uint8_t *p = f->payload;

	out->stag = get_be32(p);
	out->length = get_be32(p + 4);
	out->to = get_be64(p + 8);
	out->flags = get_be32(p + 16);
}

uint64_t fpdu_get_imm(const struct fpdu *f)
{
	return get_be64(f->payload);
}

/* ---- send --------------------------------------------------------------- */

static void put_control(
	uint8_t *p, uint32_t ulpdu_len, uint8_t t, bool last, enum rdmap_opcode opcode)
{
	put_be16(p, (uint16_t)ulpdu_len);
	p[OFF_DDP] = (uint8_t)(t | (last ? DDP_L : 0) | DDP_VERSION);
	p[OFF_RDMAP] = (uint8_t)(RDMAP_VERSION | opcode);
}

size_t fpdu_put_tagged(uint8_t *p, enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to,
	uint32_t payload_len)
{
	put_control(p, DDP_TAGGED_HDR + payload_len, DDP_T, last, opcode);
	put_be32(p + 4, stag);
	put_be64(p + 8, to);
	return FPDU_TAGGED_HDR;
}

size_t fpdu_put_untagged(uint8_t *p, enum rdmap_opcode opcode, bool last, enum ddp_queue qn,
	uint32_t msn, uint32_t mo, uint32_t payload_len)
{
	put_control(p, DDP_UNTAGGED_HDR + payload_len, 0, last, opcode);
	put_be32(p + 4, 0);
	put_be32(p + 8, qn);
	put_be32(p + 12, msn);
	put_be32(p + 16, mo);
	return FPDU_UNTAGGED_HDR;
}

/* The DDP header of a message that is all header; returns where the rest goes. */
static uint8_t *put_message(uint8_t *p, enum rdmap_opcode opcode, uint32_t msn)
{
	const struct op_info *op = &op_info[opcode];

	return p + fpdu_put_untagged(p, opcode, true, op->qn, msn, 0, op->min);
}

size_t fpdu_put_read_req(uint8_t *p, uint32_t msn, const struct rdmap_read_req *r)
{
	uint8_t *h = put_message(p, RDMAP_READ_REQ, msn);

	put_be32(h, r->sink_stag);
	put_be64(h + 4, r->sink_to);
	put_be32(h + 12, r->size);
	put_be32(h + 16, r->src_stag);
	put_be64(h + 20, r->src_to);
	return FPDU_READ_REQ_HDR;
}

size_t fpdu_put_atomic_req(uint8_t *p, uint32_t msn, const struct rdmap_atomic_req *r)
{
	uint8_t *h = put_message(p, RDMAP_ATOMIC_REQ, msn);

	put_be32(h, r->op & ATOMIC_OP_MASK);
	put_be32(h + 4, r->id);
	put_be32(h + 8, r->stag);
	put_be64(h + 12, r->to);
	put_be64(h + 20, r->data);
	put_be64(h + 28, r->mask);
	put_be64(h + 36, r->compare);
	put_be64(h + 44, r->compare_mask);
	return FPDU_ATOMIC_REQ_HDR;
}

size_t fpdu_put_atomic_resp(uint8_t *p, uint32_t msn, const struct rdmap_atomic_resp *r)
{
	uint8_t *h = put_message(p, RDMAP_ATOMIC_RESP, msn);

	put_be32(h, r->id);
	put_be64(h + 4, r->original);
	return FPDU_ATOMIC_RESP_HDR;
}

size_t fpdu_put_flush_req(uint8_t *p, uint32_t msn, const struct rdmap_flush_req *r)
{
	uint8_t *h = put_message(p, RDMAP_FLUSH_REQ, msn);

	put_be32(h, r->stag);
	put_be32(h + 4, r->length);
	put_be64(h + 8, r->to);
	put_be32(h + 16, r->flags);
	return FPDU_FLUSH_REQ_HDR;
}

size_t fpdu_put_flush_resp(uint8_t *p, uint32_t msn)
{
	return (size_t)(put_message(p, RDMAP_FLUSH_RESP, msn) - p);
}

size_t fpdu_put_imm(uint8_t *p, uint32_t msn, uint64_t imm)
{
	put_be64(put_message(p, RDMAP_IMM, msn), imm);
	return FPDU_IMM_HDR;
}

size_t fpdu_put_end(uint8_t *t, size_t len, uint32_t sum, bool crc)
{
	size_t pad = -len & 3;

	memset(t, 0, pad);
	put_le32(t + pad, crc ? crc32c(sum, t, pad) : 0);
	return pad + CRC_SIZE;
}

size_t fpdu_put_trailer(
	uint8_t *t, const uint8_t *hdr, size_t hdr_len, const void *data, size_t data_len, bool crc)
{
	uint32_t sum = 0;

	if (crc)
		sum = crc32c(0, hdr, hdr_len);
	if (crc && data_len > 0)
		sum = crc32c(sum, data, data_len);
	return fpdu_put_end(t, hdr_len + data_len, sum, crc);
}
