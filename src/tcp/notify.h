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
 * Who waits does so between notify_enter() and notify_leave(), and looks into
 * the queue in there, too: notify_close() may run meanwhile, makes the waits
 * return -ECANCELED, and returns after the last has left, so that the owner may
 * go. Lock: its own, a leaf.
 */

#ifndef RPMA_TCP_NOTIFY_H
#define RPMA_TCP_NOTIFY_H 1

#include <pthread.h>
#include <stdbool.h>

struct notify {
	int fd; /* an eventfd in semaphore mode */
	pthread_mutex_t lock;
	pthread_cond_t left;
	unsigned waiters;
	bool closing;
};

int notify_init(struct notify *n);
void notify_post(struct notify *n);
int notify_enter(struct notify *n); /* -ECANCELED: it is being closed */
/* 0: one post consumed; -EAGAIN: none, and O_NONBLOCK is set; -ECANCELED. */
int notify_wait(struct notify *n);
bool notify_blocks(const struct notify *n); /* O_NONBLOCK is not set */
void notify_leave(struct notify *n);
void notify_close(struct notify *n);

#endif /* RPMA_TCP_NOTIFY_H */
