/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * load.h -- a connection under load; the same at both ends
 *
 * Its memory, the arena, has two halves of "depth" slots each. The first half is the
 * other side's target, and where messages are received; the second is where our own
 * requests take their data, or put it. A slot is a message rounded up to 64 bytes.
 * Request number n uses slot n % depth, at both ends.
 *
 * Requests complete in order, so that "started" is a ring.
 */

#ifndef LOAD_H
#define LOAD_H 1

#include <stdatomic.h>

#include "hist.h"
#include "link.h"
#include "memory.h"

enum { LOADS_MAX = 1024 }; /* of one thread */

struct load_spec {
	enum op op;
	uint64_t size;
	uint32_t depth;
	unsigned flags; /* HELLO_* */
	uint64_t seed;	/* of the pattern that messages consist of */
};

struct load {
	struct load_spec spec;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int cq_fd;
	struct rpma_mr_remote *remote; /* the other side's arena */
	struct mem mem;
	struct rpma_mr_local *mr;
	uint64_t *started; /* of slots, nanoseconds */
	uint64_t posted;
	uint64_t done;
	uint64_t last; /* when the last one was done */
	uint64_t mismatches;
	struct hist *hist;	   /* where times go; NULL: nowhere */
	atomic_ullong *count;	   /* of messages done; NULL: not counted */
	enum ibv_wc_status status; /* why it ended */
	int error;		   /* of the library, why it ended */
};

static inline uint64_t load_slot_size(const struct load_spec *s)
{
	return (s->size + 63) & ~(uint64_t)63;
}

static inline uint64_t load_arena_size(const struct load_spec *s)
{
	return 2 * s->depth * load_slot_size(s);
}

/* Does the peer of who sends this need receives? */
static inline bool op_needs_receive(enum op op)
{
	return op == OP_SEND || op == OP_WRITE_IMM;
}

const char *op_name(enum op op);

/* Get and register l->mem, of the kind of like, and fill our half. 0, -errno or an
 * error of the library. */
int load_prepare(struct load *l, const struct site *s, const struct mem *like);
void load_release(struct load *l);

/* Each returns false when the load has ended: l->status or l->error tell. */

/* Post all receives, before there is a connection. */
bool load_receives(struct load *l, struct rpma_conn_req *req);
/* Post requests up to the depth, and to number limit. */
bool load_post(struct load *l, uint64_t limit);
/* Take what has completed; receives are posted again. *got: how many. */
bool load_take(struct load *l, int *got);
/* Has the slot at offset the pattern? Counts it when not. */
void load_check(struct load *l, uint64_t offset);
/* Where request n takes or puts data here, and where at the other side. */
uint64_t own_offset(const struct load *l, uint64_t n);
uint64_t target_offset(const struct load *l, uint64_t n);

/* Wait for one of n loads, LOADS_MAX at most: let other threads run or, where the spec
 * says so, sleep up to ms. */
void load_idle(struct load *const *loads, unsigned n, int ms);

void pattern_fill(void *buf, uint64_t size, uint64_t seed);
bool pattern_matches(const void *buf, uint64_t size, uint64_t seed);

#endif /* LOAD_H */
