/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * desk.c -- the server's answers to requests
 */

#include <string.h>
#include <time.h>

#include "hash.h"
#include "serve.h"

static bool in_region(const struct server *s, const struct request *r)
{
	return r->offset <= s->mem.size && r->length <= s->mem.size - r->offset;
}

static bool hash_range(const struct server *s, const struct request *r, struct reply *reply)
{
	uint64_t done = 0;

	if (!in_region(s, r) || r->length > HASHES_MAX * HASH_BLOCK)
		return false;
	for (; done < r->length; reply->n_hashes++) {
		uint64_t n = r->length - done < HASH_BLOCK ? r->length - done : HASH_BLOCK;

		if (!hash_memory(&s->mem, r->offset + done, n, reply->hashes[reply->n_hashes]))
			return false;
		done += n;
	}
	return true;
}

static void count(const struct guest *g, struct counts *c)
{
	const struct session *x = g->session;
	struct timespec cpu;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	*c = (struct counts){
		.time = nanoseconds(),
		.cpu = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
		.messages = atomic_load(&x->messages),
		.bytes = atomic_load(&x->bytes),
		.mismatches = atomic_load(&x->mismatches),
	};
}

size_t desk_answer(struct guest *g, const void *bytes, size_t len, uint8_t *buf)
{
	const struct server *s = g->server;
	struct reply reply = { 0 };
	struct request r;

	if (!request_decode(bytes, len, &r))
		return 0;
	/* Each desk has what belongs to its role. */
	if ((r.type == REQUEST_COUNT) != (g->hello.role == ROLE_SESSION))
		return 0;
	if (r.type == REQUEST_HASH)
		reply.failed = !hash_range(s, &r, &reply);
	else if (r.type == REQUEST_SYNC)
		reply.failed = !in_region(s, &r) || mem_sync(&s->mem, r.offset, r.length);
	else
		count(g, &reply.counts);
	if (reply.failed)
		reply.n_hashes = 0;
	return reply_encode(r.type, &reply, buf);
}
