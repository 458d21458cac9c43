/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* half.h -- a large segment without a CRC, half of which is at its place already */

#ifndef TESTS_HALF_H
#define TESTS_HALF_H 1

#include "nocrc.h"

enum {
	HALF = 30000, /* bytes of the segment */
	HALF_PAYLOAD = HALF - TAGGED_HDR,
};

/* A rig, a segment, and a connection that has nothing to do with it */
struct half {
	struct rig g;
	struct pair other;
	struct bytes b;
	uint8_t data[LARGE]; /* payload, of seed 1 */
};

/* usage: of the rig's region, 0: everything */
void half_open(struct half *h, void **state, int usage);
/* The other connection is alive, too. */
void half_close(struct half *h);

/* The half of what is in b; it has been read. */
void half_send(struct half *h);
/* A Write to AT behind to, and the half of it */
void half_write(struct half *h, uint32_t stag, uint64_t to);
/* A Read of LARGE bytes to AT, CTX(101), and the half of its answer */
void half_answer(struct half *h, struct rpma_mr_local *mr);
/* The rest, whether the library wants it or not. */
void half_rest(struct half *h);

/* In the region is what came, and nothing else. */
#define expect_half(h) expect_half_at((h), HERE)
void expect_half_at(const struct half *h, const char *where);

#endif /* TESTS_HALF_H */
