/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_hall.c -- see pair_hall.h */

#include "pair_hall.h"
#include "pair_wait.h"

static struct rpma_srq *make_srq(struct rpma_peer *peer, uint32_t rq_size, uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;

	assert_ok(rpma_srq_cfg_new(&cfg));
	assert_ok(rpma_srq_cfg_set_rq_size(cfg, rq_size));
	assert_ok(rpma_srq_cfg_set_rcq_size(cfg, rcq_size));
	assert_ok(rpma_srq_new(peer, cfg, &srq));
	assert_ok(rpma_srq_cfg_delete(&cfg));
	return srq;
}

void hall_open(struct hall *h, uint32_t rq_size, uint32_t rcq_size)
{
	*h = (struct hall){ 0 };
	net_open(&h->net);
	h->srq = make_srq(h->net.peer[SERVER], rq_size, rcq_size);
	h->opts.side[SERVER].srq = h->srq;
	assert_ok(rpma_srq_get_rcq(h->srq, &h->cq));
	assert_int_equal(h->cq != NULL, rcq_size > 0);
	region_open(&h->mem, h->net.peer[SERVER], SLOT * SLOTS, USAGE_ALL);
}

void hall_close(struct hall *h)
{
	assert_ok(rpma_srq_delete(&h->srq));
	assert_null(h->srq);
	region_close(&h->mem);
	net_close(&h->net);
}

int post_slot(struct hall *h, uint64_t slot)
{
	return rpma_srq_recv(h->srq, h->mem.mr, slot * SLOT, SLOT, CTX(slot));
}

struct ibv_wc next_shared(struct hall *h)
{
	struct side nobody = { 0 };
	struct ibv_wc wc;

	next_wc(&nobody, h->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

void send_seed(struct side *s, struct region *r, uint64_t seed)
{
	fill(r->data, SLOT, seed);
	assert_ok(rpma_send(s->conn, r->mr, 0, SLOT, RPMA_F_COMPLETION_ALWAYS, CTX(seed)));
	expect_done(s, CTX(seed));
}
