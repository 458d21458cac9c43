/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * gate.h -- waiting for something that arrives on a descriptor of rdma-core,
 * in a way that another thread can end
 *
 * The descriptor (the source) is always non-blocking, so that whoever asks it
 * gets an answer at once. What the user sees is an epoll descriptor over it:
 * readable when the source is, and its O_NONBLOCK flag, which means nothing to
 * the kernel, says whether the user wants to wait. A thread that waits sleeps in
 * epoll_wait(2) on it. A second descriptor in the set, always readable but
 * masked until the gate is closed or keeps something back, wakes all who sleep.
 */

#ifndef RPMA_VERBS_GATE_H
#define RPMA_VERBS_GATE_H 1

#include <pthread.h>
#include <stdbool.h>

struct gate {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t left; /* the last thread has */
	unsigned inside;
	bool closed;
};

/* Takes what is there now: 0, -EAGAIN (nothing) or another error. */
typedef int gate_take_fn(struct gate *gate, void *out);

int gate_open(struct gate *gate, int source);

/* Until take() brings something. BLOCKS, see the rules of provider.h. */
int gate_wait(struct gate *gate, gate_take_fn *take, void *out);

/* From take(): it keeps back something that it will bring the next time, or no longer
 * does. The descriptor is readable meanwhile. */
void gate_keep(struct gate *gate, bool something);

/* Turns out all who wait and returns when they have left. Later ones are turned
 * away. Repeatable. */
void gate_close(struct gate *gate);

/* Closed, or never waited at. The source stays open. */
void gate_free(struct gate *gate);

#endif /* RPMA_VERBS_GATE_H */
