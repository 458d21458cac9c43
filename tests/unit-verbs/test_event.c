/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_event.c -- the order in which a connection tells of its events, with a
 * librdmacm that brings them in every order */

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/list.h"
#include "support.h"
#include "verbs/verbs.h"

/* ---- librdmacm ------------------------------------------------------------- */

/* A connection whose event channel is a pipe; each byte is an event. */
struct rig {
	struct rv_conn *conn;
	struct rdma_event_channel channel;
	struct rdma_cm_id id;
	struct ibv_context context;
	struct ibv_device device;
	struct ibv_qp qp;
	int pipe[2];
	int disconnects; /* of ours */
};

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	static struct rdma_cm_event e;
	unsigned char c;

	if (read(channel->fd, &c, 1) != 1)
		return -1;
	e = (struct rdma_cm_event){ .event = c };
	*event = &e;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	container_of(id, struct rig, id)->disconnects++;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	return 0;
}

static void rig_open(struct rig *r, enum ibv_transport_type transport)
{
	*r = (struct rig){ .conn = rv_conn_new(NULL) };
	assert_non_null(r->conn);
	assert_int_equal(pipe(r->pipe), 0);
	r->channel.fd = r->pipe[0];
	r->device.transport_type = transport;
	r->context.device = &r->device;
	r->id.verbs = &r->context;
	r->id.qp = &r->qp;
	r->conn->cm.id = &r->id;
	r->conn->cm.channel = &r->channel;
	/* the queue pair has been made ready by who made the connection */
	r->conn->sendable = true;
	assert_int_equal(gate_open(&r->conn->cm.gate, r->pipe[0]), 0);
}

static void rig_close(struct rig *r)
{
	gate_close(&r->conn->cm.gate);
	gate_free(&r->conn->cm.gate);
	rv_conn_free(r->conn);
	close(r->pipe[0]);
	close(r->pipe[1]);
}

static void comes(struct rig *r, enum rdma_cm_event_type event)
{
	unsigned char c = event;

	assert_int_equal(write(r->pipe[1], &c, 1), 1);
}

static void is_told(struct rig *r, enum rpma_conn_event expected)
{
	struct pollfd p = { .fd = r->conn->cm.gate.fd, .events = POLLIN };
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(rv_conn_next_event(&r->conn->base, &event), 0);
	assert_int_equal(event, expected);
}

static void nothing_is_told(struct rig *r)
{
	struct pollfd p = { .fd = r->conn->cm.gate.fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 0), 0);
}

/* ---- cases ----------------------------------------------------------------- */

static void in_order(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	comes(&r, RDMA_CM_EVENT_ESTABLISHED);
	comes(&r, RDMA_CM_EVENT_DISCONNECTED);
	is_told(&r, RPMA_CONN_ESTABLISHED);
	assert_int_equal(r.disconnects, 0);
	is_told(&r, RPMA_CONN_CLOSED);
	assert_int_equal(r.disconnects, 1);
	nothing_is_told(&r);
	rig_close(&r);
}

static void the_end_overtakes_the_beginning(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	comes(&r, RDMA_CM_EVENT_DISCONNECTED);
	is_told(&r, RPMA_CONN_ESTABLISHED);
	assert_int_equal(r.disconnects, 1); /* the other side need not wait for us */
	is_told(&r, RPMA_CONN_CLOSED);
	assert_int_equal(r.disconnects, 1);
	nothing_is_told(&r);
	rig_close(&r);
}

static void what_follows_stays_behind(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	comes(&r, RDMA_CM_EVENT_DISCONNECTED);
	comes(&r, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	is_told(&r, RPMA_CONN_ESTABLISHED);
	is_told(&r, RPMA_CONN_CLOSED);
	is_told(&r, RPMA_CONN_CLOSED);
	nothing_is_told(&r);
	rig_close(&r);
}

/* What never came to be has not been established. */
static void refusals_are_the_first_word(void **state)
{
	static const struct {
		enum rdma_cm_event_type comes;
		enum rpma_conn_event told;
	} cases[] = {
		{ RDMA_CM_EVENT_REJECTED, RPMA_CONN_REJECTED },
		{ RDMA_CM_EVENT_UNREACHABLE, RPMA_CONN_UNREACHABLE },
		{ RDMA_CM_EVENT_CONNECT_ERROR, RPMA_CONN_LOST },
		{ RDMA_CM_EVENT_DEVICE_REMOVAL, RPMA_CONN_LOST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;

		rig_open(&r, IBV_TRANSPORT_IB);
		comes(&r, cases[i].comes);
		is_told(&r, cases[i].told);
		nothing_is_told(&r);
		rig_close(&r);
	}
}

static void a_client_is_told_as_it_comes(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	r.conn->sendable = false;
	comes(&r, RDMA_CM_EVENT_DISCONNECTED);
	is_told(&r, RPMA_CONN_CLOSED);
	nothing_is_told(&r);
	rig_close(&r);
}

static void iwarp_has_answered(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IWARP);
	comes(&r, RDMA_CM_EVENT_ESTABLISHED);
	comes(&r, RDMA_CM_EVENT_DISCONNECTED);
	is_told(&r, RPMA_CONN_ESTABLISHED);
	is_told(&r, RPMA_CONN_CLOSED);
	assert_int_equal(r.disconnects, 0);
	rig_close(&r);
}

static void a_disconnect_that_came_too_early(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	r.conn->sendable = false; /* it is a client */
	assert_int_equal(rv_conn_disconnect(&r.conn->base), 0);
	assert_int_equal(r.disconnects, 0);
	comes(&r, RDMA_CM_EVENT_ESTABLISHED);
	is_told(&r, RPMA_CONN_ESTABLISHED);
	assert_int_equal(r.disconnects, 1);
	rig_close(&r);
}

static void the_unknown_is_an_error(void **state)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rig r;

	(void)state;
	rig_open(&r, IBV_TRANSPORT_IB);
	comes(&r, RDMA_CM_EVENT_MULTICAST_JOIN);
	assert_int_equal(rv_conn_next_event(&r.conn->base, &event), -EPROTO);
	assert_int_equal(event, RPMA_CONN_UNDEFINED);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(the_end_overtakes_the_beginning),
		cmocka_unit_test(what_follows_stays_behind),
		cmocka_unit_test(refusals_are_the_first_word),
		cmocka_unit_test(a_client_is_told_as_it_comes),
		cmocka_unit_test(iwarp_has_answered),
		cmocka_unit_test(a_disconnect_that_came_too_early),
		cmocka_unit_test(the_unknown_is_an_error),
	};

	return cmocka_run_group_tests_name("verbs: event", tests, NULL, NULL);
}
