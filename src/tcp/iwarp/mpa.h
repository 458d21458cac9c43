/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mpa.h -- the MPA start-up frames (RFC 5044 section 7.1, RFC 6581) and the
 * capability trailer that two peers of this library exchange in them
 *
 *   key(16) | flags(1) | revision(1) | PD_Length(2) |
 *   private data: [IRD/ORD block(4)] [the user's bytes] [trailer(20)]
 *
 * Pure functions, as in fpdu.h.
 */

#ifndef RPMA_IWARP_MPA_H
#define RPMA_IWARP_MPA_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MPA_HDR = 20,
	MPA_PD_MAX = 512, /* by RFC */
	MPA_FRAME_MAX = MPA_HDR + MPA_PD_MAX,
	MPA_ENHANCED = 4,
	MPA_TRAILER = 20,
	MPA_TRAILER_PD_MAX = 255, /* no trailer when PD_Length would pass it */
	MPA_DATA_MAX = 255,	  /* of the user's bytes */
	MPA_DEPTH_NONE = 0x3fff,  /* IRD or ORD: not negotiated */
};

/* Chosen once, at random, by this project. First 8 bytes of the trailer, and
 * SrcTO of the Read Request that stands in for it. */
#define MPA_CAP_MAGIC UINT64_C(0x72d4b1096fc35ae8)

enum mpa_cap {
	MPA_CAP_FLUSH = 0x0001,
	MPA_CAP_ATOMIC = 0x0002,
	MPA_CAP_IMM = 0x0004,
};

enum mpa_result {
	MPA_OK,
	MPA_MORE, /* all right so far, bytes are missing */
	MPA_E_KEY,
	MPA_E_REVISION, /* not 1 or 2 */
	MPA_E_LENGTH,	/* PD_Length over MPA_PD_MAX */
	MPA_E_ENHANCED, /* IRD/ORD block announced, but not there */
};

struct mpa_frame {
	bool reply;
	uint8_t revision;
	bool markers;  /* M */
	bool crc;      /* C */
	bool reject;   /* R */
	bool enhanced; /* S; revision 2 only */
	/* of the enhanced block */
	bool peer_to_peer; /* A */
	bool rtr_send;	   /* B */
	bool rtr_write;	   /* C */
	bool rtr_read;	   /* D */
	uint16_t ird;
	uint16_t ord;
	/* of the trailer */
	bool has_trailer;
	uint16_t caps;	    /* enum mpa_cap */
	uint16_t max_ulpdu; /* largest ULPDU_Length the sender accepts */
	/* the user's bytes, without block and trailer */
	const uint8_t *data;
	uint16_t data_len;
};

/* True when data_len bytes of the user's leave room for block and trailer. */
bool mpa_trailer_fits(size_t data_len);

/* Write the frame at out (MPA_FRAME_MAX bytes); returns its size. Reserved bits
 * are zero; B, C, D are written only with A. */
size_t mpa_encode(uint8_t *out, const struct mpa_frame *f);

/*
 * Judge the len bytes received so far; never reads beyond them. MPA_OK: *out is
 * filled (data leads into p) and *size is how many of the bytes the frame took.
 * A wrong key is found with the first byte that differs. Reserved bits, and S in
 * a revision 1 frame, are ignored. A trailer whose magic, version, role or CRC is
 * wrong is the user's data.
 * In a reject of revision 2 a missing enhanced block is no error (enhanced is
 * false then).
 */
enum mpa_result mpa_decode(
	const uint8_t *p, size_t len, bool reply, struct mpa_frame *out, size_t *size);

/* How many more bytes may be read without passing the end of the frame, after
 * mpa_decode() said MPA_MORE of these len. At least 1. */
size_t mpa_missing(const uint8_t *p, size_t len);

#endif /* RPMA_IWARP_MPA_H */
