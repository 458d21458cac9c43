/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pool.h -- transfer buffers, lent to connections while bytes are under way
 *
 * An idle connection holds none. A few returned ones are kept for the next, the
 * rest goes back to the system. Lock: its own, a leaf.
 */

#ifndef RPMA_TCP_POOL_H
#define RPMA_TCP_POOL_H 1

#include <stdint.h>

enum {
	POOL_BUF_SIZE = 256 * 1024,
};

uint8_t *pool_get(void);     /* NULL: out of memory */
void pool_put(uint8_t *buf); /* NULL is fine */
void pool_trim(void);	     /* give back all that is kept */

#endif /* RPMA_TCP_POOL_H */
