/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cm.c -- a librdmacm where everything succeeds at once: each call that has an
 * outcome puts it in the event channel. The active side only; see verbs.c.
 */

#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stub/stub.h"

enum { EVENTS = 16 };

/* The descriptor counts the events. */
struct channel {
	struct rdma_event_channel base;
	struct rdma_cm_event events[EVENTS];
	unsigned put, got;
};

static struct channel *channel_of(struct rdma_event_channel *base)
{
	return (struct channel *)((char *)base - offsetof(struct channel, base));
}

/* Without a channel a call is its own outcome. */
static int outcome(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct channel *ch;

	if (id->channel == NULL)
		return 0;
	ch = channel_of(id->channel);
	ch->events[ch->put++ % EVENTS] = (struct rdma_cm_event){ .id = id, .event = type };
	return eventfd_write(ch->base.fd, 1);
}

/* ---- events -------------------------------------------------------------------------- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct channel *ch = calloc(1, sizeof(*ch));

	if (ch == NULL)
		return NULL;
	ch->base.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	return &ch->base;
}

void rdma_destroy_event_channel(struct rdma_event_channel *base)
{
	close(base->fd);
	free(channel_of(base));
}

int rdma_get_cm_event(struct rdma_event_channel *base, struct rdma_cm_event **event)
{
	struct channel *ch = channel_of(base);
	eventfd_t one;

	if (eventfd_read(base->fd, &one))
		return -1;
	*event = &ch->events[ch->got++ % EVENTS];
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	(void)event;
	return "an event of the stub";
}

/* ---- addresses ------------------------------------------------------------------------- */

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
	struct rdma_addrinfo **res)
{
	static struct sockaddr_in sin = { .sin_family = AF_INET };
	static struct rdma_addrinfo info = { .ai_family = AF_INET,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
		.ai_src_len = sizeof(sin),
		.ai_dst_len = sizeof(sin),
		.ai_src_addr = (struct sockaddr *)&sin,
		.ai_dst_addr = (struct sockaddr *)&sin };

	(void)node, (void)service, (void)hints;
	sin.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1 */
	*res = &info;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	(void)res;
}

int rdma_resolve_addr(
	struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	(void)src, (void)dst, (void)timeout_ms;
	id->verbs = stub_context();
	return outcome(id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)timeout_ms;
	return outcome(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)addr;
	id->verbs = stub_context();
	return 0;
}

/* ---- connections ------------------------------------------------------------------------- */

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
	enum rdma_port_space ps)
{
	*id = calloc(1, sizeof(**id));
	if (*id == NULL)
		return -1;
	(*id)->channel = channel;
	(*id)->context = context;
	(*id)->ps = ps;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	id->channel = channel;
	return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	if (qp == NULL)
		return -1;
	*qp = (struct ibv_qp){ .context = id->verbs,
		.pd = attr->pd,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.qp_num = 1,
		.qp_type = attr->qp_type };
	id->qp = qp;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	free(id->qp);
	id->qp = NULL;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)param;
	return outcome(id, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return outcome(id, RDMA_CM_EVENT_DISCONNECTED);
}

/* ---- the passive side: there is none ------------------------------------------------------- */

static int no_passive_side(void)
{
	errno = ENOSYS;
	return -1;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)id, (void)backlog;
	return no_passive_side();
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)id, (void)param;
	return no_passive_side();
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	(void)id, (void)data, (void)len;
	return no_passive_side();
}
