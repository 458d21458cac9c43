/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_hall.h -- a server with a shared receive queue, for many connections */

#ifndef TESTS_PAIR_HALL_H
#define TESTS_PAIR_HALL_H 1

#include "pair_ops.h"

#define SLOT 64
#define SLOTS 64

/* A server whose connections share a receive queue, slot i for receive i */
struct hall {
	struct net net;
	struct rpma_srq *srq;
	struct rpma_cq *cq;
	struct region mem;
	struct pair_opts opts;
};

/* rcq_size 0: the queue has no completion queue of its own. */
void hall_open(struct hall *h, uint32_t rq_size, uint32_t rcq_size);
void hall_close(struct hall *h);

/* Post a receive into this slot, which is also its context. */
int post_slot(struct hall *h, uint64_t slot);
/* The next completion of the shared queue, of whichever connection */
struct ibv_wc next_shared(struct hall *h);
/* Send a slot full of this content; returns when it has arrived. */
void send_seed(struct side *s, struct region *r, uint64_t seed);

#endif /* TESTS_PAIR_HALL_H */
