/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * terminate.h -- the Terminate message (RFC 5040 section 4.8)
 *
 * Written in the RFC's layout. Read in the RFC's and in those of kernel siw
 * (nibbles and header bits swapped) and of adapters that report MPA errors as
 * type 3, with one result. Pure functions, as in fpdu.h.
 */

#ifndef RPMA_IWARP_TERMINATE_H
#define RPMA_IWARP_TERMINATE_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tcp/iwarp/fpdu.h"

enum {
	/* length field, DDP header, 4 + 2 + 18 + 28 bytes */
	FPDU_TERMINATE_MAX = FPDU_UNTAGGED_HDR + 52,
};

/* The segment that an outgoing Terminate is about; kept by value, since the
 * error may be found after the segment is gone. */
struct terminate_cause {
	enum iwarp_err err;
	uint8_t ddp_hdr[DDP_UNTAGGED_HDR];
	uint8_t ddp_hdr_len; /* 0: no header at hand; else 14 or 18 */
	uint16_t ulpdu_len;
	bool has_read_req;
	struct rdmap_read_req read_req; /* advanced by what was answered already */
};

/* Cause from a segment just decoded (as far as it was decoded); NULL: none. */
void terminate_cause_set(struct terminate_cause *c, enum iwarp_err err, const struct fpdu *f);

/* The message with length field and headers, without trailer, at p
 * (FPDU_TERMINATE_MAX bytes); headers as iwarp_err_info says, as far as at hand.
 * Returns its size. */
size_t terminate_encode(uint8_t *p, const struct terminate_cause *c);

/* What an incoming Terminate says. Diagnostics: the connection is lost anyway. */
struct terminate_info {
	uint8_t layer;
	uint8_t etype;
	uint8_t code;
	enum iwarp_err err; /* the same as index; IWARP_OK: none of ours */
	/* the segment of ours it is about, when a readable header came along */
	bool has_ddp;
	bool tagged;
	enum rdmap_opcode opcode;
	uint32_t stag; /* tagged */
	uint64_t to;
	uint32_t qn;  /* untagged */
	uint32_t msn; /* 0 in siw's about a Read Request: not told */
	/* the Read Request it is about, when that came along */
	bool has_read_req;
	struct rdmap_read_req read_req;
};

/* payload: behind the DDP header. fpdu_mode: we have sent an FPDU on this
 * connection (decides between two readings of a header-less siw Terminate).
 * False: too short to say anything; *out is zeroed. Never reads beyond len. */
bool terminate_decode(
	const uint8_t *payload, size_t len, bool fpdu_mode, struct terminate_info *out);

#endif /* RPMA_IWARP_TERMINATE_H */
