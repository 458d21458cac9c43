/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * load.c -- see load.h
 */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define RECEIVE ((uint64_t)1 << 32) /* in a wr_id, beside the slot */

const char *op_name(enum op op)
{
	static const char *const names[OPS] = {
		[OP_WRITE] = "write",
		[OP_READ] = "read",
		[OP_WRITE_FLUSH] = "write+flush",
		[OP_WRITE_PFLUSH] = "write+pflush",
		[OP_ATOMIC_WRITE] = "atomic-write",
		[OP_SEND] = "send",
		[OP_WRITE_IMM] = "write-imm",
		[OP_CONNECT] = "connect",
	};

	return op < OPS ? names[op] : "?";
}

/* ---- memory --------------------------------------------------------------------- */

static uint64_t next_word(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

void pattern_fill(void *buf, uint64_t size, uint64_t seed)
{
	uint64_t x = seed | 1, word;
	char *p = buf;

	for (uint64_t at = 0; at < size; at += 8) {
		word = next_word(&x);
		memcpy(p + at, &word, size - at < 8 ? size - at : 8);
	}
}

bool pattern_matches(const void *buf, uint64_t size, uint64_t seed)
{
	uint64_t x = seed | 1, word;
	const char *p = buf;

	for (uint64_t at = 0; at < size; at += 8) {
		word = next_word(&x);
		if (memcmp(p + at, &word, size - at < 8 ? size - at : 8))
			return false;
	}
	return true;
}

uint64_t own_offset(const struct load *l, uint64_t n)
{
	return (l->spec.depth + n % l->spec.depth) * load_slot_size(&l->spec);
}

uint64_t target_offset(const struct load *l, uint64_t n)
{
	return n % l->spec.depth * load_slot_size(&l->spec);
}

int load_prepare(struct load *l, const struct site *s, const struct mem *like)
{
	int err = mem_scratch(&l->mem, like, load_arena_size(&l->spec));

	if (err)
		return err;
	l->started = calloc(l->spec.depth, sizeof(*l->started));
	if (!l->started)
		return -ENOMEM;
	/* The half that data is taken from, and not the one where it is to arrive. */
	for (uint64_t n = 0; n < l->spec.depth; n++) {
		uint64_t at = l->spec.op == OP_READ ? target_offset(l, n) : own_offset(l, n);

		pattern_fill((char *)l->mem.ptr + at, l->spec.size, l->spec.seed);
	}
	return rpma_mr_reg(s->peer, l->mem.ptr, l->mem.size, mem_usage(&l->mem, s->tcp), &l->mr);
}

void load_release(struct load *l)
{
	rpma_mr_remote_delete(&l->remote);
	rpma_mr_dereg(&l->mr);
	mem_close(&l->mem);
	free(l->started);
	l->started = NULL;
}

void load_check(struct load *l, uint64_t offset)
{
	if (!pattern_matches((char *)l->mem.ptr + offset, l->spec.size, l->spec.seed))
		l->mismatches++;
}

/* ---- requests -------------------------------------------------------------------- */

static bool note_error(struct load *l, int ret)
{
	if (ret && !l->error)
		l->error = ret;
	return !ret;
}

static int post_receive(struct load *l, struct rpma_conn_req *req, uint64_t slot)
{
	const void *id = (void *)(uintptr_t)(RECEIVE | slot);
	uint64_t offset = target_offset(l, slot);

	return req ? rpma_conn_req_recv(req, l->mr, offset, l->spec.size, id)
		   : rpma_recv(l->conn, l->mr, offset, l->spec.size, id);
}

bool load_receives(struct load *l, struct rpma_conn_req *req)
{
	int ret = 0;

	for (uint32_t i = 0; i < l->spec.depth && !ret; i++)
		ret = post_receive(l, req, i);
	return note_error(l, ret);
}

/* The kind of flush that the other side's memory is good for. */
static enum rpma_flush_type flush_type(const struct load *l)
{
	int types = 0;

	rpma_mr_remote_get_flush_type(l->remote, &types);
	return l->spec.op == OP_WRITE_PFLUSH && types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
		       ? RPMA_FLUSH_TYPE_PERSISTENT
		       : RPMA_FLUSH_TYPE_VISIBILITY;
}

static int post(struct load *l)
{
	const struct load_spec *s = &l->spec;
	uint64_t from = own_offset(l, l->posted), to = target_offset(l, l->posted);
	const void *id = (void *)(uintptr_t)(l->posted % s->depth);
	const int always = RPMA_F_COMPLETION_ALWAYS;
	int ret;

	switch (s->op) {
	case OP_READ:
		return rpma_read(l->conn, l->mr, from, l->remote, to, s->size, always, id);
	case OP_WRITE:
		return rpma_write(l->conn, l->remote, to, l->mr, from, s->size, always, id);
	case OP_WRITE_FLUSH:
	case OP_WRITE_PFLUSH:
		ret = rpma_write(l->conn, l->remote, to, l->mr, from, s->size,
			RPMA_F_COMPLETION_ON_ERROR, id);
		return ret ? ret
			   : rpma_flush(l->conn, l->remote, to, s->size, flush_type(l), always, id);
	case OP_ATOMIC_WRITE:
		return rpma_atomic_write(
			l->conn, l->remote, to, (char *)l->mem.ptr + from, always, id);
	case OP_SEND:
		return rpma_send(l->conn, l->mr, from, s->size, always, id);
	case OP_WRITE_IMM:
		return rpma_write_with_imm(l->conn, l->remote, to, l->mr, from, s->size, always,
			(uint32_t)(l->posted % s->depth), id);
	default:
		return RPMA_E_INVAL;
	}
}

bool load_post(struct load *l, uint64_t limit)
{
	while (l->posted < limit && l->posted - l->done < l->spec.depth) {
		l->started[l->posted % l->spec.depth] = nanoseconds();
		if (!note_error(l, post(l)))
			return false;
		l->posted++;
	}
	return true;
}

/* ---- completions ------------------------------------------------------------------ */

/* Check data that arrived, and spoil it, so that the next has to arrive as well. */
static void check_once(struct load *l, uint64_t offset)
{
	load_check(l, offset);
	((char *)l->mem.ptr)[offset] ^= 1;
}

static void check_received(struct load *l, const struct ibv_wc *wc, uint64_t slot)
{
	/* A later write may be on its way to the same slot: it is not spoiled. */
	if (l->spec.op == OP_WRITE_IMM) {
		slot = wc->wc_flags & IBV_WC_WITH_IMM ? ntohl(wc->imm_data) : DEPTH_MAX;
		if (slot < l->spec.depth)
			load_check(l, target_offset(l, slot));
		else
			l->mismatches++;
	} else if (wc->byte_len == l->spec.size) {
		check_once(l, target_offset(l, slot));
	} else {
		l->mismatches++;
	}
}

static bool take_receive(struct load *l, const struct ibv_wc *wc)
{
	uint64_t slot = wc->wr_id & ~RECEIVE;

	if (l->spec.flags & HELLO_VERIFY)
		check_received(l, wc, slot);
	return note_error(l, post_receive(l, NULL, slot));
}

static void take_own(struct load *l)
{
	uint64_t now = nanoseconds();

	if (l->hist)
		hist_add(l->hist, now - l->started[l->done % l->spec.depth]);
	if (l->spec.op == OP_READ && l->spec.flags & HELLO_VERIFY)
		check_once(l, own_offset(l, l->done));
	if (l->count)
		atomic_fetch_add_explicit(l->count, 1, memory_order_relaxed);
	l->last = now;
	l->done++;
}

bool load_take(struct load *l, int *got)
{
	struct ibv_wc wc[16];
	int ret = rpma_cq_get_wc(l->cq, 16, wc, got);

	if (ret == RPMA_E_NO_COMPLETION) {
		*got = 0;
		return true;
	}
	if (!note_error(l, ret))
		return false;
	for (int i = 0; i < *got; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			l->status = wc[i].status;
			return false;
		}
		if (!(wc[i].wr_id & RECEIVE))
			take_own(l);
		else if (!take_receive(l, &wc[i]))
			return false;
	}
	return true;
}

void load_idle(struct load *const *loads, unsigned n, int ms)
{
	struct pollfd p[LOADS_MAX];

	if (!(loads[0]->spec.flags & HELLO_EVENTS)) {
		sched_yield();
		return;
	}
	for (unsigned i = 0; i < n; i++)
		p[i] = (struct pollfd){ .fd = loads[i]->cq_fd, .events = POLLIN };
	poll(p, n, ms);
	for (unsigned i = 0; i < n; i++) {
		if (p[i].revents)
			rpma_cq_wait(loads[i]->cq);
	}
}
