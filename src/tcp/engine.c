/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * engine.c -- see engine.h
 *
 * A watch may be deleted by another thread between epoll_wait() and the look at
 * what it returned. Therefore epoll data holds no pointer but a slot of the
 * table of live watches and its generation: a step looks them up, queues those
 * still alive on engine->ready, and calls them one by one, each taken from the
 * queue under the lock.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tcp/engine.h"

enum {
	EPOLL_BATCH = 64,
	WHEEL_SLOTS = 512,
	WHEEL_TICK_MS = 2,
	LAZY_MS = 500,
};

struct slot {
	struct watch *watch; /* NULL: free */
	uint32_t generation;
	uint32_t next_free;
};

struct engine {
	int epfd;
	int wakefd;
	pthread_t thread;
	bool has_thread;
	atomic_bool stop;

	pthread_mutex_t lock;
	pthread_cond_t idle;   /* a call of a watch has ended */
	struct watch *running; /* being called now */
	pthread_t runner;      /* by this thread */
	bool asleep;	       /* in epoll_wait, or about to be: kicks must wake */
	int64_t wakes;	       /* then: it wakes by itself at this time */
	struct list ready;
	struct slot *slots;
	uint32_t n_slots;
	uint32_t free_slot; /* n_slots: none */
	struct list wheel[WHEEL_SLOTS];
	unsigned n_timers;
	int64_t wheel_time; /* all deadlines up to here have been served */
	int64_t soonest;    /* no timer runs out before */
	int64_t last_timer; /* when one was set */
};

int64_t engine_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- slots: from epoll data to live watches; engine->lock held ------------ */

static int slots_grow(struct engine *e)
{
	uint32_t n = e->n_slots ? e->n_slots * 2 : 64;
	struct slot *s = realloc(e->slots, n * sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	for (uint32_t i = e->n_slots; i < n; i++)
		s[i] = (struct slot){ .next_free = i + 1 };
	e->free_slot = e->n_slots;
	e->slots = s;
	e->n_slots = n;
	return 0;
}

static int slot_take(struct engine *e, struct watch *w, uint64_t *data)
{
	struct slot *s;

	if (e->free_slot == e->n_slots && slots_grow(e))
		return -ENOMEM;
	s = &e->slots[e->free_slot];
	*data = (uint64_t)s->generation << 32 | e->free_slot;
	e->free_slot = s->next_free;
	s->watch = w;
	return 0;
}

static struct watch *slot_find(struct engine *e, uint64_t data)
{
	struct slot *s = &e->slots[(uint32_t)data];

	return s->generation == (uint32_t)(data >> 32) ? s->watch : NULL;
}

static void slot_release(struct engine *e, uint32_t i)
{
	e->slots[i].watch = NULL;
	e->slots[i].generation++;
	e->slots[i].next_free = e->free_slot;
	e->free_slot = i;
}

/* ---- timers; engine->lock held --------------------------------------------- */

static struct list *wheel_slot(struct engine *e, int64_t time)
{
	return &e->wheel[(uint64_t)(time / WHEEL_TICK_MS) % WHEEL_SLOTS];
}

static void timer_unset(struct engine *e, struct watch *w)
{
	if (list_empty(&w->timer))
		return;
	list_del(&w->timer);
	e->n_timers--;
}

static void watch_ready(struct engine *e, struct watch *w, uint32_t events)
{
	w->pending |= events;
	if (list_empty(&w->ready))
		list_add_tail(&e->ready, &w->ready);
}

static void timers_serve_slot(struct engine *e, struct list *slot, int64_t now)
{
	list_each (node, tmp, slot) {
		struct watch *w = container_of(node, struct watch, timer);

		if (w->deadline > now)
			continue;
		timer_unset(e, w);
		watch_ready(e, w, WATCH_TIMER);
	}
}

static void timers_serve(struct engine *e, int64_t now)
{
	int64_t from = e->wheel_time;

	e->wheel_time = now;
	if (e->n_timers == 0)
		return;
	if (now - from >= WHEEL_SLOTS * WHEEL_TICK_MS)
		from = now - (WHEEL_SLOTS - 1) * WHEEL_TICK_MS;
	for (int64_t t = from / WHEEL_TICK_MS; t <= now / WHEEL_TICK_MS; t++)
		timers_serve_slot(e, wheel_slot(e, t * WHEEL_TICK_MS), now);
}

/*
 * How long epoll_wait may sleep: to the next slot of the wheel in use. Timers that
 * come and go, as each start-up of a connection has some, should not wake the engine
 * to be told of each: for a while after the last one it does not sleep for ever.
 */
static int timers_wait(struct engine *e, int limit_ms)
{
	int64_t now = engine_now(), ms;

	if (e->n_timers > 0 && e->soonest <= now) {
		for (ms = 0; ms < WHEEL_SLOTS * WHEEL_TICK_MS; ms += WHEEL_TICK_MS)
			if (!list_empty(wheel_slot(e, now + ms)))
				break;
		e->soonest = now + (ms ? ms : 1);
	}
	if (e->n_timers > 0)
		ms = e->soonest - now;
	else
		ms = now - e->last_timer < LAZY_MS ? LAZY_MS : -1;
	if (ms < 0 || (limit_ms >= 0 && limit_ms < ms))
		ms = limit_ms;
	e->wakes = ms < 0 ? INT64_MAX : now + ms;
	return (int)ms;
}

/* ---- the step ----------------------------------------------------------------- */

static void engine_wake(struct engine *e)
{
	uint64_t one = 1;
	ssize_t r;

	do
		r = write(e->wakefd, &one, sizeof(one));
	while (r < 0 && errno == EINTR);
}

static void wake_drain(struct engine *e)
{
	uint64_t count;

	if (read(e->wakefd, &count, sizeof(count)) < 0)
		return; /* drained already */
}

static void collect(struct engine *e, const struct epoll_event *ev, int n)
{
	for (int i = 0; i < n; i++) {
		struct watch *w;

		if (ev[i].data.u64 == UINT64_MAX) {
			wake_drain(e);
			continue;
		}
		w = slot_find(e, ev[i].data.u64);
		if (w == NULL)
			continue;
		atomic_store_explicit(&w->spent, true, memory_order_relaxed);
		watch_ready(e, w, ev[i].events);
	}
}

/* Calls what is ready now, not what becomes ready meanwhile (that is the next
 * step's): lock held on entry and exit, not during the calls. */
static void dispatch(struct engine *e)
{
	struct list batch, *node;

	list_init(&batch);
	while ((node = list_pop(&e->ready)) != NULL)
		list_add_tail(&batch, node);
	while ((node = list_pop(&batch)) != NULL) {
		struct watch *w = container_of(node, struct watch, ready);
		uint32_t events = w->pending;

		w->pending = 0;
		e->running = w;
		e->runner = pthread_self();
		pthread_mutex_unlock(&e->lock);
		w->fn(w, events);
		pthread_mutex_lock(&e->lock);
		e->running = NULL;
		pthread_cond_broadcast(&e->idle);
	}
}

void engine_step(struct engine *e, int timeout_ms)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n;

	pthread_mutex_lock(&e->lock);
	if (!list_empty(&e->ready))
		timeout_ms = 0;
	else
		timeout_ms = timers_wait(e, timeout_ms);
	e->asleep = true;
	pthread_mutex_unlock(&e->lock);

	n = epoll_wait(e->epfd, ev, EPOLL_BATCH, timeout_ms);

	pthread_mutex_lock(&e->lock);
	e->asleep = false;
	collect(e, ev, n);
	timers_serve(e, engine_now());
	dispatch(e);
	pthread_mutex_unlock(&e->lock);
}

static void *engine_main(void *arg)
{
	struct engine *e = arg;

	pthread_setname_np(pthread_self(), "rpma-engine");
	while (!atomic_load(&e->stop))
		engine_step(e, -1);
	return NULL;
}

/* Signals are the program's business: none is delivered to our threads. */
static int thread_start(struct engine *e)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&e->thread, NULL, engine_main, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	e->has_thread = err == 0;
	return -err;
}

int engine_create(bool thread, struct engine **engine)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = UINT64_MAX };
	struct engine *e = calloc(1, sizeof(*e));
	int err;

	if (e == NULL)
		return -ENOMEM;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->idle, NULL);
	list_init(&e->ready);
	for (int i = 0; i < WHEEL_SLOTS; i++)
		list_init(&e->wheel[i]);
	e->wheel_time = engine_now();
	e->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	e->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (e->wakefd < 0 || e->epfd < 0 || epoll_ctl(e->epfd, EPOLL_CTL_ADD, e->wakefd, &ev)) {
		err = -errno;
		goto fail;
	}
	err = thread ? thread_start(e) : 0;
	if (err)
		goto fail;
	*engine = e;
	return 0;
fail:
	engine_destroy(e);
	return err;
}

void engine_destroy(struct engine *e)
{
	if (e->has_thread) {
		atomic_store(&e->stop, true);
		engine_wake(e);
		pthread_join(e->thread, NULL);
	}
	if (e->epfd >= 0)
		close(e->epfd);
	if (e->wakefd >= 0)
		close(e->wakefd);
	free(e->slots);
	pthread_cond_destroy(&e->idle);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* ---- watches -------------------------------------------------------------------- */

void watch_add(struct engine *e, struct watch *w, watch_fn *fn)
{
	*w = (struct watch){ .engine = e, .fn = fn, .fd = -1 };
	list_init(&w->timer);
	list_init(&w->ready);
}

/* The calls of epoll are made without the lock: the engine's thread, which they may
 * wake, is to find it free. */
int watch_attach(struct watch *w, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	struct engine *e = w->engine;
	int err;

	pthread_mutex_lock(&e->lock);
	err = slot_take(e, w, &w->slot);
	pthread_mutex_unlock(&e->lock);
	if (err)
		return err;
	ev.data.u64 = w->slot;
	atomic_store_explicit(&w->spent, false, memory_order_relaxed);
	if (epoll_ctl(e->epfd, EPOLL_CTL_ADD, fd, &ev)) {
		err = -errno;
		pthread_mutex_lock(&e->lock);
		slot_release(e, (uint32_t)w->slot);
		pthread_mutex_unlock(&e->lock);
		return err;
	}
	w->fd = fd;
	w->events = events;
	return 0;
}

/* True: there is a slot to release. */
static bool unwatch(struct watch *w)
{
	if (w->fd < 0)
		return false;
	epoll_ctl(w->engine->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	w->fd = -1;
	return true;
}

void watch_detach(struct watch *w)
{
	struct engine *e = w->engine;

	if (e == NULL || !unwatch(w))
		return;
	pthread_mutex_lock(&e->lock);
	slot_release(e, (uint32_t)w->slot);
	w->pending &= WATCH_TIMER | WATCH_KICK;
	pthread_mutex_unlock(&e->lock);
}

void watch_events(struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.u64 = w->slot };
	bool spent =
		(events & EPOLLONESHOT) && atomic_load_explicit(&w->spent, memory_order_relaxed);

	if (w->engine == NULL || w->fd < 0 || (w->events == events && !spent))
		return;
	atomic_store_explicit(&w->spent, false, memory_order_relaxed);
	/* Cannot fail: the descriptor is in the set, and memory is not needed. */
	epoll_ctl(w->engine->epfd, EPOLL_CTL_MOD, w->fd, &ev);
	w->events = events;
}

void watch_timer(struct watch *w, int delay_ms)
{
	struct engine *e = w->engine;

	if (e == NULL)
		return;
	pthread_mutex_lock(&e->lock);
	timer_unset(e, w);
	if (delay_ms >= 0) {
		e->last_timer = engine_now();
		w->deadline = e->last_timer + delay_ms;
		list_add_tail(wheel_slot(e, w->deadline + WHEEL_TICK_MS - 1), &w->timer);
		e->n_timers++;
		if (e->n_timers == 1 || w->deadline < e->soonest)
			e->soonest = w->deadline;
		if (e->asleep && w->deadline < e->wakes)
			engine_wake(e);
	}
	pthread_mutex_unlock(&e->lock);
}

void watch_kick(struct watch *w)
{
	struct engine *e = w->engine;

	if (e == NULL)
		return;
	pthread_mutex_lock(&e->lock);
	watch_ready(e, w, WATCH_KICK);
	if (e->asleep)
		engine_wake(e);
	pthread_mutex_unlock(&e->lock);
}

void watch_del(struct watch *w)
{
	struct engine *e = w->engine;
	bool watched;

	if (e == NULL)
		return;
	watched = unwatch(w);
	pthread_mutex_lock(&e->lock);
	if (watched)
		slot_release(e, (uint32_t)w->slot);
	timer_unset(e, w);
	list_del(&w->ready);
	while (e->running == w && !pthread_equal(e->runner, pthread_self()))
		pthread_cond_wait(&e->idle, &e->lock);
	list_del(&w->ready);
	w->engine = NULL;
	pthread_mutex_unlock(&e->lock);
}
