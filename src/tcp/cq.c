/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.c -- see cq.h
 */

#include <errno.h>
#include <stdlib.h>

#include "tcp/cq.h"

/* ---- channel ------------------------------------------------------------------ */

int channel_create(struct rp_device *dev, struct rp_channel **channel)
{
	struct tcp_channel *ch = calloc(1, sizeof(*ch));
	int err;

	if (ch == NULL)
		return -ENOMEM;
	err = notify_init(&ch->notify);
	if (err) {
		free(ch);
		return err;
	}
	pthread_mutex_init(&ch->lock, NULL);
	pthread_cond_init(&ch->gone, NULL);
	list_init(&ch->told);
	ch->base = (struct rp_channel){ .dev = dev, .fd = ch->notify.fd };
	*channel = &ch->base;
	return 0;
}

int channel_destroy(struct rp_channel *base)
{
	struct tcp_channel *ch = container_of(base, struct tcp_channel, base);

	notify_close(&ch->notify);
	pthread_cond_destroy(&ch->gone);
	pthread_mutex_destroy(&ch->lock);
	free(ch);
	return 0;
}

/* Let the calling thread do what its channel waits for. True: it was told. */
static bool channel_drive(struct tcp_channel *ch)
{
	struct cq_driver *driver;
	unsigned direct;

	if (!notify_blocks(&ch->notify))
		return false;
	pthread_mutex_lock(&ch->lock);
	driver = ch->driving ? NULL : ch->driver;
	ch->driving = ch->driving || driver != NULL;
	if (driver != NULL)
		ch->thread = pthread_self();
	pthread_mutex_unlock(&ch->lock);
	if (driver == NULL)
		return false;

	driver->wait(driver, ch);

	pthread_mutex_lock(&ch->lock);
	ch->driving = false;
	direct = ch->direct;
	ch->direct = 0;
	pthread_cond_broadcast(&ch->gone);
	pthread_mutex_unlock(&ch->lock);
	for (unsigned i = 1; i < direct; i++)
		notify_post(&ch->notify);
	return direct > 0;
}

int channel_wait(struct rp_channel *base, struct rp_cq **cq)
{
	struct tcp_channel *ch = container_of(base, struct tcp_channel, base);
	struct list *node = NULL;
	int err = notify_enter(&ch->notify);

	if (err)
		return err;
	do {
		err = channel_drive(ch) ? 0 : notify_wait(&ch->notify);
		if (err)
			break;
		pthread_mutex_lock(&ch->lock);
		node = list_pop(&ch->told);
		pthread_mutex_unlock(&ch->lock);
	} while (node == NULL); /* of a queue that is gone */
	notify_leave(&ch->notify);
	if (err == 0)
		*cq = &container_of(node, struct tcp_cq, told)->base;
	return err;
}

bool channel_told_me(struct tcp_channel *ch)
{
	bool told;

	pthread_mutex_lock(&ch->lock);
	told = ch->direct > 0;
	pthread_mutex_unlock(&ch->lock);
	return told;
}

static void channel_tell(struct tcp_channel *ch, struct tcp_cq *cq)
{
	bool news, direct;

	pthread_mutex_lock(&ch->lock);
	news = list_empty(&cq->told);
	direct = ch->driving && pthread_equal(ch->thread, pthread_self());
	if (news)
		list_add_tail(&ch->told, &cq->told);
	if (news && direct)
		ch->direct++;
	pthread_mutex_unlock(&ch->lock);
	if (news && !direct)
		notify_post(&ch->notify);
}

/* ---- queue ---------------------------------------------------------------------- */

static int poll_face(struct ibv_cq *source, int n, struct ibv_wc *wc)
{
	return cq_poll(&container_of(source, struct tcp_cq, face)->base, n, wc);
}

int cq_create(
	struct rp_device *dev, struct rp_channel *channel, uint32_t size, struct rp_cq **cq_ptr)
{
	struct tcp_cq *cq = calloc(1, sizeof(*cq));

	if (cq == NULL)
		return -ENOMEM;
	/* The room comes with the work queues: size is what the user expects to
	 * have outstanding, and never too little with what cq_reserve adds. */
	(void)size;
	cq->base.dev = dev;
	cq->base.channel = channel;
	rp_cq_set_source(&cq->base, &cq->face, poll_face);
	pthread_mutex_init(&cq->lock, NULL);
	list_init(&cq->told);
	list_init(&cq->served);
	*cq_ptr = &cq->base;
	return 0;
}

int cq_destroy(struct rp_cq *base)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	struct tcp_channel *ch = container_of(base->channel, struct tcp_channel, base);

	pthread_mutex_lock(&ch->lock);
	list_del(&cq->told);
	pthread_mutex_unlock(&ch->lock);
	if (cq->served_lock != NULL) {
		pthread_mutex_lock(cq->served_lock);
		list_del(&cq->served);
		pthread_mutex_unlock(cq->served_lock);
	}
	/* Slots of a shared receive queue that outlives this queue. */
	for (uint32_t i = cq->head; i != cq->tail; i++) {
		struct cqe *e = &cq->ring[i % cq->size];

		if (e->slots != NULL)
			wq_slots_give(e->slots, e->n_slots);
	}
	pthread_mutex_destroy(&cq->lock);
	free(cq->ring);
	free(cq);
	return 0;
}

int cq_arm(struct rp_cq *base)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);

	pthread_mutex_lock(&cq->lock);
	cq->armed = true;
	pthread_mutex_unlock(&cq->lock);
	return 0;
}

static int take(struct tcp_cq *cq, int n, struct ibv_wc *wc)
{
	int i;

	pthread_mutex_lock(&cq->lock);
	for (i = 0; i < n && cq->head != cq->tail; i++) {
		struct cqe *e = &cq->ring[cq->head++ % cq->size];

		wc[i] = e->wc;
		if (e->slots != NULL)
			wq_slots_give(e->slots, e->n_slots);
	}
	pthread_mutex_unlock(&cq->lock);
	return i;
}

int cq_poll(struct rp_cq *base, int n, struct ibv_wc *wc)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	int got = take(cq, n, wc);

	if (got > 0 || cq->driver == NULL)
		return got;
	cq->driver->poll(cq->driver);
	return take(cq, n, wc);
}

void cq_set_driver(struct rp_cq *base, struct cq_driver *driver)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	struct tcp_channel *ch = container_of(base->channel, struct tcp_channel, base);

	cq->driver = driver;
	pthread_mutex_lock(&ch->lock);
	ch->driver = driver;
	pthread_mutex_unlock(&ch->lock);
}

void cq_clear_driver(struct rp_cq *base, struct cq_driver *driver)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	struct tcp_channel *ch = container_of(base->channel, struct tcp_channel, base);

	if (cq->driver != driver)
		return;
	cq->driver = NULL;
	pthread_mutex_lock(&ch->lock);
	ch->driver = NULL;
	if (ch->driving)
		notify_post(&ch->notify); /* it looks there, and leaves */
	while (ch->driving)
		pthread_cond_wait(&ch->gone, &ch->lock);
	pthread_mutex_unlock(&ch->lock);
}

static int grow(struct tcp_cq *cq, uint32_t size)
{
	struct cqe *ring = calloc(size, sizeof(*ring));
	uint32_t n = 0;

	if (ring == NULL)
		return -ENOMEM;
	while (cq->head != cq->tail)
		ring[n++] = cq->ring[cq->head++ % cq->size];
	free(cq->ring);
	cq->ring = ring;
	cq->size = size;
	cq->head = 0;
	cq->tail = n;
	return 0;
}

/* Sizes are powers of two, so that the free-running indices may wrap. */
int cq_reserve(struct rp_cq *base, uint32_t n)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	uint64_t need, size;
	int err = 0;

	pthread_mutex_lock(&cq->lock);
	need = (uint64_t)cq->reserved + n;
	for (size = cq->size ? cq->size : 8; size < need; size *= 2)
		;
	if (size > UINT32_C(1) << 31)
		err = -ENOMEM;
	else if (size > cq->size)
		err = grow(cq, (uint32_t)size);
	if (err == 0)
		cq->reserved += n;
	pthread_mutex_unlock(&cq->lock);
	return err;
}

void cq_push(struct rp_cq *base, const struct ibv_wc *wc, struct wq_slots *slots, uint32_t n_slots)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);
	bool tell;

	pthread_mutex_lock(&cq->lock);
	cq->ring[cq->tail++ % cq->size] = (struct cqe){ *wc, slots, n_slots };
	tell = cq->armed;
	cq->armed = false;
	pthread_mutex_unlock(&cq->lock);
	if (tell)
		channel_tell(container_of(base->channel, struct tcp_channel, base), cq);
}

void cq_forget(struct rp_cq *base, const struct wq_slots *slots)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, base);

	pthread_mutex_lock(&cq->lock);
	for (uint32_t i = cq->head; i != cq->tail; i++)
		if (cq->ring[i % cq->size].slots == slots)
			cq->ring[i % cq->size].slots = NULL;
	pthread_mutex_unlock(&cq->lock);
}
