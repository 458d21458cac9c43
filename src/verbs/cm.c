/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cm.c -- see cm.h
 */

#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/log.h"
#include "verbs/cm.h"

static int gai_errno(int gai)
{
	switch (gai) {
	case -1:
	case EAI_SYSTEM:
		return rv_errno();
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return -EHOSTUNREACH;
	}
}

/* getaddrinfo(3) takes any number, and 16 bits of it. */
static bool is_port(const char *port)
{
	char *end;
	long n = strtol(port, &end, 10);

	return end == port || *end || (n >= 0 && n <= UINT16_MAX);
}

int rv_getaddrinfo(const char *addr, const char *port, int flags, struct rdma_addrinfo **rai)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
	};
	int gai, ret;

	if (port && !is_port(port))
		return -EINVAL;
	gai = rdma_getaddrinfo(addr, port, &hints, rai);
	if (!gai)
		return 0;
	ret = gai_errno(gai);
	if (gai != -1 && gai != EAI_SYSTEM)
		rp_log_error("no address for %s, port %s: %s", addr, port ? port : "(none)",
			gai_strerror(gai));
	return ret;
}

static int open_channel(struct rv_cm *cm)
{
	cm->channel = rdma_create_event_channel();
	return cm->channel ? 0 : rv_errno();
}

int rv_cm_open(struct rv_cm *cm)
{
	int ret = open_channel(cm);

	if (ret)
		return ret;
	if (rdma_create_id(cm->channel, &cm->id, NULL, RDMA_PS_TCP)) {
		ret = rv_errno();
		goto fail_channel;
	}
	ret = gate_open(&cm->gate, cm->channel->fd);
	if (ret)
		goto fail_id;
	return 0;

fail_id:
	rdma_destroy_id(cm->id);
fail_channel:
	rdma_destroy_event_channel(cm->channel);
	return ret;
}

int rv_cm_adopt(struct rv_cm *cm, struct rdma_cm_id *id)
{
	int ret = open_channel(cm);

	if (ret) {
		rdma_destroy_id(id);
		return ret;
	}
	cm->id = id;
	if (rdma_migrate_id(id, cm->channel))
		ret = rv_errno();
	else /* after the move, which need not wake who watches the channel */
		ret = gate_open(&cm->gate, cm->channel->fd);
	if (ret) {
		rdma_destroy_id(id);
		rdma_destroy_event_channel(cm->channel);
	}
	return ret;
}

int rv_cm_close(struct rv_cm *cm)
{
	int ret = 0;

	gate_close(&cm->gate);
	if (cm->id->qp)
		rdma_destroy_qp(cm->id);
	if (rdma_destroy_id(cm->id))
		ret = rv_errno();
	rdma_destroy_event_channel(cm->channel);
	gate_free(&cm->gate);
	return ret;
}

int rv_cm_take(struct rv_cm *cm, struct rdma_cm_event **event)
{
	while (rdma_get_cm_event(cm->channel, event)) {
		if (errno == EINTR)
			continue;
		/* ENODATA: how older versions say it */
		if (errno == EAGAIN || errno == ENODATA)
			return -EAGAIN;
		return rv_errno();
	}
	return 0;
}

/* Takes the outcome of a resolution: 0 or its -errno. */
static int take_outcome(struct gate *gate, void *out)
{
	struct rv_cm *cm = container_of(gate, struct rv_cm, gate);
	const enum rdma_cm_event_type *good = out;
	struct rdma_cm_event *event;
	int ret = rv_cm_take(cm, &event);

	if (ret)
		return ret;
	if (event->event != *good)
		ret = event->status < 0 ? event->status : -EIO;
	rdma_ack_cm_event(event);
	/* nobody else is to take this for "nothing there" */
	return ret == -EAGAIN ? -EIO : ret;
}

int rv_cm_resolve_addr(struct rv_cm *cm, struct rdma_addrinfo *rai, int timeout_ms)
{
	enum rdma_cm_event_type good = RDMA_CM_EVENT_ADDR_RESOLVED;

	if (rdma_resolve_addr(cm->id, rai->ai_src_addr, rai->ai_dst_addr, timeout_ms))
		return rv_errno();
	return gate_wait(&cm->gate, take_outcome, &good);
}

int rv_cm_resolve_route(struct rv_cm *cm, int timeout_ms)
{
	enum rdma_cm_event_type good = RDMA_CM_EVENT_ROUTE_RESOLVED;

	if (rdma_resolve_route(cm->id, timeout_ms))
		return rv_errno();
	return gate_wait(&cm->gate, take_outcome, &good);
}
