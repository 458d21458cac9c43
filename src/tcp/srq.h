/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * srq.h -- shared receive queues
 *
 * A connection that finds none puts its watch into waiting and is kicked when
 * one is posted. It leaves (srq_leave) before it is destroyed.
 *
 * Lock: srq->lock; taken under a connection's, before the engine's and a cq's.
 */

#ifndef RPMA_TCP_SRQ_H
#define RPMA_TCP_SRQ_H 1

#include <pthread.h>

#include "base/list.h"
#include "provider.h"
#include "tcp/engine.h"
#include "tcp/wq.h"

/* A connection's place in the queue of those who wait. */
struct srq_waiter {
	struct list node;
	struct watch *watch;
};

struct tcp_srq {
	struct rp_srq base;
	pthread_mutex_t lock;
	struct rq rq;
	struct list waiting; /* srq_waiter.node */
	unsigned users;	     /* connections set up with it */
	struct list cqs;     /* tcp_cq.served: where its receives complete */
};

int srq_create(struct rp_pd *pd, uint32_t size, struct rp_srq **srq);
int srq_destroy(struct rp_srq *srq);

/* A connection begins and ends to use it; receives complete into cq. */
int srq_join(struct rp_srq *srq, struct rp_cq *cq);
void srq_leave(struct rp_srq *srq, struct srq_waiter *waiter);
/* Take a receive, or queue the waiter and return false. */
bool srq_take(struct rp_srq *srq, struct rwqe *wqe, struct srq_waiter *waiter);

#endif /* RPMA_TCP_SRQ_H */
