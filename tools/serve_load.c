/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * serve_load.c -- the server's part in a measurement: it receives what the operation
 * needs to be received, and does the same towards the client when asked to
 */

#include "serve.h"

enum offer_status guest_load_prepare(struct guest *g)
{
	const struct hello *h = &g->hello;
	struct load *l = &g->load;
	uint64_t size;

	l->spec = (struct load_spec){ h->op, h->size, h->depth, h->flags, h->session };
	size = load_arena_size(&l->spec);
	if (2 * h->depth > g->server->site.queue_max)
		return OFFER_TOO_MUCH;
	g->scratch = size;
	if (atomic_fetch_add(&g->server->scratch, size) + size > SCRATCH_MAX || size > ARENA_MAX)
		return OFFER_TOO_MUCH;
	if (load_prepare(l, &g->server->site, &g->server->mem))
		return OFFER_TOO_MUCH;
	if (h->flags & HELLO_BOTH && rpma_mr_remote_from_descriptor(h->desc, DESC_SIZE, &l->remote))
		return OFFER_TOO_MUCH;
	return OFFER_OK;
}

bool guest_load_accept(struct guest *g, struct rpma_conn_req *req)
{
	return !op_needs_receive(g->hello.op) || load_receives(&g->load, req);
}

/* Established, or ended already. */
static bool await_start(struct guest *g)
{
	while (!g->established && !g->ended) {
		if (guest_ended(g, -1, NULL))
			return false;
	}
	return g->established;
}

/* Nothing to do: sleep or let others run. True: the end, as far as it was looked for. */
static bool idle(struct guest *g, unsigned *turns)
{
	struct load *l = &g->load;

	load_idle(&l, 1, 100);
	if (l->spec.flags & HELLO_EVENTS || ++*turns % 1024 == 0)
		return guest_ended(g, 0, NULL);
	return false;
}

static void report(struct guest *g, uint64_t done)
{
	struct load *l = &g->load;

	atomic_fetch_add(&g->session->messages, done);
	atomic_fetch_add(&g->session->bytes, done * l->spec.size);
	atomic_fetch_add(&g->session->mismatches, l->mismatches);
	l->mismatches = 0;
}

void guest_load_run(struct guest *g)
{
	struct load *l = &g->load;
	bool sends = g->hello.flags & HELLO_BOTH;
	uint64_t counted = 0;
	unsigned turns = 0;
	int got = 0;

	l->conn = g->conn;
	l->cq = g->cq;
	l->cq_fd = g->cq_fd;
	if ((!sends && !op_needs_receive(g->hello.op)) || !await_start(g))
		return;
	while (!sends || load_post(l, UINT64_MAX)) {
		if (!load_take(l, &got))
			break;
		if (got)
			report(g, l->done - counted);
		else if (idle(g, &turns))
			break;
		counted = l->done;
	}
}

void guest_load_end(struct guest *g)
{
	if (g->load.spec.depth)
		load_release(&g->load);
}
