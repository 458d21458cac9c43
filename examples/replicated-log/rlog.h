/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rlog.h -- an append-only log in the memory of several hosts
 *
 * A record is durable when a majority of the replicas has it in its file, which takes
 * no code of theirs: the writer writes into their mapped memory, flushes, moves the
 * state by an atomic write and flushes that. One writer at a time, one thread.
 *
 * A replica that fails is dropped and tried again all the while; when it is back it is
 * brought to the same log as the others, cut where it had gone another way.
 *
 * After a crash of everything any majority of the replicas yields a log that has all
 * records whose commit has returned 0, and behind them possibly some of those that
 * were being committed, without gaps. A new writer starts from there.
 */

#ifndef RLOG_H
#define RLOG_H 1

#include <stddef.h>
#include <stdint.h>

enum { RLOG_REPLICAS = 7 };

struct rlog;

struct rlog_address {
	const char *addr;
	const char *port;
};

/* Functions return 0 or an errno: ETIMEDOUT, no majority was to be had in timeout_ms;
 * ESTALE, another writer has taken over; ... */

/* Take over as the writer. */
int rlog_open(struct rlog **log, const struct rlog_address *replicas, size_t count, int timeout_ms);
/* ENOSPC: the log is full. Nothing leaves the process before the next commit. */
int rlog_append(struct rlog *log, const void *data, uint32_t len);
/* All that is appended is durable. After ETIMEDOUT it may be asked again. */
int rlog_commit(struct rlog *log, int timeout_ms);
/* The number of the last record appended (or found). */
uint64_t rlog_last(const struct rlog *log);
/* How many replicas have all that is committed. */
size_t rlog_present(const struct rlog *log);
/* Look after replicas that lag behind, for up to timeout_ms. */
int rlog_tend(struct rlog *log, int timeout_ms);
void rlog_close(struct rlog *log);

#endif /* RLOG_H */
