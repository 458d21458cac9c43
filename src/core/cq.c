/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.c -- completion queues and the channels that tell of them
 */

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

int core_channel_new(struct rp_device *dev, struct rp_channel **channel)
{
	return core_result(CORE_CALL, dev->ops->channel_create(dev, channel),
		"cannot create a completion channel");
}

int core_channel_delete(struct rp_channel *channel)
{
	if (!channel)
		return 0;
	return core_result(CORE_CALL, channel->dev->ops->channel_destroy(channel),
		"cannot destroy a completion channel");
}

int core_cq_rearm(struct rp_cq *cq)
{
	return core_result(CORE_CALL, cq->dev->ops->cq_arm(cq), "cannot arm a completion queue");
}

/* The verbs count entries in an int. */
static uint32_t clip(uint32_t size)
{
	return size < INT_MAX ? size : INT_MAX;
}

int core_cq_new(
	struct rp_device *dev, struct rp_channel *shared, uint32_t size, struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq = calloc(1, sizeof(*cq));
	int ret = 0;

	if (!cq)
		return RPMA_E_NOMEM;
	cq->shared = shared != NULL;
	cq->channel = shared;
	if (!shared)
		ret = core_channel_new(dev, &cq->channel);
	if (!ret)
		ret = core_result(CORE_CALL,
			dev->ops->cq_create(dev, cq->channel, clip(size), &cq->cq),
			"cannot create a completion queue of %u", size);
	if (!ret)
		ret = core_cq_rearm(cq->cq);
	if (ret) {
		core_cq_delete(cq);
		return ret;
	}
	*cq_ptr = cq;
	return 0;
}

int core_cq_delete(struct rpma_cq *cq)
{
	int ret = 0;

	if (!cq)
		return 0;
	if (cq->cq)
		ret = core_result(CORE_CALL, cq->cq->dev->ops->cq_destroy(cq->cq),
			"cannot destroy a completion queue");
	if (!cq->shared)
		ret = core_first(ret, core_channel_delete(cq->channel));
	free(cq);
	return ret;
}

int core_channel_next_event(struct rp_channel *channel, struct rp_cq **cq)
{
	return core_result(CORE_CALL_WAIT, channel->dev->ops->channel_wait(channel, cq),
		"cannot wait for completions");
}

int core_cq_get_wc(struct rpma_cq *cq, int n, struct ibv_wc *wc, int *got)
{
	int rc = cq->cq->dev->ops->cq_poll(cq->cq, n, wc);

	if (rc == 0) {
		rp_log_debug("no completion");
		return RPMA_E_NO_COMPLETION;
	}
	if (rc < 0)
		return core_result(CORE_CALL, rc, "cannot poll a completion queue");
	if (rc > n) {
		rp_log_error("the provider returned %d completions, %d asked for", rc, n);
		return RPMA_E_UNKNOWN;
	}
	*got = rc;
	return 0;
}

int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	if (!cq || !fd)
		return RPMA_E_INVAL;

	*fd = cq->channel->fd;
	return 0;
}

int core_cq_wait(struct rpma_cq *cq)
{
	struct rp_cq *told;
	int ret;

	if (cq->shared)
		return RPMA_E_SHARED_CHANNEL;

	ret = core_channel_next_event(cq->channel, &told);
	return ret ? ret : core_cq_rearm(told);
}

int rpma_cq_wait(struct rpma_cq *cq)
{
	return cq ? core_cq_wait(cq) : RPMA_E_INVAL;
}

int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	int got = 0, ret;

	if (!cq || num_entries < 1 || !wc)
		return RPMA_E_INVAL;
	if (num_entries > 1 && !num_entries_got)
		return RPMA_E_INVAL;

	ret = core_cq_get_wc(cq, num_entries, wc, &got);
	if (!ret && num_entries_got)
		*num_entries_got = got;
	return ret;
}
