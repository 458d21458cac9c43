/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hist.h -- a histogram of times
 *
 * Each power of two is divided into 128 equal steps, so a percentile is at most 1/128
 * too high; minimum, maximum, mean and deviation are exact. (Debian 12 has no C
 * library that does this.)
 */

#ifndef HIST_H
#define HIST_H 1

#include <stdint.h>

enum {
	HIST_STEP_BITS = 7,
	HIST_SLOTS = (64 - HIST_STEP_BITS + 1) << HIST_STEP_BITS,
};

struct hist {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	double sum;
	double squares;
	uint64_t slots[HIST_SLOTS];
};

void hist_add(struct hist *h, uint64_t value);
void hist_merge(struct hist *h, const struct hist *other);
/* The value that p percent of all do not exceed. */
uint64_t hist_percentile(const struct hist *h, double p);
double hist_mean(const struct hist *h);
double hist_deviation(const struct hist *h);

#endif /* HIST_H */
