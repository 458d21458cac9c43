/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * guest_offer.c -- what a client of the server gets
 */

#include <errno.h>
#include <stdlib.h>

#include "serve.h"

static enum offer_status take_scratch(struct guest *g, uint64_t size)
{
	int usage, ret = -ENOMEM;

	g->scratch = size;
	if (atomic_fetch_add(&g->server->scratch, size) + size <= SCRATCH_MAX)
		ret = mem_scratch(&g->mem, &g->server->mem, size);
	if (ret)
		return OFFER_TOO_MUCH;
	usage = mem_usage(&g->mem, g->server->site.tcp);
	ret = rpma_mr_reg(g->server->site.peer, g->mem.ptr, size, usage, &g->mr);
	return ret ? OFFER_TOO_MUCH : OFFER_OK;
}

/* Find a session, or make it. */
static enum offer_status join_session(struct guest *g, bool create)
{
	struct server *s = g->server;
	struct session *x;

	pthread_mutex_lock(&s->lock);
	for (x = s->sessions; x && x->id != g->hello.session; x = x->next)
		;
	if (!x && create) {
		x = calloc(1, sizeof(*x));
		if (x) {
			x->id = g->hello.session;
			x->next = s->sessions;
			s->sessions = x;
		}
	}
	if (x)
		x->users++;
	pthread_mutex_unlock(&s->lock);
	g->session = x;
	return x ? OFFER_OK : create ? OFFER_TOO_MUCH : OFFER_NO_SESSION;
}

void guest_leave_session(struct guest *g)
{
	struct server *s = g->server;
	struct session **at, *x = g->session;

	if (!x)
		return;
	pthread_mutex_lock(&s->lock);
	if (--x->users == 0) {
		for (at = &s->sessions; *at != x; at = &(*at)->next)
			;
		*at = x->next;
		free(x);
	}
	pthread_mutex_unlock(&s->lock);
}

static enum offer_status prepare_desk(struct guest *g)
{
	static const struct mem like = { .kind = MEM_DRAM };
	int ret;

	if (mem_scratch(&g->mem, &like, DESK_SIZE))
		return OFFER_TOO_MUCH;
	ret = rpma_mr_reg(g->server->site.peer, g->mem.ptr, DESK_SIZE,
		RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &g->mr);
	if (!ret)
		ret = rpma_conn_req_recv(g->req, g->mr, DESK_IN, REQUEST_SIZE, NULL);
	return ret ? OFFER_TOO_MUCH : OFFER_OK;
}

static void offer_region(struct guest *g, struct offer *o, const struct rpma_mr_local *mr)
{
	const struct mem *m = g->hello.role == ROLE_LOAD ? &g->load.mem : &g->mem;

	if (g->hello.role == ROLE_COPY)
		m = &g->server->mem;
	o->has_desc = !rpma_mr_get_descriptor(mr, o->desc);
	o->mem_kind = (uint8_t)m->kind;
	if (g->server->direct)
		o->flags |= OFFER_DIRECT;
	if (m->kind == MEM_FILE || m->kind == MEM_TMPFS)
		o->flags |= OFFER_CAN_SYNC;
}

void guest_prepare(struct guest *g, struct offer *o)
{
	const struct rpma_mr_local *mr = NULL;

	switch (g->hello.role) {
	case ROLE_COPY:
		o->status = prepare_desk(g);
		mr = g->server->mr;
		break;
	case ROLE_PING:
		o->status = take_scratch(g, g->hello.size);
		mr = g->mr;
		break;
	case ROLE_SESSION:
		o->status = join_session(g, true);
		if (!o->status)
			o->status = prepare_desk(g);
		break;
	case ROLE_LOAD:
		o->status = join_session(g, false);
		if (!o->status)
			o->status = guest_load_prepare(g);
		mr = g->load.mr;
		break;
	default:
		break;
	}
	if (!o->status && mr)
		offer_region(g, o, mr);
}
