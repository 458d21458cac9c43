/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * lock.c -- see lock.h
 */

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"

static void futex(struct lock *l, int op, unsigned value)
{
	int saved = errno; /* who takes a lock does not expect it to change */

	syscall(SYS_futex, &l->state, op, value, NULL, NULL, 0);
	errno = saved;
}

/* Who has slept cannot know whether others still do, and leaves it WANTED. */
void lock_wait(struct lock *l)
{
	const unsigned both = LOCK_TAKEN | LOCK_WANTED;

	while (atomic_exchange_explicit(&l->state, both, memory_order_acquire) & LOCK_TAKEN)
		futex(l, FUTEX_WAIT_PRIVATE, both);
}

/* It has been released just now, and is still WANTED: or taken again, then who has it
 * will come here. */
void lock_wake(struct lock *l)
{
	unsigned expected = LOCK_WANTED;

	if (atomic_compare_exchange_strong_explicit(
		    &l->state, &expected, 0, memory_order_relaxed, memory_order_relaxed))
		futex(l, FUTEX_WAKE_PRIVATE, 1);
}
