/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.c -- completion channels and completion queues
 */

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "verbs/verbs.h"

int rv_channel_create(struct rp_device *dev, struct rp_channel **out)
{
	struct rv_channel *ch = calloc(1, sizeof(*ch));
	int ret;

	if (ch == NULL)
		return -ENOMEM;
	ch->ibv = ibv_create_comp_channel(dev->context);
	if (ch->ibv == NULL) {
		ret = rv_errno();
		goto fail_memory;
	}
	ret = gate_open(&ch->gate, ch->ibv->fd);
	if (ret)
		goto fail_channel;
	pthread_mutex_init(&ch->lock, NULL);
	ch->base.dev = dev;
	ch->base.fd = ch->gate.fd;
	*out = &ch->base;
	return 0;

fail_channel:
	ibv_destroy_comp_channel(ch->ibv);
fail_memory:
	free(ch);
	return ret;
}

int rv_channel_destroy(struct rp_channel *base)
{
	struct rv_channel *ch = rv_channel(base);
	int ret;

	gate_close(&ch->gate);
	ret = -abs(ibv_destroy_comp_channel(ch->ibv));
	gate_free(&ch->gate);
	pthread_mutex_destroy(&ch->lock);
	free(ch);
	return ret;
}

/* Needs the channel's lock. */
static int take_event(struct rv_channel *ch, struct rv_cq **cq)
{
	struct ibv_cq *ibv;
	void *context;

	while (ibv_get_cq_event(ch->ibv, &ibv, &context)) {
		if (errno != EINTR)
			return rv_errno();
	}
	*cq = context;
	(*cq)->unacked++;
	return 0;
}

static int take(struct gate *gate, void *out)
{
	struct rv_channel *ch = container_of(gate, struct rv_channel, gate);
	struct rv_cq **cq = out;
	int ret;

	pthread_mutex_lock(&ch->lock);
	ret = take_event(ch, cq);
	pthread_mutex_unlock(&ch->lock);
	return ret;
}

int rv_channel_wait(struct rp_channel *base, struct rp_cq **out)
{
	struct rv_cq *cq;
	int ret = gate_wait(&rv_channel(base)->gate, take, &cq);

	if (!ret)
		*out = &cq->base;
	return ret;
}

static int poll_nothing(struct ibv_cq *source, int n, struct ibv_wc *wc)
{
	(void)source, (void)n, (void)wc;
	return 0;
}

int rv_cq_create(
	struct rp_device *dev, struct rp_channel *channel, uint32_t size, struct rp_cq **out)
{
	struct rv_cq *cq;

	if (size > rv_device(dev)->features.max_cqe)
		return -EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	cq->base.dev = dev;
	cq->base.channel = channel;
	rp_cq_set_source(&cq->base, NULL, poll_nothing);
	cq->size = size;
	*out = &cq->base;
	return 0;
}

/* Needs the channel's lock. */
static int make(struct rv_cq *cq, uint64_t entries)
{
	const struct rv_channel *ch = rv_channel(cq->base.channel);
	uint64_t max = rv_device(cq->base.dev)->features.max_cqe;
	struct ibv_cq *ibv;
	int ret;

	if (entries < cq->size)
		entries = cq->size;
	if (entries > max)
		entries = max;
	ibv = ibv_create_cq(cq->base.dev->context, (int)entries, cq, ch->ibv, 0);
	if (ibv == NULL)
		return rv_errno();
	ret = cq->armed ? -abs(ibv_req_notify_cq(ibv, 0)) : 0;
	if (ret) {
		ibv_destroy_cq(ibv);
		return ret;
	}
	atomic_store(&cq->ibv, ibv);
	rp_cq_set_source(&cq->base, ibv, ibv->context->ops.poll_cq);
	return 0;
}

int rv_cq_ready(struct rv_cq *cq, uint64_t entries)
{
	struct rv_channel *ch = rv_channel(cq->base.channel);
	int ret = 0;

	pthread_mutex_lock(&ch->lock);
	if (atomic_load(&cq->ibv) == NULL)
		ret = make(cq, entries);
	pthread_mutex_unlock(&ch->lock);
	return ret;
}

int rv_cq_destroy(struct rp_cq *base)
{
	struct rv_cq *cq = rv_cq(base);
	struct rv_channel *ch = rv_channel(base->channel);
	struct ibv_cq *ibv = atomic_load(&cq->ibv);
	int ret = 0;

	if (ibv) {
		pthread_mutex_lock(&ch->lock);
		ibv_ack_cq_events(ibv, cq->unacked);
		cq->unacked = 0;
		ret = -abs(ibv_destroy_cq(ibv));
		pthread_mutex_unlock(&ch->lock);
	}
	/* else the channel may still speak of it */
	if (!ret)
		free(cq);
	return ret;
}

int rv_cq_arm(struct rp_cq *base)
{
	struct rv_cq *cq = rv_cq(base);
	struct rv_channel *ch = rv_channel(base->channel);
	struct ibv_cq *ibv = atomic_load(&cq->ibv);

	if (ibv == NULL) {
		pthread_mutex_lock(&ch->lock);
		cq->armed = true;
		ibv = atomic_load(&cq->ibv);
		pthread_mutex_unlock(&ch->lock);
	}
	return ibv ? -abs(ibv_req_notify_cq(ibv, 0)) : 0;
}
