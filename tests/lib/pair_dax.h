/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_dax.h -- memory of a persistent memory device, for what can be registered for
 * a persistent flush by the device's own means only there
 *
 * Environment: RPMA_TEST_DAX, a character device of the kind /dev/dax0.0. Processes
 * share it, each part of it has one user.
 */

#ifndef TESTS_PAIR_DAX_H
#define TESTS_PAIR_DAX_H 1

#include <stdbool.h>
#include <stddef.h>

bool dax_is_there(void);

/* A mapping of len bytes at least, all zero. */
void *dax_map(size_t len);
void dax_unmap(void *p, size_t len);

#endif /* TESTS_PAIR_DAX_H */
