/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* support.h -- cmocka and what it needs */

#ifndef TESTS_UNIT_VERBS_SUPPORT_H
#define TESTS_UNIT_VERBS_SUPPORT_H 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif /* TESTS_UNIT_VERBS_SUPPORT_H */
