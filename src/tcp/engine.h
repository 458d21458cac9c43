/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * engine.h -- watches on descriptors, timers, wake-ups; no protocol
 *
 * An engine is an epoll set, a timer wheel and a list of kicked watches. Its one
 * step, engine_step(), waits for any of them and calls the watches concerned; a
 * thread of its own is a loop around that step. A watch is called by at most one
 * thread at a time, with no lock of the engine held, and with all that happened
 * to it since the last call (EPOLL* bits, WATCH_TIMER, WATCH_KICK).
 *
 * A watch belongs to its owner, embedded in its object:
 *
 *   watch_add ... (watch_attach ... watch_events ... watch_detach)* ... watch_del
 *                 (watch_timer, watch_kick)*
 *
 * Between attach and detach it watches a descriptor, which stays the owner's and
 * may be closed as soon as watch_detach has returned; events found before that
 * may still arrive afterwards, so the function looks at its own state first.
 *
 * watch_del is synchronous: when it returns the watch is not being called and
 * will not be. Called from within the watch's own function it does not wait, and
 * the function must not touch the watch afterwards. It must not be called with a
 * lock held that the watch's function takes.
 *
 * With EPOLLONESHOT among its events a descriptor is reported once, and again after the
 * next watch_events, whether that changes anything or not; so nobody is called again and
 * again for what another thread is about to see to.
 *
 * watch_attach, watch_events and watch_detach must be serialised by the owner and
 * may be called under a lock that the function takes; watch_timer and watch_kick may
 * be called from everywhere, under any lock of the owner. Lock: engine->lock, a
 * leaf.
 */

#ifndef RPMA_TCP_ENGINE_H
#define RPMA_TCP_ENGINE_H 1

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/list.h"

struct engine;
struct watch;

enum {
	WATCH_TIMER = 1u << 24, /* the timer ran out */
	WATCH_KICK = 1u << 25,	/* watch_kick() was called */
};

typedef void watch_fn(struct watch *w, uint32_t events);

struct watch {
	struct engine *engine; /* NULL: not added */
	watch_fn *fn;
	int fd;		   /* -1: not attached */
	uint32_t events;   /* what epoll reports of */
	atomic_bool spent; /* EPOLLONESHOT: it has reported, and reports no more */
	uint64_t slot;	   /* place and generation in the engine's table */
	/* by engine->lock */
	struct list timer; /* in a slot of the wheel, or alone */
	struct list ready; /* in engine->ready, or alone */
	uint32_t pending;  /* events not yet given to fn */
	int64_t deadline;  /* ms, monotonic */
};

/* With thread false nothing moves but by engine_step(): for tests, fuzzers. */
int engine_create(bool thread, struct engine **engine);
/* All watches must be gone. Stops and joins the thread. */
void engine_destroy(struct engine *engine);
/* Wait up to timeout_ms (-1: for ever) and serve what is there. */
void engine_step(struct engine *engine, int timeout_ms);

int64_t engine_now(void); /* ms, monotonic */

void watch_add(struct engine *engine, struct watch *w, watch_fn *fn);
int watch_attach(struct watch *w, int fd, uint32_t events);
void watch_events(struct watch *w, uint32_t events);
void watch_detach(struct watch *w);
/* Call fn in delay_ms (replaces an earlier timer); negative: forget the timer. */
void watch_timer(struct watch *w, int delay_ms);
void watch_kick(struct watch *w);
void watch_del(struct watch *w);

#endif /* RPMA_TCP_ENGINE_H */
