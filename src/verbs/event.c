/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * event.c -- what happens to connections
 *
 * The last message of making a connection and the first of ending it may overtake
 * each other, and the kernel's connection manager drops the one that it gets too
 * late: an accepted connection then ends without ever having been established. That
 * it has been is certain, as nobody disconnects before. So it is told first, and the
 * end is kept for the next time.
 */

#include "base/log.h"
#include "verbs/verbs.h"

static int translate(enum rdma_cm_event_type cm, enum rpma_conn_event *event)
{
	switch (cm) {
	case RDMA_CM_EVENT_ESTABLISHED:
		*event = RPMA_CONN_ESTABLISHED;
		return 0;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		*event = RPMA_CONN_LOST;
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		*event = RPMA_CONN_CLOSED;
		return 0;
	case RDMA_CM_EVENT_REJECTED:
		*event = RPMA_CONN_REJECTED;
		return 0;
	case RDMA_CM_EVENT_UNREACHABLE:
		*event = RPMA_CONN_UNREACHABLE;
		return 0;
	default:
		return -EPROTO;
	}
}

/* What is left of an event once it is acknowledged. */
struct outcome {
	enum rdma_cm_event_type event;
	int status;
};

/* The other side waits for our answer to its disconnect, and what is still posted
 * here can only be flushed. iWARP has done both by itself. */
static void answer_disconnect(struct rv_conn *conn)
{
	if (!rv_is_iwarp(conn->cm.id->verbs))
		rdma_disconnect(conn->cm.id);
}

/* Needs event_lock. */
static void established(struct rv_conn *conn)
{
	const unsigned caps = atomic_load(&conn->base.caps);

	conn->established = true;
	rp_log_info("connection on %s: a flush is %s, an atomic write is %s",
		ibv_get_device_name(conn->cm.id->verbs->device),
		caps & RP_CAP_FLUSH ? "the device's own" : "a read",
		caps & RP_CAP_ATOMIC_WRITE ? "the device's own" : "an inline write");
	if (atomic_load(&conn->leaving))
		rdma_disconnect(conn->cm.id);
}

/* Needs event_lock. */
static void understand(struct rv_conn *conn, struct outcome *outcome)
{
	if (outcome->event == RDMA_CM_EVENT_ESTABLISHED)
		established(conn);
	if (outcome->event != RDMA_CM_EVENT_DISCONNECTED)
		return;
	answer_disconnect(conn);
	if (conn->established || !atomic_load(&conn->sendable))
		return;
	rp_log_info("a connection's end has overtaken its establishment");
	*outcome = (struct outcome){ .event = RDMA_CM_EVENT_ESTABLISHED };
	established(conn);
	conn->closed = true;
	gate_keep(&conn->cm.gate, true);
}

/* Needs event_lock. */
static int take_event(struct rv_conn *conn, struct outcome *outcome)
{
	struct rdma_cm_event *event;
	int ret = rv_cm_take(&conn->cm, &event);

	if (ret)
		return ret;
	*outcome = (struct outcome){ event->event, event->status };
	if (event->event == RDMA_CM_EVENT_ESTABLISHED) {
		rv_conn_hear(conn, &event->param.conn);
		rv_qp_ready(conn);
	}
	rdma_ack_cm_event(event);
	understand(conn, outcome);
	return 0;
}

/* Needs event_lock. */
static int take_kept(struct rv_conn *conn, struct outcome *outcome)
{
	*outcome = (struct outcome){ .event = RDMA_CM_EVENT_DISCONNECTED };
	conn->closed = false;
	gate_keep(&conn->cm.gate, false);
	return 0;
}

static int take(struct gate *gate, void *out)
{
	struct rv_conn *conn = container_of(gate, struct rv_conn, cm.gate);
	int ret;

	pthread_mutex_lock(&conn->event_lock);
	ret = conn->closed ? take_kept(conn, out) : take_event(conn, out);
	pthread_mutex_unlock(&conn->event_lock);
	return ret;
}

int rv_conn_next_event(struct rp_conn *base, enum rpma_conn_event *event)
{
	struct outcome outcome;
	int ret = gate_wait(&rv_conn(base)->cm.gate, take, &outcome);

	if (ret)
		return ret;
	ret = translate(outcome.event, event);
	if (ret)
		rp_log_warning("a connection has got %s, status %d, which has no meaning here",
			rdma_event_str(outcome.event), outcome.status);
	else if (outcome.status)
		rp_log_notice("connection: %s, status %d%s%s", rdma_event_str(outcome.event),
			outcome.status, outcome.status < 0 ? ", " : "",
			outcome.status < 0 ? RP_STRERROR(-outcome.status) : "");
	return ret;
}
