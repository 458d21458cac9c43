/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * format.h -- the log as it lies in the file of a replica
 *
 * A page of header, then records from the start of the room to its end. What counts is
 * one word, the state: who wrote last (epoch) and how far the log goes (end). It is
 * stored at once, by an atomic write, after the records before the end are durable.
 *
 * An epoch is one run of a writer. Of two states the larger one knows more: the later
 * writer, and in its epoch the longer log. claim is the largest epoch that any writer
 * has laid claim to, whether it has written or not.
 *
 * Numbers are in the byte order of the host.
 */

#ifndef RLOG_FORMAT_H
#define RLOG_FORMAT_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RLOG_HEADER = 4096, RLOG_ROOM = 16 << 20, RLOG_END_BITS = 40 };

/* A file of zeros is an empty log. */
struct rlog_header {
	uint64_t claim;
	uint64_t state;
};

struct rlog_record {
	uint64_t number; /* 1, 2, ... */
	uint32_t len;	 /* of the data behind it, padded to 8 */
	uint32_t sum;	 /* of number, len and data */
};

static inline uint64_t rlog_state(uint64_t epoch, uint64_t end)
{
	return epoch << RLOG_END_BITS | end;
}

static inline uint64_t rlog_epoch(uint64_t state)
{
	return state >> RLOG_END_BITS;
}

static inline uint64_t rlog_end(uint64_t state)
{
	return state & ((UINT64_C(1) << RLOG_END_BITS) - 1);
}

static inline uint64_t rlog_record_size(uint32_t len)
{
	return sizeof(struct rlog_record) + (((uint64_t)len + 7) & ~UINT64_C(7));
}

static inline uint32_t rlog_add_bytes(uint32_t sum, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len--)
		sum = (sum ^ *p++) * 16777619; /* FNV-1a */
	return sum;
}

static inline uint32_t rlog_sum(const struct rlog_record *r)
{
	uint32_t sum = rlog_add_bytes(2166136261, r, offsetof(struct rlog_record, sum));

	return rlog_add_bytes(sum, r + 1, r->len);
}

/* The record at [at, end) of a log if it is whole, true and of that number, or NULL. */
static inline const struct rlog_record *rlog_record_at(
	const char *log, uint64_t at, uint64_t end, uint64_t number)
{
	const struct rlog_record *r = (const void *)(log + at);

	if (end - at < sizeof(*r) || rlog_record_size(r->len) > end - at)
		return NULL;
	return r->number == number && r->sum == rlog_sum(r) ? r : NULL;
}

#endif /* RLOG_FORMAT_H */
