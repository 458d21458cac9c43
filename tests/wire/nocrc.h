/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * nocrc.h -- a rig whose two sides do without the CRC, and what is sent in pieces
 *
 * The program has RPMA_TCP_CRC=off. The peer's sums are wrong, the library's are zero.
 */

#ifndef TESTS_NOCRC_H
#define TESTS_NOCRC_H 1

#include "rig.h"

/* In front of the payload of a tagged segment: length, DDP header */
#define TAGGED_HDR 16

#define NOCRC_READ "41 41 00000000 00000001 %4 00000000 72706d61 0000000000000000 %4 %4 %8"

/* Like rig_open(); only own, size, usage and side of o count. */
void nocrc_open(struct rig *g, void **state, const struct rig_opts *o);

/* One FPDU more. */
void nocrc_fpdu(struct bytes *b, const char *format, ...);
/* A message for the next receive, text; it is message number msn. */
void nocrc_message(struct bytes *b, uint32_t msn, const char *text);
/* A request to read len bytes at the library's address to; it is number msn. */
void nocrc_ask(struct bytes *b, const struct rig *g, uint32_t msn, uint32_t len, uint64_t to);

/* The next FPDU is this one. */
#define nocrc_expect(g, ...) nocrc_expect_at((g), HERE, __VA_ARGS__)
void nocrc_expect_at(struct rig *g, const char *where, const char *format, ...);
/* A Terminate about the tagged segment at seg, FIN, LOST. */
#define nocrc_ends(g, triple, hdr, seg) nocrc_ends_at((g), (triple), (hdr), (seg), HERE)
void nocrc_ends_at(struct rig *g, const char *triple, enum term_hdr hdr, const uint8_t *seg,
	const char *where);

/* [from, to) of b, and the library has read it. */
void nocrc_part(struct rig *g, const struct bytes *b, size_t from, size_t to);
/* The same in pieces that end at these places, which ascend; then the rest. */
void nocrc_cut(struct rig *g, const struct bytes *b, const size_t *cuts, size_t n);
/* The same in pieces of so many bytes. */
void nocrc_pieces(struct rig *g, const struct bytes *b, size_t size);

/* ---- all tests of large segments --------------------------------------------------- */

enum {
	NOCRC_SIZE = 1 << 19,	       /* of the region */
	NOCRC_BOX = NOCRC_SIZE - 4096, /* in it: there messages are received */
	LARGE = 60001,		       /* bytes of payload */
	AT = 1001,		       /* where it goes in the region: not aligned */
};

/* Where to cut a tagged segment with len bytes of payload, ascending: in the length, the
 * header, where just enough for the short way is still to come, in the payload, at its end,
 * in pad and CRC. Returns how many. */
#define NOCRC_CUTS 24
size_t nocrc_cuts(size_t len, size_t cut[NOCRC_CUTS]);

/* Messages, received in the box */
void nocrc_receive(struct rig *g, uint32_t msn);
#define nocrc_expect_message(g, msn, text) nocrc_expect_message_at((g), (msn), (text), HERE)
void nocrc_expect_message_at(struct rig *g, uint32_t msn, const char *text, const char *where);
/* A zero-length Read has its answer: all before it is placed. */
#define nocrc_expect_fence(g) nocrc_expect_at((g), HERE, "c1 42 72706d61 0000000000000000")
/* The region is zeros but for [off, off + len), which is of this seed, and the box. Zeros
 * again then. */
#define expect_only(mem, off, len, seed) expect_only_at((mem), (off), (len), (seed), HERE)
void expect_only_at(char *mem, size_t off, size_t len, uint64_t seed, const char *where);
/* A Read of len bytes to AT, its context CTX(100 + msn), and its request, number msn */
void nocrc_read(struct rig *g, struct rpma_mr_local *mr, uint32_t msn, uint32_t len);

#endif /* TESTS_NOCRC_H */
