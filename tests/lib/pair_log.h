/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_log.h -- what the library's log says, as text */

#ifndef TESTS_PAIR_LOG_H
#define TESTS_PAIR_LOG_H 1

#include "librpma.h"

/* From now on each record of this level, or a more serious one, is given to hear(), in
 * the thread that it comes from. */
void log_hear(enum rpma_log_level level, void (*hear)(const char *text));

#endif /* TESTS_PAIR_LOG_H */
