/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_lock.c -- the lock of one word */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/lock.h"
#include "support.h"

static void taken_once(void **state)
{
	struct lock l = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (i & 1)
			lock_take(&l);
		else
			assert_true(lock_try(&l));
		assert_false(lock_try(&l));
		assert_false(lock_try(&l));
		lock_release(&l);
		assert_int_equal(l.state, 0);
	}
}

enum { THREADS = 4, TIMES = 20000 };

struct shared {
	struct lock lock;
	unsigned inside;
	unsigned count;
};

static void *count(void *arg)
{
	struct shared *s = arg;

	errno = 77;
	for (unsigned i = 0; i < TIMES; i++) {
		if (i % 3 || !lock_try(&s->lock))
			lock_take(&s->lock);
		if (++s->inside != 1)
			abort();
		s->count++;
		if (i % 64 == 0)
			sched_yield(); /* the others come meanwhile, and sleep */
		s->inside--;
		lock_release(&s->lock);
	}
	if (errno != 77)
		abort();
	return NULL;
}

static void one_at_a_time_and_nobody_sleeps_for_ever(void **state)
{
	struct shared s = { .count = 0 };
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, &s), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(s.count, THREADS * TIMES);
	assert_int_equal(s.lock.state & LOCK_TAKEN, 0);
}

static void *take_and_release(void *arg)
{
	lock_take(arg);
	lock_release(arg);
	return NULL;
}

/* Who sleeps is woken, one by one. */
static void sleepers_are_woken(void **state)
{
	pthread_t threads[THREADS];
	struct lock l = { 0 };

	(void)state;
	lock_take(&l);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_release, &l), 0);
	while (!(atomic_load(&l.state) & LOCK_WANTED))
		sched_yield();
	lock_release(&l);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_true(lock_try(&l));
	lock_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_once),
		cmocka_unit_test(one_at_a_time_and_nobody_sleeps_for_ever),
		cmocka_unit_test(sleepers_are_woken),
	};

	return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
