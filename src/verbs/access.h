/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * access.h -- what a memory region may be used for, in the terms of verbs
 */

#ifndef RPMA_VERBS_ACCESS_H
#define RPMA_VERBS_ACCESS_H 1

#include <stdbool.h>

/* RPMA_MR_USAGE_* to IBV_ACCESS_*. */
int rv_access(int usage, bool iwarp, bool native_flush);

#endif /* RPMA_VERBS_ACCESS_H */
