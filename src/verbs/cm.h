/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cm.h -- an rdma_cm identifier with an event channel of its own
 *
 * Each identifier has its own channel for all its life, so an event can never
 * reach a thread that waits for those of another one, and nothing refers to a
 * channel that is gone. Events are acknowledged as soon as they have been
 * copied, so destroying an identifier never waits for somebody to do so.
 */

#ifndef RPMA_VERBS_CM_H
#define RPMA_VERBS_CM_H 1

#include <errno.h>

#include <rdma/rdma_cma.h>

#include "verbs/gate.h"

struct rv_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct gate gate; /* to events of the channel */
};

/* What librdmacm and libibverbs leave in errno, as result of the seam. */
static inline int rv_errno(void)
{
	return errno > 0 ? -errno : -EIO;
}

/* addr, port as getaddrinfo(3); flags: RAI_*. Logs what errno cannot say. */
int rv_getaddrinfo(const char *addr, const char *port, int flags, struct rdma_addrinfo **rai);

/* A new identifier. */
int rv_cm_open(struct rv_cm *cm);
/* The given identifier, away from the channel that it came by, with all events
 * it may have there. On failure it is destroyed. */
int rv_cm_adopt(struct rv_cm *cm, struct rdma_cm_id *id);

/* Everything, the queue pair of the identifier included. The first error. */
int rv_cm_close(struct rv_cm *cm);

/* Takes the next event there is, or -EAGAIN; to be acknowledged. */
int rv_cm_take(struct rv_cm *cm, struct rdma_cm_event **event);

/* BLOCK for up to timeout_ms: the device and path to ai_dst_addr. */
int rv_cm_resolve_addr(struct rv_cm *cm, struct rdma_addrinfo *rai, int timeout_ms);
int rv_cm_resolve_route(struct rv_cm *cm, int timeout_ms);

#endif /* RPMA_VERBS_CM_H */
