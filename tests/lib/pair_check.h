/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_check.h -- cmocka, and assertions that speak the library's words
 *
 * Helpers that can fail take the place of their caller (HERE), so that a
 * failure names the line of the test.
 */

#ifndef TESTS_PAIR_CHECK_H
#define TESTS_PAIR_CHECK_H 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librpma.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define PAIR_STR2(x) #x
#define PAIR_STR(x) PAIR_STR2(x)
#define HERE __FILE__ ":" PAIR_STR(__LINE__)

/* An op_context that is a small number */
#define CTX(n) ((void *)(uintptr_t)(n))

static inline void check_code(int expected, int got, const char *call, const char *where)
{
	if (got != expected)
		fail_msg("%s: %s: got %d (%s), expected %d (%s)", where, call, got,
			rpma_err_2str(got), expected, rpma_err_2str(expected));
}

#define assert_rpma(expected, call) check_code((expected), (call), #call, HERE)
#define assert_ok(call) assert_rpma(0, call)

#endif /* TESTS_PAIR_CHECK_H */
