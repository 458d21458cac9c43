/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_thread.h -- threads in tests
 *
 * An assertion that fails off the main thread cannot leave the test the usual
 * way: threads_init() makes every failure print and abort the program.
 */

#ifndef TESTS_PAIR_THREAD_H
#define TESTS_PAIR_THREAD_H 1

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair_wait.h"

static inline void threads_init(void)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
}

static inline pthread_t thread_start(void *(*run)(void *arg), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, run, arg), 0);
	return t;
}

static inline void thread_join(pthread_t t)
{
	assert_int_equal(pthread_join(t, NULL), 0);
}

/* Wait until the kernel says that this thread sleeps. */
static inline void thread_wait_asleep(pid_t tid)
{
	int64_t end = clock_ms() + test_timeout_ms();
	char path[64], text[256] = "";
	const char *state;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
		state = strrchr(text, ')');
		assert_true(clock_ms() < end);
	} while (state == NULL || state[2] != 'S');
}

#endif /* TESTS_PAIR_THREAD_H */
