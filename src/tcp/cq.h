/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.h -- completion queues and completion channels
 *
 * A queue is as large as all the work queues that complete into it
 * (cq_reserve), so pushing cannot fail. An armed queue tells its channel of the
 * next completion, once; a channel keeps the queues that told, in order. A queue
 * is at most once in that list.
 *
 * A driver is the connection whose requests complete here. A thread that finds the
 * queue empty, or waits on the channel, lets it move its own bytes instead of
 * leaving that to the engine and being woken by it; see drive.c.
 *
 * Locks: cq->lock, then channel->lock, then the notify's; all leaves towards the
 * rest, so completions may be pushed under a connection's lock.
 */

#ifndef RPMA_TCP_CQ_H
#define RPMA_TCP_CQ_H 1

#include <pthread.h>

#include "base/list.h"
#include "provider.h"
#include "tcp/notify.h"
#include "tcp/wq.h"

struct tcp_channel;

struct cq_driver {
	/* Try once; does not block. No lock is held. */
	void (*poll)(struct cq_driver *d);
	/* Until channel_told_me() or the channel's descriptor is readable, or there is
	 * nothing to drive. No lock is held. */
	void (*wait)(struct cq_driver *d, struct tcp_channel *ch);
};

struct tcp_channel {
	struct rp_channel base;
	struct notify notify;
	pthread_mutex_t lock;
	pthread_cond_t gone;	  /* the driving thread has left */
	struct list told;	  /* tcp_cq.told */
	struct cq_driver *driver; /* or NULL */
	bool driving;		  /* by this thread: */
	pthread_t thread;
	unsigned direct; /* queues it was told of while driving, not by notify */
};

struct cqe {
	struct ibv_wc wc;
	struct wq_slots *slots; /* NULL: its queue is gone */
	uint32_t n_slots;	/* freed when this is polled */
};

struct tcp_cq {
	struct rp_cq base;
	struct ibv_cq face; /* base.source; nothing in it */
	pthread_mutex_t lock;
	struct cqe *ring;
	uint32_t size;
	uint32_t reserved;	      /* by work queues */
	struct list served;	      /* in tcp_srq.cqs of the shared receive queue that
				 * completes here, or alone */
	pthread_mutex_t *served_lock; /* of that queue, guards the list; or NULL */
	uint32_t head;		      /* of the ring, free-running */
	uint32_t tail;
	bool armed;
	struct cq_driver *driver; /* or NULL */
	struct list told;	  /* in channel->told, or alone; by channel->lock */
};

int channel_create(struct rp_device *dev, struct rp_channel **channel);
int channel_destroy(struct rp_channel *channel);
int channel_wait(struct rp_channel *channel, struct rp_cq **cq);

int cq_create(struct rp_device *dev, struct rp_channel *channel, uint32_t size, struct rp_cq **cq);
int cq_destroy(struct rp_cq *cq);
int cq_arm(struct rp_cq *cq);
int cq_poll(struct rp_cq *cq, int n, struct ibv_wc *wc);

/* Make room for n more completions; -ENOMEM. */
int cq_reserve(struct rp_cq *cq, uint32_t n);
void cq_push(struct rp_cq *cq, const struct ibv_wc *wc, struct wq_slots *slots, uint32_t n_slots);
/* The connection begins to drive queue and channel, or ends (returns when no thread
 * does it any more). */
void cq_set_driver(struct rp_cq *cq, struct cq_driver *driver);
void cq_clear_driver(struct rp_cq *cq, struct cq_driver *driver);
bool channel_told_me(struct tcp_channel *ch); /* asked by the driving thread */
/* A work queue goes: its unpolled completions stay, its slots are forgotten. */
void cq_forget(struct rp_cq *cq, const struct wq_slots *slots);

#endif /* RPMA_TCP_CQ_H */
