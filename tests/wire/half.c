/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* half.c -- see half.h */

#include "half.h"

enum { FIRST = 1000 }; /* bytes of the segment */

void half_open(struct half *h, void **state, int usage)
{
	const struct rig_opts o = { .size = NOCRC_SIZE, .usage = usage };

	pair_open(&h->other, NULL);
	nocrc_open(&h->g, state, &o);
	h->b = (struct bytes){ 0 };
	fill(h->data, LARGE, 1);
}

void half_close(struct half *h)
{
	pair_exchange(&h->other);
	pair_close(&h->other);
	bytes_free(&h->b);
	rig_drop(&h->g);
}

/* That the first part has been read does not mean that it is at its place already; what
 * follows is read to its place. */
void half_send(struct half *h)
{
	nocrc_part(&h->g, &h->b, 0, FIRST);
	nocrc_part(&h->g, &h->b, FIRST, HALF);
}

void half_write(struct half *h, uint32_t stag, uint64_t to)
{
	nocrc_fpdu(&h->b, "c1 40 %4 %8 %p", stag, to + AT, h->data, (size_t)LARGE);
	half_send(h);
}

void half_answer(struct half *h, struct rpma_mr_local *mr)
{
	nocrc_read(&h->g, mr, 1, LARGE);
	nocrc_fpdu(&h->b, "c1 42 72706d61 0000000000000000 %p", h->data, (size_t)LARGE);
	half_send(h);
}

void half_rest(struct half *h)
{
	raw_send_maybe(&h->g.raw, h->b.p + HALF, h->b.len - HALF);
}

void expect_half_at(const struct half *h, const char *where)
{
	const char *end = h->g.mem.data + AT + HALF_PAYLOAD;

	check_all(h->g.mem.data, AT, 0, where);
	check_filled(h->g.mem.data + AT, HALF_PAYLOAD, 1, where);
	check_all(end, NOCRC_SIZE - AT - HALF_PAYLOAD, 0, where);
}
