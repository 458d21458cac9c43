/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * utils.c -- devices by address, names of events
 */

#include "core/core.h"
#include "core/providers.h"

int rpma_utils_get_ibv_context(
	const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **ibv_ctx_ptr)
{
	if (!addr || !ibv_ctx_ptr)
		return RPMA_E_INVAL;
	if (type != RPMA_UTIL_IBV_CONTEXT_LOCAL && type != RPMA_UTIL_IBV_CONTEXT_REMOTE)
		return RPMA_E_INVAL;

	return core_provider_find(addr, type, ibv_ctx_ptr);
}

/* *is_odp_capable is 0 after a failure, too. */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable)
{
	struct rp_device *dev;
	int ret;

	if (!ibv_ctx || !is_odp_capable)
		return RPMA_E_INVAL;

	*is_odp_capable = 0;
	ret = core_provider_open(ibv_ctx, &dev);
	if (!ret)
		*is_odp_capable = (dev->caps & RP_CAP_ODP) != 0;
	return ret;
}

const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event)
{
	switch (conn_event) {
	case RPMA_CONN_UNDEFINED:
		return "Undefined connection event";
	case RPMA_CONN_ESTABLISHED:
		return "Connection established";
	case RPMA_CONN_CLOSED:
		return "Connection closed";
	case RPMA_CONN_LOST:
		return "Connection lost";
	case RPMA_CONN_REJECTED:
		return "Connection rejected";
	case RPMA_CONN_UNREACHABLE:
		return "Connection unreachable";
	default:
		return "Unsupported connection event";
	}
}
