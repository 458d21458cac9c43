/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cq.c -- completion queues and the channels that tell of them
 */

#include <errno.h>
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

/* ---- taking completions --------------------------------------------------- */

/* The provider's accounting, see struct rp_cq. */
__attribute__((noinline)) void core_cq_count_other(struct rp_cq *cq, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		atomic_fetch_add_explicit(&cq->recvs, 1, memory_order_release);
	else
		atomic_store_explicit(&cq->failed, true, memory_order_release);
}

static inline void count(struct rp_cq *cq, const struct ibv_wc *wc)
{
	if (__builtin_expect(wc->status | (wc->opcode & ~(IBV_WC_RECV - 1U)), 0))
		core_cq_count_other(cq, wc);
	else
		atomic_fetch_add_explicit(&cq->sends, 1, memory_order_release);
}

static inline int poll_cq(struct rp_cq *cq, int n, struct ibv_wc *wc)
{
	int (*poll)(struct ibv_cq * source, int n, struct ibv_wc *wc) =
		atomic_load_explicit(&cq->poll, memory_order_acquire);

	return poll(atomic_load_explicit(&cq->source, memory_order_relaxed), n, wc);
}

static inline int nothing_taken(void)
{
	rp_log_debug("no completion");
	return RPMA_E_NO_COMPLETION;
}

/* rc has come of a poll for n. */
static __attribute__((cold, noinline)) int poll_failed(int rc, int n)
{
	if (rc < 0)
		return core_result(CORE_CALL, -EIO, "cannot poll a completion queue");
	rp_log_error("the provider returned %d completions, %d asked for", rc, n);
	return RPMA_E_UNKNOWN;
}

int core_cq_get_wc(struct rpma_cq *cq, int n, struct ibv_wc *wc, int *got)
{
	int rc = poll_cq(cq->cq, n, wc);

	if (rc == 0)
		return nothing_taken();
	if (rc < 0 || rc > n)
		return poll_failed(rc, n);
	for (int i = 0; i < rc; i++)
		count(cq->cq, &wc[i]);
	*got = rc;
	return 0;
}

/* ---- public ------------------------------------------------------------- */

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

static __attribute__((noinline)) int get_several(
	struct rpma_cq *cq, int n, struct ibv_wc *wc, int *n_got)
{
	int got = 0, ret;

	if (n < 1 || (n > 1 && !n_got))
		return RPMA_E_INVAL;

	ret = core_cq_get_wc(cq, n, wc, &got);
	if (!ret && n_got)
		*n_got = got;
	return ret;
}

/*
 * Most take one, and know that it was one. What this does by itself is a third of what
 * such a call costs over a device that does nothing: so the two conditions for it are
 * looked at in one, and what is needed behind the poll is put aside in memory, which
 * takes less than to put aside registers for it.
 */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	struct rp_cq *volatile kept_cq;
	struct ibv_wc *volatile kept_wc;
	int rc;

	if (!cq || !wc)
		return RPMA_E_INVAL;
	if (((unsigned)num_entries - 1) | (uintptr_t)num_entries_got)
		return get_several(cq, num_entries, wc, num_entries_got);

	kept_cq = cq->cq;
	kept_wc = wc;
	rc = poll_cq(cq->cq, 1, wc);
	if (__builtin_expect(rc == 1, true)) {
		count(kept_cq, kept_wc);
		return 0;
	}
	return rc == 0 ? nothing_taken() : poll_failed(rc, 1);
}
