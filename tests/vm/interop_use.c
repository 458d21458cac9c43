/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop_use.c -- an operation in each direction; see interop.h */

#include "interop.h"

#define LEN 4096

static void near_to_far(struct duo *d, int op, unsigned seed)
{
	struct xfer x = line_xfer(d, 0, LEN, CTX(1));

	fill(x.local->data, LEN, seed);
	far_fill(d, 0, LEN, op == OP_READ ? seed + 1 : 0);
	if (op == OP_SEND) {
		far_tell(d, "recv 0 %d\n", LEN);
		far_answer(d, "recv", NULL);
	}
	op_post(&ops[op], &x);
	expect_done(x.by, CTX(1));
	arrive(x.by);
	if (op == OP_SEND) {
		far_tell(d, "got 0\n");
		far_answer(d, "got 0", NULL);
	}
	if (op == OP_READ)
		assert_filled(x.local->data, LEN, seed + 1);
	else
		assert_far_filled(d, 0, LEN, seed);
}

static void far_to_near(struct duo *d, int op, unsigned seed)
{
	struct line *l = &d->line[0];

	fill(l->mem.data, LEN, op == OP_READ ? seed + 1 : 0);
	far_fill(d, 0, LEN, seed);
	if (op == OP_SEND)
		post_recv(&l->side, &l->mem, LEN, CTX(2));
	far_tell(d, "op 0 %d %d\n", op, LEN);
	far_answer(d, "op 0", NULL);
	if (op == OP_SEND)
		assert_int_equal(expect_recv(&l->side, CTX(2)).byte_len, LEN);
	far_reads(d, 0); /* then it has arrived */
	if (op == OP_READ)
		assert_far_filled(d, 0, LEN, seed + 1);
	else
		assert_filled(l->mem.data, LEN, seed);
}

void use_both_ways(struct duo *d, int op, unsigned seed)
{
	near_to_far(d, op, seed);
	far_to_near(d, op, seed + 2);
}
