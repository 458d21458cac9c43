/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fpdu.h -- FPDUs: MPA framing with the DDP and RDMAP headers inside
 * (RFC 5044 section 4, RFC 5041 section 4, RFC 5040 section 4, RFC 7306, and the
 * Flush messages of draft-talpey-rdma-commit-01)
 *
 * Pure functions between wire bytes (big-endian) and host-order structs: no
 * state, no allocation, no I/O. One FPDU:
 *
 *   length(2) | DDP header (14 tagged, 18 untagged) | RDMAP header or payload |
 *   pad to a multiple of 4 | CRC32c(4)
 */

#ifndef RPMA_IWARP_FPDU_H
#define RPMA_IWARP_FPDU_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tcp/iwarp/error.h"

enum rdmap_opcode {
	RDMAP_WRITE = 0x0,
	RDMAP_READ_REQ = 0x1,
	RDMAP_READ_RESP = 0x2,
	RDMAP_SEND = 0x3,
	RDMAP_SEND_INV = 0x4,
	RDMAP_SEND_SE = 0x5,
	RDMAP_SEND_SE_INV = 0x6,
	RDMAP_TERMINATE = 0x7,
	RDMAP_IMM = 0x8,
	RDMAP_IMM_SE = 0x9,
	RDMAP_ATOMIC_REQ = 0xa,
	RDMAP_ATOMIC_RESP = 0xb,
	RDMAP_FLUSH_REQ = 0xc,
	RDMAP_FLUSH_RESP = 0xd,
	RDMAP_OPCODES = 16,
};

/* Opcodes as a set, to say which of them a connection has agreed on. */
#define RDMAP_BIT(opcode) (1u << (opcode))
#define RDMAP_SET_BASE 0x00ffu	 /* RFC 5040: 0x0 to 0x7 */
#define RDMAP_SET_IMM 0x0300u	 /* RFC 7306 immediate data */
#define RDMAP_SET_ATOMIC 0x0c00u /* RFC 7306 atomics */
#define RDMAP_SET_FLUSH 0x3000u	 /* draft-talpey-rdma-commit-01 */

enum ddp_queue {
	DDP_QN_SEND = 0,
	DDP_QN_READ = 1, /* also atomic and flush requests */
	DDP_QN_TERMINATE = 2,
	DDP_QN_RESPONSE = 3, /* atomic and flush responses */
};

enum {
	FPDU_ULPDU_MAX = 65535,
	FPDU_TAGGED_HDR = 16, /* with the length field */
	FPDU_UNTAGGED_HDR = 20,
	FPDU_TRAILER_MAX = 7, /* pad and CRC */
	FPDU_MAX = 2 + FPDU_ULPDU_MAX + FPDU_TRAILER_MAX,
	DDP_TAGGED_HDR = 14, /* without it: ULPDU_Length of an empty segment */
	DDP_UNTAGGED_HDR = 18,
	FPDU_READ_REQ_HDR = 48,
	FPDU_ATOMIC_REQ_HDR = 72,
	FPDU_ATOMIC_RESP_HDR = 32,
	FPDU_FLUSH_REQ_HDR = 40,
	FPDU_IMM_HDR = 28,
	FPDU_HDR_MAX = FPDU_ATOMIC_REQ_HDR,
};

/* A segment as found in the stream. Pointers lead into the input. */
struct fpdu {
	enum rdmap_opcode opcode;
	bool tagged;
	bool last;
	uint16_t ulpdu_len;
	const uint8_t *ddp_hdr; /* from the DDP control byte on */
	/* tagged */
	uint32_t stag;
	uint64_t to;
	/* untagged */
	uint32_t inv_stag;
	uint32_t qn;
	uint32_t msn;
	uint32_t mo;
	/* behind the DDP header: data, or the RDMAP header */
	const uint8_t *payload;
	uint32_t payload_len;
};

struct rdmap_read_req {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

enum rdmap_atomic_op {
	RDMAP_FETCH_ADD = 0,
	RDMAP_CMP_SWAP = 2,
};

struct rdmap_atomic_req {
	uint32_t op; /* enum rdmap_atomic_op, or a peer's nonsense */
	uint32_t id;
	uint32_t stag;
	uint64_t to;
	uint64_t data; /* add or swap */
	uint64_t mask;
	uint64_t compare;
	uint64_t compare_mask;
};

struct rdmap_atomic_resp {
	uint32_t id;
	uint64_t original;
};

enum {
	RDMAP_FLUSH_PERSISTENT = 0x1,
	RDMAP_FLUSH_VISIBLE = 0x2,
};

struct rdmap_flush_req {
	uint32_t stag;
	uint32_t length;
	uint64_t to;
	uint32_t flags;
};

/* ---- receive ------------------------------------------------------------ */

/* Size on the wire of an FPDU whose ULPDU_Length is this: length field, ULPDU,
 * pad, CRC. */
static inline size_t fpdu_wire_size(uint16_t ulpdu_len)
{
	return ((2u + ulpdu_len + 3u) & ~3u) + 4u;
}

/* ULPDU_Length of the FPDU at p (2 bytes must be there). */
uint16_t fpdu_peek_len(const uint8_t *p);

/*
 * Decode the whole FPDU at p (fpdu_wire_size() bytes must be there) and check
 * all that can be judged without connection state, in this order: length, CRC
 * (if crc), DDP version, RDMAP version, opcode (must be in enabled), T flag and
 * queue number that fit the opcode, exact length and single segment where the
 * opcode has a fixed header. On an error *out is filled as far as it was read
 * (ddp_hdr NULL: not even the header), for the Terminate.
 */
enum iwarp_err fpdu_decode(const uint8_t *p, bool crc, unsigned enabled, struct fpdu *out);

/* The DDP segment of len bytes at p: header fields, unjudged, and what is behind the
 * header. False, and *out as it was, when it is too short for its header. */
bool fpdu_get_ddp(const uint8_t *p, size_t len, struct fpdu *out);

/* The RDMAP header of a decoded segment of the matching opcode. */
void fpdu_get_read_req(const struct fpdu *f, struct rdmap_read_req *out);
void fpdu_get_atomic_req(const struct fpdu *f, struct rdmap_atomic_req *out);
void fpdu_get_atomic_resp(const struct fpdu *f, struct rdmap_atomic_resp *out);
void fpdu_get_flush_req(const struct fpdu *f, struct rdmap_flush_req *out);
/* The 8 bytes of immediate data, as a number. */
uint64_t fpdu_get_imm(const struct fpdu *f);

/* ---- send --------------------------------------------------------------- */

/* Each writes length field and headers at p, returns how many bytes, and leaves
 * payload (payload_len bytes) and trailer to the caller. */
size_t fpdu_put_tagged(uint8_t *p, enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to,
	uint32_t payload_len);
size_t fpdu_put_untagged(uint8_t *p, enum rdmap_opcode opcode, bool last, enum ddp_queue qn,
	uint32_t msn, uint32_t mo, uint32_t payload_len);
/* Messages without payload. */
size_t fpdu_put_read_req(uint8_t *p, uint32_t msn, const struct rdmap_read_req *r);
size_t fpdu_put_atomic_req(uint8_t *p, uint32_t msn, const struct rdmap_atomic_req *r);
size_t fpdu_put_atomic_resp(uint8_t *p, uint32_t msn, const struct rdmap_atomic_resp *r);
size_t fpdu_put_flush_req(uint8_t *p, uint32_t msn, const struct rdmap_flush_req *r);
size_t fpdu_put_flush_resp(uint8_t *p, uint32_t msn);
size_t fpdu_put_imm(uint8_t *p, uint32_t msn, uint64_t imm);

/* Pad and CRC at t for an FPDU of hdr_len bytes of headers and data_len bytes of
 * payload that need not follow them in memory; returns how many bytes. Without
 * crc the field is zero. */
size_t fpdu_put_trailer(uint8_t *t, const uint8_t *hdr, size_t hdr_len, const void *data,
	size_t data_len, bool crc);
/* The same where sum, the CRC32c of the len bytes before t, is known. */
size_t fpdu_put_end(uint8_t *t, size_t len, uint32_t sum, bool crc);

#endif /* RPMA_IWARP_FPDU_H */
