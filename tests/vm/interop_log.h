/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop_log.h -- what the library's log says of Terminates */

#ifndef TESTS_INTEROP_LOG_H
#define TESTS_INTEROP_LOG_H 1

#include "pair_check.h"

/* RPMA_INTEROP_SAY set: all records go to stderr, too. */
void log_watch(void);
/* Wait for a record with a Terminate, and take its code: "1/1/00", say. */
void log_take_terminate(char *code, size_t size);

#endif /* TESTS_INTEROP_LOG_H */
