/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hist.c -- see hist.h
 */

#include <math.h>

#include "hist.h"

/* Below 128 a slot is a value; above, the leading 8 bits and the power say which. */
static unsigned slot_of(uint64_t v)
{
	unsigned shift;

	if (v >> HIST_STEP_BITS == 0)
		return (unsigned)v;
	shift = 63 - (unsigned)__builtin_clzll(v) - HIST_STEP_BITS;
	return (shift << HIST_STEP_BITS) + (unsigned)(v >> shift);
}

/* The largest value that falls into a slot. */
static uint64_t last_of(unsigned slot)
{
	unsigned steps = 1u << HIST_STEP_BITS, shift;

	if (slot < 2 * steps)
		return slot;
	shift = slot / steps - 1;
	return (((uint64_t)(slot % steps + steps) + 1) << shift) - 1;
}

void hist_add(struct hist *h, uint64_t value)
{
	double v = (double)value;

	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += v;
	h->squares += v * v;
	h->slots[slot_of(value)]++;
}

void hist_merge(struct hist *h, const struct hist *other)
{
	if (!other->count)
		return;
	if (!h->count || other->min < h->min)
		h->min = other->min;
	if (other->max > h->max)
		h->max = other->max;
	h->count += other->count;
	h->sum += other->sum;
	h->squares += other->squares;
	for (unsigned i = 0; i < HIST_SLOTS; i++)
		h->slots[i] += other->slots[i];
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	uint64_t rank = (uint64_t)ceil((double)h->count * p / 100), seen = 0;

	for (unsigned i = 0; i < HIST_SLOTS; i++) {
		seen += h->slots[i];
		if (seen && seen >= rank)
			return last_of(i) < h->max ? last_of(i) : h->max;
	}
	return h->max;
}

double hist_mean(const struct hist *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}

double hist_deviation(const struct hist *h)
{
	double mean = hist_mean(h);
	double variance = h->count ? h->squares / (double)h->count - mean * mean : 0;

	return variance > 0 ? sqrt(variance) : 0;
}
