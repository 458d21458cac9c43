/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * wq.h -- the slots of a work queue, and the ring of posted receives
 *
 * Slots: a queue of size n bears n requests that were posted and are not yet
 * polled, as on an adapter. The slot of a request is freed when its completion is
 * polled; a request that ended without one frees its slot with the next that has
 * one. So the completions of a queue never outnumber its slots, and a completion
 * queue as large as the queues on it cannot overrun. slots are atomic, because
 * polling frees them without the queue's lock.
 */

#ifndef RPMA_TCP_WQ_H
#define RPMA_TCP_WQ_H 1

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wq_slots {
	atomic_uint free;
};

static inline bool wq_slot_take(struct wq_slots *s)
{
	unsigned n = atomic_load_explicit(&s->free, memory_order_acquire);

	while (n > 0)
		if (atomic_compare_exchange_weak(&s->free, &n, n - 1))
			return true;
	return false;
}

static inline void wq_slots_give(struct wq_slots *s, unsigned n)
{
	atomic_fetch_add_explicit(&s->free, n, memory_order_release);
}

/* A posted receive. */
struct rwqe {
	uint64_t wr_id;
	uint64_t addr;
	uint32_t length;
	uint32_t lkey; /* 0: no memory, length is 0 */
};

/* Receives in the order posted; the lock is the owner's. */
struct rq {
	struct wq_slots slots;
	struct rwqe *ring;
	uint32_t size;
	uint32_t head; /* next to take; free-running */
	uint32_t tail; /* next to post */
};

struct rp_recv_wr;

int rq_init(struct rq *q, uint32_t size); /* -ENOMEM */
void rq_free(struct rq *q);
int rq_post(struct rq *q, const struct rp_recv_wr *wr); /* -ENOMEM: full */
bool rq_take(struct rq *q, struct rwqe *wqe);

#endif /* RPMA_TCP_WQ_H */
