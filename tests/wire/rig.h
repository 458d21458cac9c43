/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rig.h -- a connection of the library with a raw peer, in either role
 *
 * static void item_000_name(void **state)
 * {
 *	struct rig g;
 *
 *	rig_open(&g, state, NULL);	*state says which role the library has
 *	raw_fpdu(&g.raw, ...);
 *	rig_dies(&g, "11 00", TERM_DDP);
 * }
 * ... BOTH(item_000_name) in the table of tests: once in each role
 */

#ifndef TESTS_RIG_H
#define TESTS_RIG_H 1

#include "pair_ops.h"
#include "pair_wait.h"
#include "raw.h"

enum role { RESPONDER, INITIATOR, ROLES };

extern enum role rig_roles[ROLES];

#define AS(fn, role)                                                                               \
	{                                                                                          \
#fn " (" #role ")", fn, NULL, NULL, &rig_roles[role]                               \
	}
#define BOTH(fn) AS(fn, RESPONDER), AS(fn, INITIATOR)

/* All zero: a foreign peer, a region of 4096 bytes for everything, depths of 16. */
struct rig_opts {
	bool own;    /* the peer says that it is this library */
	size_t size; /* of the region */
	int usage;
	int depth; /* of the peer, both ways */
	struct side_opts side;
};

struct rig {
	enum role role;
	struct net net;
	struct side side; /* the library's end */
	struct region mem;
	uint32_t stag; /* of mem, and where it begins */
	uint64_t to;
	struct raw raw;	   /* the other end */
	struct region far; /* a place that the raw peer has, in the library's eyes */
};

#define FAR_STAG 0x00ab3c07
#define FAR_TO UINT64_C(0x00007f0011223344)

/* First thing in main. */
void wire_init(void);

/* Connected, start-up over, both sides silent. */
void rig_open(struct rig *g, void **state, const struct rig_opts *o);
/* The raw peer says FIN, the library hears CLOSED. */
void rig_close(struct rig *g);
/* Everything as it is; the raw peer may be closed already. */
void rig_drop(struct rig *g);
/* The library sends this Terminate and nothing more, tells LOST, and its region
 * is as it was at first. Drops the rig. */
#define rig_dies(g, triple, hdr) rig_dies_at((g), (triple), (hdr), HERE)
void rig_dies_at(struct rig *g, const char *triple, enum term_hdr hdr, const char *where);
/* The same, but the region is the test's business, and the rig stays. */
#define rig_ends(g, triple, hdr) rig_ends_at((g), (triple), (hdr), HERE)
void rig_ends_at(struct rig *g, const char *triple, enum term_hdr hdr, const char *where);

/* A zero-length Read with this MSN, and its answer: all before it is placed. */
void rig_fence(struct rig *g, uint32_t msn);

/* Address and key of a registration */
uint64_t to_of(const struct rpma_mr_local *mr);
uint32_t stag_of(const struct rpma_mr_local *mr);
/* What the library takes for a region of the raw peer: FAR_STAG, FAR_TO, huge */
struct rpma_mr_remote *far_region(void);

/* ---- start-up step by step --------------------------------------------------- */

#define REQ "4d504120494420526571204672616d65"
#define REP "4d504120494420526570204672616d65"
#define WRITE_RTR "000ec140 00000001 0000000000000000 ebd34c5f"

/* Wait for the request, accept it with this private data (or NULL). */
struct rpma_conn *rig_accept(struct net *n, const struct side_opts *o);
/* Start to connect to the door; the raw peer has read and checked the request when
 * this returns. data_len of o: its private data. */
struct rpma_conn *rig_connect(
	struct net *n, struct raw_door *d, struct raw *r, const struct side_opts *o);

#endif /* TESTS_RIG_H */
