/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_ops.h -- every operation of the API behind one call, as a table */

#ifndef TESTS_PAIR_OPS_H
#define TESTS_PAIR_OPS_H 1

#include "pair.h"
#include "pair_mem.h"

/* Opcodes of completions that older headers of verbs do not know */
enum { WC_FLUSH = 8, WC_ATOMIC_WRITE = 9 };

/* One request: of this side, between its region and the other side's */
struct xfer {
	struct side *by;
	struct region *local;
	size_t local_off;
	struct region *remote;
	size_t remote_off;
	size_t len;
	int flags; /* 0: RPMA_F_COMPLETION_ALWAYS */
	uint32_t imm;
	const void *ctx;
};

struct op {
	const char *name;
	int (*post)(const struct xfer *x);
	int opcode;	     /* of its completion */
	int opcode_emulated; /* ... where the provider has it not natively */
	int recv_opcode;     /* of the receive it takes at the target, -1: none */
	bool imm;
	int local_usage; /* what the regions need */
	int remote_usage;
	size_t unit; /* the only length it has, 0: any */
};

enum {
	OP_READ,
	OP_WRITE,
	OP_WRITE_IMM,
	OP_ATOMIC_WRITE,
	OP_FLUSH_VISIBILITY,
	OP_FLUSH_PERSISTENT,
	OP_SEND,
	OP_SEND_IMM,
	OP_COUNT,
};

extern const struct op ops[OP_COUNT];

/* The opcode that this provider completes it with. */
int op_opcode(const struct op *op);
/* Does this provider do it at all? */
bool op_exists(const struct op *op);

/* Post it; must succeed. */
#define op_post(op, x) check_code(0, (op)->post(x), (op)->name, HERE)

/* Everything that this side has posted so far has arrived. Nothing else of it may
 * be outstanding where the provider does not acknowledge. */
#define arrive(side) arrive_at((side), HERE)
void arrive_at(struct side *s, const char *where);

/* Post a receive of the first len bytes of a region; none: r NULL, len 0. */
#define post_recv(side, r, len, ctx)                                                               \
	check_code(0, recv_at((side), (r), 0, (len), (ctx)), "rpma_recv", HERE)
int recv_at(struct side *s, struct region *r, size_t off, size_t len, const void *ctx);

/* A message in each direction, with memory of its own. */
void pair_exchange(struct pair *p);

/*
 * A pair with a region on each side. For an operation from one side to the
 * other: field_xfer(&f, from, len, ctx) gives the request that moves the first len bytes.
 */
struct field {
	struct pair pair;
	struct region mem[SIDES];
};

void field_open(struct field *f, const struct pair_opts *opts, size_t size);
void field_connect(struct field *f, struct net *n, const struct pair_opts *opts, size_t size);
void field_close(struct field *f);
/* Like pair_drop: the connection is broken already. */
void field_drop(struct field *f);
struct xfer field_xfer(struct field *f, int from, size_t len, const void *ctx);

#endif /* TESTS_PAIR_OPS_H */
