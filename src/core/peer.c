/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * peer.c -- a protection domain on a device
 */

#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"
#include "core/providers.h"

static void tell_what_is_emulated(const struct rp_device *dev)
{
	if (!(dev->caps & RP_CAP_ATOMIC_WRITE))
		rp_log_info("%s device without atomic write: an inline write takes its place",
			dev->ops->name);
	if (!(dev->caps & RP_CAP_FLUSH))
		rp_log_info("%s device without flush: a read takes its place", dev->ops->name);
}

/* Everything of a peer but its memory. */
static int peer_init(struct rpma_peer *peer, struct ibv_context *ibv_ctx)
{
	struct rp_device *dev;
	int ret;

	ret = core_provider_open(ibv_ctx, &dev);
	if (ret)
		return ret;
	tell_what_is_emulated(dev);
	ret = core_result(CORE_CALL_PD_ALLOC, dev->ops->pd_alloc(dev, &peer->pd),
		"cannot allocate a protection domain");
	if (ret)
		return ret;
	ret = core_sink_new(peer->pd, &peer->sink);
	if (ret)
		dev->ops->pd_free(peer->pd);
	return ret;
}

int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr)
{
	struct rpma_peer *peer;
	int ret;

	if (!ibv_ctx || !peer_ptr)
		return RPMA_E_INVAL;

	peer = malloc(sizeof(*peer));
	if (!peer)
		return RPMA_E_NOMEM;
	ret = peer_init(peer, ibv_ctx);
	if (ret) {
		free(peer);
		return ret;
	}
	*peer_ptr = peer;
	return 0;
}

int rpma_peer_delete(struct rpma_peer **peer_ptr)
{
	struct rp_pd *pd;
	int ret;

	if (!peer_ptr)
		return RPMA_E_INVAL;
	if (!*peer_ptr)
		return 0;

	pd = (*peer_ptr)->pd;
	ret = core_sink_put((*peer_ptr)->sink);
	ret = core_first(
		ret, core_result(CORE_CALL, pd->dev->ops->pd_free(pd), "cannot delete a peer"));
	free(*peer_ptr);
	*peer_ptr = NULL;
	return ret;
}
