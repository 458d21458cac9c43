/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mem.h -- memory registrations: the only place that turns a steering tag into
 * a pointer, and the only one that touches registered memory
 *
 * A registration has two random steering tags: its rkey, which the other side
 * names, and its lkey, by which our own queues refer to it. Neither works in
 * the other's place. Random over 32 bits, never 0 or 1 (1 is what RTR messages
 * name), never two alive alike.
 *
 * An access is between mem_open_*() and mem_close(). mem_dereg() removes the tags
 * first and then waits for accesses under way, so that afterwards nothing
 * touches the memory.
 *
 * Bytes go in and out by mem_write() and mem_read(), which bear that the file
 * behind a mapping was truncated: -EFAULT instead of SIGBUS.
 *
 * Lock: one for the table, a leaf; no access waits while holding it.
 */

#ifndef RPMA_TCP_MEM_H
#define RPMA_TCP_MEM_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider.h"
#include "tcp/maps.h"

struct tcp_mr {
	struct rp_mr base;
	int usage; /* RPMA_MR_USAGE_* */
	bool file_backed;
	enum persist_kind persist;
	/* by the table's lock */
	unsigned accesses;
	bool waited;	       /* mem_dereg waits for accesses to become 0 */
	struct tcp_mr *next_r; /* in the bucket of rkey */
	struct tcp_mr *next_l; /* in the bucket of lkey */
};

/* Why an access is refused; the caller names it in its protocol's terms. */
enum mem_err {
	MEM_OK,
	MEM_STAG,   /* no such steering tag */
	MEM_PD,	    /* of another protection domain */
	MEM_ACCESS, /* not registered for this usage */
	MEM_BOUNDS,
	MEM_WRAP, /* address + length passes 2^64 */
	MEM_GONE, /* never by mem_open: the file behind it is shorter now */
	MEM_ERRS,
};

int mem_reg(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **mr);
int mem_dereg(struct rp_mr *mr);
int mem_advise(struct rp_mr *mr, uint64_t addr, uint64_t length, int advice, uint32_t flags);

/* Open [addr, addr + length) for one of the usages in any_of. */
enum mem_err mem_open_remote(struct rp_pd *pd, uint32_t rkey, uint64_t addr, uint64_t length,
	int any_of, struct tcp_mr **mr);
enum mem_err mem_open_local(struct rp_pd *pd, uint32_t lkey, uint64_t addr, uint64_t length,
	int any_of, struct tcp_mr **mr);
void mem_close(struct tcp_mr *mr);

/* Within an open access. 8 bytes at an aligned address are stored at once. */
int mem_write(struct tcp_mr *mr, uint64_t addr, const void *src, size_t length);
int mem_read(struct tcp_mr *mr, uint64_t addr, void *dst, size_t length);
/* *old = the 8 bytes at the aligned addr; they become new(old), atomically. */
int mem_cmp_swap(struct tcp_mr *mr, uint64_t addr, uint64_t compare, uint64_t compare_mask,
	uint64_t swap, uint64_t swap_mask, uint64_t *old);
int mem_fetch_add(struct tcp_mr *mr, uint64_t addr, uint64_t add, uint64_t mask, uint64_t *old);

#endif /* RPMA_TCP_MEM_H */
