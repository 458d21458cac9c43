/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * crowd.h -- what a crowd at the port costs: others time, the process memory
 */

#ifndef TESTS_CROWD_H
#define TESTS_CROWD_H 1

#include <pthread.h>
#include <stdatomic.h>

#include "pair_ops.h"

/* A connection that was there before; a thread uses it, and takes the time. */
struct witness {
	struct field f;
	pthread_t thread;
	atomic_bool stop;
	int64_t worst_us;
	int64_t sum_us;
	int64_t n;
	bool failed;
};

/* An endpoint, a witness, and the memory before the crowd */
struct crowd {
	struct net n;
	struct witness w;
	long rss;
};

void crowd_open(struct crowd *c);
/* A new client gets in, the process has not grown much, the witness was served. Prints
 * the figures. */
void crowd_close(struct crowd *c, const char *what);

/* A client that behaves: connects, exchanges messages, leaves. */
void newcomer(struct net *n);

/* Resident memory of this process */
long rss_kb(void);
/* Prints it, and fails when it has grown beyond what strangers may cost. */
void check_growth(const char *what, long before);

#endif /* TESTS_CROWD_H */
