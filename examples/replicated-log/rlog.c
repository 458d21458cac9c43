/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rlog.c -- the writer of a replicated log
 */

#include "replicated-log/rlog.h"

#include <errno.h>
#include <stdlib.h>

#include "replicated-log/replica.h"

static size_t count(const struct rlog *log, bool (*is)(const struct replica *r))
{
	size_t n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += is(&log->replicas[i]);
	return n;
}

static bool is_asked(const struct replica *r)
{
	return r->phase == REPLICA_ASKED;
}

static bool is_claiming(const struct replica *r)
{
	return r->phase == REPLICA_CLAIMING;
}

static size_t majority(const struct rlog *log)
{
	return log->count / 2 + 1;
}

/* Serve what there is, and wait up to until (replica_now() time) for it. */
static void serve(struct rlog *log, int64_t until)
{
	struct pollfd fds[2 * RLOG_REPLICAS];
	int64_t now = replica_now();

	for (size_t i = 0; i < log->count; i++) {
		struct replica *r = &log->replicas[i];

		if (r->phase == REPLICA_AWAY && r->retry_at <= now)
			replica_join(r);
		if (r->phase == REPLICA_AWAY && r->retry_at < until)
			until = r->retry_at;
		fds[2 * i] = r->fds[0];
		fds[2 * i + 1] = r->fds[1];
	}
	if (poll(fds, 2 * log->count, until > now ? (int)(until - now) : 0) <= 0)
		return;
	/* Completions first: what was done before the end of a connection is done. */
	for (size_t i = 0; i < log->count; i++) {
		if (fds[2 * i + 1].revents)
			replica_on_completion(&log->replicas[i]);
		if (fds[2 * i].revents && log->replicas[i].conn)
			replica_on_event(&log->replicas[i]);
	}
}

/* Take over the log of the replica that knows most. EAGAIN: it went meanwhile. */
static int choose(struct rlog *log)
{
	struct replica *best = NULL;
	uint64_t epoch = 0;

	for (size_t i = 0; i < log->count; i++) {
		struct replica *r = &log->replicas[i];

		if (!is_asked(r))
			continue;
		if (!best || r->state > best->state)
			best = r;
		if (r->claim > epoch)
			epoch = r->claim;
	}
	log->found = best->state;
	log->end = rlog_end(log->found);
	if (replica_load(best, log->end))
		return EAGAIN;
	for (uint64_t at = 0; at < log->end; log->last++) {
		const struct rlog_record *r =
			rlog_record_at(log->copy, at, log->end, log->last + 1);
		if (!r)
			return EILSEQ;
		at += rlog_record_size(r->len);
	}
	log->epoch = epoch + 1;
	return 0;
}

/* Learn from a majority where the log ends, and lay claim to an epoch with a majority
 * that has not seen another writer meanwhile: with a connection of another writer ours
 * would have ended, and a replica that comes back is not counted. */
static int take_over(struct rlog *log, int64_t until)
{
	int err;

	while (count(log, is_asked) < majority(log)) {
		if (replica_now() >= until)
			return ETIMEDOUT;
		serve(log, until);
	}
	err = choose(log);
	if (err)
		return err;
	for (size_t i = 0; i < log->count; i++)
		if (is_asked(&log->replicas[i]))
			replica_claim(&log->replicas[i]);
	while (log->claims < majority(log)) {
		if (log->claims + count(log, is_claiming) < majority(log))
			return EAGAIN;
		if (replica_now() >= until)
			return ETIMEDOUT;
		serve(log, until);
	}
	log->opened = true;
	for (size_t i = 0; i < log->count; i++) {
		if (is_asked(&log->replicas[i]))
			replica_claim(&log->replicas[i]);
		else
			replica_push(&log->replicas[i]);
	}
	return 0;
}

static int prepare(struct rlog *log, const struct rlog_address *replicas, size_t n)
{
	struct ibv_context *device;

	if (rpma_utils_get_ibv_context(replicas->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device) ||
		rpma_peer_new(device, &log->peer))
		return EIO;
	log->copy = calloc(1, RLOG_ROOM);
	if (!log->copy)
		return ENOMEM;
	if (rpma_mr_reg(log->peer, log->copy, RLOG_ROOM,
		    RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, &log->copy_mr))
		return EIO;
	for (; log->count < n; log->count++) {
		int err = replica_init(&log->replicas[log->count], log, &replicas[log->count]);
		if (err) {
			replica_fini(&log->replicas[log->count]);
			return err;
		}
	}
	return 0;
}

int rlog_open(struct rlog **out, const struct rlog_address *replicas, size_t n, int timeout_ms)
{
	int64_t until = replica_now() + timeout_ms;
	struct rlog *log;
	int err = EAGAIN;

	if (n < 1 || n > RLOG_REPLICAS)
		return EINVAL;
	while (err == EAGAIN) {
		log = calloc(1, sizeof(*log));
		if (!log)
			return ENOMEM;
		err = prepare(log, replicas, n);
		if (!err)
			err = take_over(log, until);
		if (!err) /* what was found is durable before anybody builds on it */
			err = rlog_commit(log, (int)(until - replica_now()));
		if (err)
			rlog_close(log);
	}
	if (!err)
		*out = log;
	return err;
}

int rlog_append(struct rlog *log, const void *data, uint32_t len)
{
	struct rlog_record *r = (void *)(log->copy + log->end);
	uint64_t room = RLOG_ROOM - log->end;

	if (room < sizeof(*r) || rlog_record_size(len) > room)
		return ENOSPC;
	r->number = ++log->last;
	r->len = len;
	memcpy(r + 1, data, len);
	r->sum = rlog_sum(r);
	log->end += rlog_record_size(len);
	return 0;
}

size_t rlog_present(const struct rlog *log)
{
	return count(log, replica_has_all);
}

int rlog_commit(struct rlog *log, int timeout_ms)
{
	int64_t until = replica_now() + timeout_ms;

	for (size_t i = 0; i < log->count; i++)
		replica_push(&log->replicas[i]);
	while (!log->stale && rlog_present(log) < majority(log)) {
		if (replica_now() >= until)
			return ETIMEDOUT;
		serve(log, until);
	}
	return log->stale ? ESTALE : 0;
}

int rlog_tend(struct rlog *log, int timeout_ms)
{
	int64_t until = replica_now() + timeout_ms;

	do
		serve(log, until);
	while (!log->stale && rlog_present(log) < log->count && replica_now() < until);
	return log->stale ? ESTALE : 0;
}

uint64_t rlog_last(const struct rlog *log)
{
	return log->last;
}

void rlog_close(struct rlog *log)
{
	for (size_t i = 0; i < log->count; i++)
		replica_fini(&log->replicas[i]);
	rpma_mr_dereg(&log->copy_mr);
	rpma_peer_delete(&log->peer);
	free(log->copy);
	free(log);
}
