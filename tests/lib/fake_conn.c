/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fake_conn.c -- the ops of the fake provider on listeners and connections
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_objects.h"

/* ---- connections -------------------------------------------------------- */

int fake_listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **base)
{
	struct fake_call *call = fake_record(FAKE_LISTENER_CREATE, pd);
	struct fake_listener *listener;
	int rc = fake_failure(FAKE_LISTENER_CREATE);

	snprintf(call->addr, sizeof(call->addr), "%s", addr);
	snprintf(call->port, sizeof(call->port), "%s", port);
	if (rc)
		return rc;
	listener = fake_object_alloc(sizeof(*listener));
	fake_object_use(&listener->object, &to_pd(pd)->object);
	listener->base.pd = pd;
	listener->base.fd = 500 + (int)fake.next_number++;
	*base = &listener->base;
	return 0;
}

int fake_listener_destroy(struct rp_listener *base)
{
	fake_record(FAKE_LISTENER_DESTROY, base);
	fake_object_destroy(&to_listener(base)->object);
	return fake_failure(FAKE_LISTENER_DESTROY);
}

static void tell_peer_data(struct fake_conn *conn)
{
	conn->base.peer_data.ptr = fake.peer_data_len ? fake.peer_data : NULL;
	conn->base.peer_data.len = fake.peer_data_len;
}

static struct fake_conn *conn_alloc(struct rp_pd *pd, bool passive)
{
	struct fake_conn *conn = fake_object_alloc(sizeof(*conn));

	fake_object_use(&conn->object, &to_pd(pd)->object);
	conn->object.kind = FAKE_CONN;
	conn->base.pd = pd;
	conn->base.caps = fake.conn_caps;
	conn->base.event_fd = -1;
	/* Not valid yet: to be seen if somebody looks. */
	conn->base.peer_data = (struct rpma_conn_private_data){ conn, 77 };
	conn->passive = passive;
	return conn;
}

int fake_listener_next(struct rp_listener *base, struct rp_conn **conn_base)
{
	struct rp_pd *pd = to_listener(base)->base.pd;
	struct fake_conn *conn;
	int rc;

	fake_record(FAKE_LISTENER_NEXT, base);
	/* Here a hook may destroy the listener. */
	rc = fake_failure(FAKE_LISTENER_NEXT);
	if (rc)
		return rc;
	if (!fake.n_requests)
		return -EAGAIN;
	fake.n_requests--;
	conn = conn_alloc(pd, true);
	tell_peer_data(conn);
	*conn_base = &conn->base;
	return 0;
}

int fake_conn_create(
	struct rp_pd *pd, const char *addr, const char *port, int timeout_ms, struct rp_conn **base)
{
	struct fake_call *call = fake_record(FAKE_CONN_CREATE, pd);
	int rc = fake_failure(FAKE_CONN_CREATE);

	snprintf(call->addr, sizeof(call->addr), "%s", addr);
	snprintf(call->port, sizeof(call->port), "%s", port);
	call->timeout_ms = timeout_ms;
	if (rc)
		return rc;
	*base = &conn_alloc(pd, false)->base;
	return 0;
}

/* ---- posting ------------------------------------------------------------- */

static int post_send(struct rp_sq *sq)
{
	struct rp_conn *base = container_of(sq, struct rp_conn, sq);
	struct fake_call *call = fake_record(FAKE_POST_SEND, base);
	struct fake_conn *conn = to_conn(base);
	struct rp_send_wr *wr = &call->send;
	int rc = fake_failure(FAKE_POST_SEND);

	MUST(sq->lock.state & LOCK_TAKEN);
	MUST(conn->equipped && !conn->rejected);
	rp_sq_get(sq, wr);
	MUST(sq->wr.num_sge == (wr->lkey || wr->flags & RP_WR_INLINE) || wr->opcode == RP_OP_FLUSH);
	if (wr->flags & RP_WR_INLINE) {
		MUST(!wr->lkey && wr->length <= sizeof(call->inlined));
		memcpy(call->inlined, (const void *)(uintptr_t)wr->addr, wr->length);
	} else if (wr->lkey) {
		call->mr = fake_mr_by_lkey(wr->lkey);
	}
	lock_release(&sq->lock);
	return rc ? rp_send_failed(wr, rc) : 0;
}

int fake_receive(enum fake_op op, struct rp_rq *rq, const void *object, int rc)
{
	struct fake_call *call = fake_record(op, object);
	int failure = fake_failure(op);

	MUST(rq->lock.state & LOCK_TAKEN);
	rp_rq_get(rq, &call->recv);
	MUST(rq->wr.num_sge == !!call->recv.lkey);
	if (call->recv.lkey)
		call->mr = fake_mr_by_lkey(call->recv.lkey);
	lock_release(&rq->lock);
	rc = failure ? failure : rc;
	return rc ? rp_recv_failed(&call->recv, rc) : 0;
}

static int post_recv(struct rp_rq *rq)
{
	struct rp_conn *base = container_of(rq, struct rp_conn, rq);
	struct fake_conn *conn = to_conn(base);

	MUST(conn->equipped && !conn->rejected);
	return fake_receive(FAKE_POST_RECV, rq, base, conn->has_srq ? -EINVAL : 0);
}

/* ---- from the queues on -------------------------------------------------- */

int fake_conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr)
{
	struct fake_call *call = fake_record(FAKE_CONN_SETUP_QP, base);
	struct fake_conn *conn = to_conn(base);
	int rc = fake_failure(FAKE_CONN_SETUP_QP);

	call->attr = *attr;
	MUST(!conn->equipped && !conn->started);
	if (rc)
		return rc;
	conn->equipped = true;
	conn->has_srq = attr->srq != NULL;
	rp_sq_init(&base->sq, post_send, 0);
	rp_rq_init(&base->rq, post_recv, 0);
	conn->base.qp_num = 0x100 + fake.next_number++;
	fake_object_use(&conn->object, &to_cq(attr->send_cq)->object);
	fake_object_use(&conn->object, &to_cq(attr->recv_cq)->object);
	if (attr->srq)
		fake_object_use(&conn->object, &to_srq(attr->srq)->object);
	return 0;
}

static int start(enum fake_op op, struct rp_conn *base, const void *data, size_t len)
{
	struct fake_call *call = fake_record(op, base);
	struct fake_conn *conn = to_conn(base);
	int rc = fake_failure(op);

	MUST(len <= sizeof(call->data) && (data || !len));
	if (data)
		memcpy(call->data, data, len);
	call->data_len = len;
	MUST(conn->equipped && !conn->started);
	MUST(conn->passive == (op == FAKE_CONN_ACCEPT));
	if (rc)
		return rc;
	conn->started = true;
	conn->base.event_fd = 500 + (int)fake.next_number++;
	return 0;
}

int fake_conn_connect(struct rp_conn *base, const void *data, size_t len)
{
	return start(FAKE_CONN_CONNECT, base, data, len);
}

int fake_conn_accept(struct rp_conn *base, const void *data, size_t len)
{
	return start(FAKE_CONN_ACCEPT, base, data, len);
}

int fake_conn_reject(struct rp_conn *base)
{
	struct fake_conn *conn = to_conn(base);

	fake_record(FAKE_CONN_REJECT, base);
	MUST(conn->passive && !conn->started);
	conn->started = conn->rejected = true;
	return fake_failure(FAKE_CONN_REJECT);
}

int fake_conn_next_event(struct rp_conn *base, enum rpma_conn_event *event)
{
	struct fake_conn *conn = to_conn(base);
	int rc;

	fake_record(FAKE_CONN_NEXT_EVENT, base);
	MUST(conn->started && !conn->rejected);
	rc = fake_failure(FAKE_CONN_NEXT_EVENT);
	if (rc)
		return rc;
	if (!fake.n_events)
		return -EAGAIN;
	*event = fake.events[0];
	SHIFT(fake.events, fake.n_events);
	if (*event == RPMA_CONN_ESTABLISHED && !conn->passive)
		tell_peer_data(conn);
	return 0;
}

int fake_conn_disconnect(struct rp_conn *base)
{
	struct fake_conn *conn = to_conn(base);

	fake_record(FAKE_CONN_DISCONNECT, base);
	MUST(conn->started && !conn->rejected);
	return fake_failure(FAKE_CONN_DISCONNECT);
}

int fake_conn_destroy(struct rp_conn *base)
{
	fake_record(FAKE_CONN_DESTROY, base);
	fake_object_destroy(&to_conn(base)->object);
	return fake_failure(FAKE_CONN_DESTROY);
}
