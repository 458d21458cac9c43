/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * ep.c -- endpoints: where connection requests come from
 */

#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

int rpma_ep_listen(
	struct rpma_peer *peer, const char *addr, const char *port, struct rpma_ep **ep_ptr)
{
	struct rpma_ep *ep;
	int ret;

	if (!peer || !addr || !port || !ep_ptr)
		return RPMA_E_INVAL;

	ep = malloc(sizeof(*ep));
	if (!ep)
		return RPMA_E_NOMEM;
	ret = core_result(CORE_CALL,
		peer->pd->dev->ops->listener_create(peer->pd, addr, port, &ep->listener),
		"cannot listen on %s, port %s", addr, port);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->sink = core_sink_get(peer->sink);
	rp_log_notice("listening on %s, port %s", addr, port);
	*ep_ptr = ep;
	return 0;
}

int rpma_ep_shutdown(struct rpma_ep **ep_ptr)
{
	struct rpma_ep *ep;
	int ret;

	if (!ep_ptr)
		return RPMA_E_INVAL;
	ep = *ep_ptr;
	if (!ep)
		return 0;

	ret = core_result(CORE_CALL, ep->listener->pd->dev->ops->listener_destroy(ep->listener),
		"cannot close an endpoint");
	ret = core_first(ret, core_sink_put(ep->sink));
	free(ep);
	*ep_ptr = NULL;
	return ret;
}

int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd)
{
	if (!ep || !fd)
		return RPMA_E_INVAL;

	*fd = ep->listener->fd;
	return 0;
}

int rpma_ep_next_conn_req(
	struct rpma_ep *ep, const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req;
	struct core_sink *sink;
	int ret;

	if (!ep || !req_ptr)
		return RPMA_E_INVAL;

	/* Before the wait: no request is lost to a lack of memory, and after it
	 * another thread may have shut ep down. */
	sink = ep->sink;
	ret = core_conn_req_alloc(true, &req);
	if (ret)
		return ret;
	ret = core_result(CORE_CALL_NEXT_REQ,
		ep->listener->pd->dev->ops->listener_next(ep->listener, &req->conn->conn),
		"cannot get the next connection request");
	if (!ret)
		ret = core_conn_req_equip(req, sink, cfg);
	if (ret) {
		core_conn_req_delete(req);
		return ret;
	}
	*req_ptr = req;
	return 0;
}
