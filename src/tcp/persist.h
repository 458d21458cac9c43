/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * persist.h -- making placed bytes durable
 *
 * By the strongest means that the mapping has (enum persist_kind), and exactly
 * the asked range, rounded out to cache lines or pages. What may wait for a disk
 * is done by threads of its own, so that no other connection waits for it.
 *
 * Lock: persist.c's own; taken under a connection's, before mem's.
 */

#ifndef RPMA_TCP_PERSIST_H
#define RPMA_TCP_PERSIST_H 1

#include <stdbool.h>

#include "base/list.h"
#include "tcp/mem.h"

enum persist_state {
	PERSIST_IDLE,
	PERSIST_QUEUED,
	PERSIST_RUNNING,
	PERSIST_DONE,
};

/* A piece of work for the threads; embedded in its owner, one at a time. */
struct persist_job {
	struct tcp_mr *mr; /* an open access, closed when the work is done */
	uint64_t addr;
	uint64_t length;
	void (*done)(struct persist_job *job); /* called by the thread, no lock held, when
				 * the work is done; may submit the job again */
	/* by the lock */
	struct list node;
	enum persist_state state;
	unsigned busy; /* threads that have it in hand, or are in done */
	int result;    /* 0 or -errno, in state DONE */
};

/* True when the range is durable, or has failed (*result), at once; false when it
 * takes persist_submit(). Closes nothing. */
bool persist_now(struct tcp_mr *mr, uint64_t addr, uint64_t length, int *result);
/* -ENOMEM/-EAGAIN: no thread could be had, the access stays the caller's. */
int persist_submit(struct persist_job *job);
/* PERSIST_DONE is returned once; the job is idle then. */
enum persist_state persist_poll(struct persist_job *job, int *result);
/* Withdraw the job; waits while a thread has it. The caller holds nothing that done
 * needs, and has seen to it that done submits no more. */
void persist_cancel(struct persist_job *job);
/* Ends the threads; no job may be left. */
void persist_stop(void);

#endif /* RPMA_TCP_PERSIST_H */
