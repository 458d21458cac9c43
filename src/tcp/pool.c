/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pool.c -- see pool.h
 */

#include <pthread.h>
#include <stdlib.h>

#include "tcp/pool.h"

enum {
	POOL_KEEP = 32,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *kept[POOL_KEEP];
static unsigned n_kept;

uint8_t *pool_get(void)
{
	uint8_t *buf = NULL;

	pthread_mutex_lock(&lock);
	if (n_kept > 0)
		buf = kept[--n_kept];
	pthread_mutex_unlock(&lock);
	return buf ? buf : malloc(POOL_BUF_SIZE);
}

void pool_put(uint8_t *buf)
{
	pthread_mutex_lock(&lock);
	if (buf != NULL && n_kept < POOL_KEEP) {
		kept[n_kept++] = buf;
		buf = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buf);
}

void pool_trim(void)
{
	pthread_mutex_lock(&lock);
	while (n_kept > 0)
		free(kept[--n_kept]);
	pthread_mutex_unlock(&lock);
}
