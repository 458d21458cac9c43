/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * srq.c -- shared receive queues
 */

#include <errno.h>
#include <stdlib.h>

#include "core/core.h"

static int srq_init(struct rpma_srq *srq, struct rp_pd *pd, const struct rpma_srq_cfg *cfg)
{
	uint32_t rq_size = atomic_load(&cfg->rq_size);
	uint32_t rcq_size = atomic_load(&cfg->rcq_size);
	int ret;

	ret = core_result(CORE_CALL, pd->dev->ops->srq_create(pd, rq_size, &srq->srq),
		"cannot create a shared receive queue of %u", rq_size);
	if (ret || !rcq_size)
		return ret;
	ret = core_cq_new(pd->dev, NULL, rcq_size, &srq->rcq);
	if (ret)
		pd->dev->ops->srq_destroy(srq->srq);
	return ret;
}

/* *srq_ptr is NULL when there is no memory. */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr)
{
	struct rpma_srq *srq;
	int ret;

	if (!peer || !srq_ptr)
		return RPMA_E_INVAL;

	srq = calloc(1, sizeof(*srq));
	if (!srq) {
		*srq_ptr = NULL;
		return RPMA_E_NOMEM;
	}
	ret = srq_init(srq, peer->pd, cfg ? cfg : &core_srq_cfg_default);
	if (ret) {
		free(srq);
		return ret;
	}
	*srq_ptr = srq;
	return 0;
}

int rpma_srq_delete(struct rpma_srq **srq_ptr)
{
	struct rpma_srq *srq;
	int rc, ret;

	if (!srq_ptr)
		return RPMA_E_INVAL;
	srq = *srq_ptr;
	if (!srq)
		return 0;

	rc = srq->srq->pd->dev->ops->srq_destroy(srq->srq);
	ret = core_result(CORE_CALL, rc, "cannot destroy a shared receive queue");
	/* The connections that keep it busy also complete into its queue. */
	if (rc != -EBUSY)
		ret = core_first(ret, core_cq_delete(srq->rcq));
	else
		free(srq->rcq);
	free(srq);
	*srq_ptr = NULL;
	return ret;
}

int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr)
{
	if (!srq || !rcq_ptr)
		return RPMA_E_INVAL;

	*rcq_ptr = srq->rcq;
	return 0;
}
