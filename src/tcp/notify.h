/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * notify.h -- a descriptor that counts queued things
 *
 * The fds that the public API hands out: readable while something is queued,
 * blocking or not as the user set O_NONBLOCK on them, close-on-exec. Each
 * notify_post() lets one notify_wait() return. The queue itself is the owner's;
 * it must bear that a wait returns with its queue empty (the thing was taken
 * back).
 *
 * notify_close() may run while others wait: they return -ECANCELED, and it
 * returns after the last of them has left. Lock: its own, a leaf.
 */

#ifndef RPMA_TCP_NOTIFY_H
#define RPMA_TCP_NOTIFY_H 1

#include <pthread.h>
#include <stdbool.h>

struct notify {
	int fd;			/* an eventfd in semaphore mode */
	pthread_mutex_t lock;
	pthread_cond_t left;
	unsigned waiters;
	bool closing;
};

int notify_init(struct notify *n);
void notify_post(struct notify *n);
/* 0: one post consumed; -EAGAIN: none, and O_NONBLOCK is set; -ECANCELED. */
int notify_wait(struct notify *n);
void notify_close(struct notify *n);

#endif /* RPMA_TCP_NOTIFY_H */
