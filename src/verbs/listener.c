/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * listener.c -- endpoints that connections are requested from
 */

#include <stdlib.h>

#include "base/log.h"
#include "verbs/verbs.h"

static int listen_on(struct rdma_cm_id *id, const char *addr, const char *port)
{
	struct rdma_addrinfo *rai;
	int ret = rv_getaddrinfo(addr, port, RAI_PASSIVE, &rai);

	if (ret)
		return ret;
	if (rdma_bind_addr(id, rai->ai_src_addr) || rdma_listen(id, 0))
		ret = rv_errno();
	rdma_freeaddrinfo(rai);
	return ret;
}

int rv_listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **out)
{
	struct rv_listener *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return -ENOMEM;
	ret = rv_cm_open(&l->cm);
	if (ret)
		goto fail_memory;
	ret = listen_on(l->cm.id, addr, port);
	if (ret)
		goto fail_cm;
	pthread_mutex_init(&l->lock, NULL);
	l->base.pd = pd;
	l->base.fd = l->cm.gate.fd;
	*out = &l->base;
	return 0;

fail_cm:
	rv_cm_close(&l->cm);
fail_memory:
	free(l);
	return ret;
}

int rv_listener_destroy(struct rp_listener *base)
{
	struct rv_listener *l = rv_listener(base);
	int ret = rv_cm_close(&l->cm);

	pthread_mutex_destroy(&l->lock);
	free(l);
	return ret;
}

/* An event of a listener, and for a request what it has become. */
struct arrival {
	enum rdma_cm_event_type event;
	int status;
	struct rv_conn *conn;
};

/* Needs l->lock. */
static int receive(struct rv_listener *l, struct arrival *a)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int ret = rv_cm_take(&l->cm, &event);

	if (ret)
		return ret;
	a->event = event->event;
	a->status = event->status;
	id = event->id;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		a->conn->cm.id = id;
		rv_conn_hear(a->conn, &event->param.conn);
	}
	rdma_ack_cm_event(event);
	if (a->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		ret = rv_cm_adopt(&a->conn->cm, id);
	return ret;
}

/* Has the other side given up before the request was taken? The kernel tells nobody,
 * but nothing can be done with it any more. */
static bool is_over(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	return rdma_init_qp_attr(id, &attr, &mask) != 0;
}

/* -EAGAIN: nothing to tell of. Other events are the listener's own: a request has
 * taken its own with it. */
static int judge(const struct arrival *a)
{
	int ret;

	if (a->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		rp_log_error("a listening endpoint has got %s, status %d", rdma_event_str(a->event),
			a->status);
		return -EINVAL;
	}
	ret = rv_conn_check_device(a->conn);
	if (!ret && is_over(a->conn->cm.id))
		ret = -EAGAIN;
	if (ret) {
		rdma_reject(a->conn->cm.id, NULL, 0);
		rv_cm_close(&a->conn->cm);
	}
	return ret;
}

/* All of it inside the gate: once outside, the listener may be gone. */
static int take(struct gate *gate, void *out)
{
	struct rv_listener *l = container_of(gate, struct rv_listener, cm.gate);
	struct arrival a = { .conn = rv_conn_new(l->base.pd) };
	struct rv_conn **conn = out;
	int ret;

	if (a.conn == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&l->lock);
	ret = receive(l, &a);
	pthread_mutex_unlock(&l->lock);
	if (!ret)
		ret = judge(&a);
	if (ret)
		rv_conn_free(a.conn);
	else
		*conn = a.conn;
	return ret;
}

int rv_listener_next(struct rp_listener *base, struct rp_conn **out)
{
	struct rv_conn *conn;
	int ret = gate_wait(&rv_listener(base)->cm.gate, take, &conn);

	if (!ret)
		*out = &conn->base;
	return ret;
}
