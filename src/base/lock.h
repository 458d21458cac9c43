/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * lock.h -- a mutex of one word, for what is held shortly and taken often
 *
 * Taking it while it is free and releasing it while nobody waits are one atomic
 * instruction each, in line. Who finds it taken sleeps in the kernel. Zeroed memory is
 * a free lock, and there is nothing to destroy.
 */

#ifndef RPMA_BASE_LOCK_H
#define RPMA_BASE_LOCK_H 1

#include <stdatomic.h>
#include <stdbool.h>

enum {
	LOCK_TAKEN = 1 << 0,
	LOCK_WANTED = 1 << 1, /* somebody may sleep until it is free */
};

struct lock {
	atomic_uint state; /* LOCK_* */
};

/* Not for direct use. */
void lock_wait(struct lock *l) __attribute__((cold));
void lock_wake(struct lock *l) __attribute__((cold));

/* Does not wait: true when it has been taken. */
static inline bool lock_try(struct lock *l)
{
	return !(
		atomic_fetch_or_explicit(&l->state, LOCK_TAKEN, memory_order_acquire) & LOCK_TAKEN);
}

static inline void lock_take(struct lock *l)
{
	if (!lock_try(l))
		lock_wait(l);
}

static inline void lock_release(struct lock *l)
{
	if (atomic_fetch_sub_explicit(&l->state, LOCK_TAKEN, memory_order_release) != LOCK_TAKEN)
		lock_wake(l);
}

#endif /* RPMA_BASE_LOCK_H */
