/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_objects.h"

_Noreturn void fake_broken(const char *func, const char *rule)
{
	fprintf(stderr, "%s: a rule of provider.h is broken: %s\n", func, rule);
	abort();
}

/* ---- record, failures --------------------------------------------------- */

static const char *const op_names[FAKE_OPS] = {
	[FAKE_FIND] = "find",
	[FAKE_OPEN] = "open",
	[FAKE_PD_ALLOC] = "pd_alloc",
	[FAKE_PD_FREE] = "pd_free",
	[FAKE_MR_REG] = "mr_reg",
	[FAKE_MR_DEREG] = "mr_dereg",
	[FAKE_MR_ADVISE] = "mr_advise",
	[FAKE_CHANNEL_CREATE] = "channel_create",
	[FAKE_CHANNEL_DESTROY] = "channel_destroy",
	[FAKE_CHANNEL_WAIT] = "channel_wait",
	[FAKE_CQ_CREATE] = "cq_create",
	[FAKE_CQ_DESTROY] = "cq_destroy",
	[FAKE_CQ_ARM] = "cq_arm",
	[FAKE_CQ_POLL] = "cq_poll",
	[FAKE_SRQ_CREATE] = "srq_create",
	[FAKE_SRQ_DESTROY] = "srq_destroy",
	[FAKE_SRQ_POST_RECV] = "srq_post_recv",
	[FAKE_LISTENER_CREATE] = "listener_create",
	[FAKE_LISTENER_DESTROY] = "listener_destroy",
	[FAKE_LISTENER_NEXT] = "listener_next",
	[FAKE_CONN_CREATE] = "conn_create",
	[FAKE_CONN_SETUP_QP] = "conn_setup_qp",
	[FAKE_CONN_CONNECT] = "conn_connect",
	[FAKE_CONN_ACCEPT] = "conn_accept",
	[FAKE_CONN_REJECT] = "conn_reject",
	[FAKE_CONN_NEXT_EVENT] = "conn_next_event",
	[FAKE_CONN_DISCONNECT] = "conn_disconnect",
	[FAKE_CONN_DESTROY] = "conn_destroy",
	[FAKE_POST_SEND] = "post_send",
	[FAKE_POST_RECV] = "post_recv",
};

struct fake_state fake;

struct fake_call *fake_record(enum fake_op op, const void *object)
{
	struct fake_call *call;

	MUST(fake.n_calls < FAKE_CALLS_MAX);
	call = &fake.calls[fake.n_calls++];
	*call = (struct fake_call){ .op = op, .object = object };
	return call;
}

int fake_failure(enum fake_op op)
{
	int err = fake.fail_op_err[op];
	void (*hook)(void *arg) = fake.hook[op];

	fake.hook[op] = NULL;
	if (hook)
		hook(fake.hook_arg[op]);
	fake.fail_op_err[op] = 0;
	if (fake.fail_at && --fake.fail_at == 0)
		err = fake.fail_at_err;
	fake.failed |= err != 0;
	return -err;
}

void fake_fail_at(unsigned n, int err)
{
	fake.fail_at = n;
	fake.fail_at_err = err;
	fake.failed = false;
}

void fake_fail(enum fake_op op, int err)
{
	fake.fail_op_err[op] = err;
	fake.failed = false;
}

bool fake_failed(void)
{
	return fake.failed;
}

void fake_hook(enum fake_op op, void (*hook)(void *arg), void *arg)
{
	fake.hook[op] = hook;
	fake.hook_arg[op] = arg;
}

unsigned fake_calls(void)
{
	return fake.n_calls;
}

unsigned fake_count(enum fake_op op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake.n_calls; i++)
		n += fake.calls[i].op == op;
	return n;
}

const char *fake_op_name(enum fake_op op)
{
	return op_names[op];
}

const struct fake_call *fake_call(unsigned i)
{
	return i < fake.n_calls ? &fake.calls[i] : NULL;
}

const struct fake_call *fake_last(enum fake_op op)
{
	for (unsigned i = fake.n_calls; i > 0; i--) {
		if (fake.calls[i - 1].op == op)
			return &fake.calls[i - 1];
	}
	return NULL;
}

/* ---- objects ------------------------------------------------------------ */

static struct list objects = { &objects, &objects };

/* Not by malloc() or calloc(): tests let those of the library fail. */
void *fake_object_alloc(size_t size)
{
	void *memory;
	struct fake_object *object;

	MUST(posix_memalign(&memory, 16, size) == 0);
	object = memory;
	memset(object, 0, size);
	list_add_tail(&objects, &object->all);
	return object;
}

void fake_object_use(struct fake_object *object, struct fake_object *used)
{
	for (size_t i = 0; used && i < FAKE_USES; i++) {
		if (!object->uses[i]) {
			object->uses[i] = used;
			used->users++;
			return;
		}
	}
	MUST(!used);
}

void fake_object_destroy(struct fake_object *object)
{
	object->destroyed = true;
	if (object->users)
		return;
	for (size_t i = 0; i < FAKE_USES; i++) {
		struct fake_object *used = object->uses[i];

		if (used && --used->users == 0 && used->destroyed)
			fake_object_destroy(used);
	}
	list_del(&object->all);
	free(object);
}

void fake_set_caps(unsigned device, unsigned conn)
{
	fake.device_caps = device;
	fake.conn_caps = conn;
	list_each (node, tmp, &objects) {
		struct fake_object *object = container_of(node, struct fake_object, all);

		if (object->kind == FAKE_CONN)
			container_of(object, struct fake_conn, object)->base.caps = conn;
	}
}

struct rp_mr *fake_mr_by_lkey(uint32_t lkey)
{
	list_each (node, tmp, &objects) {
		struct fake_object *object = container_of(node, struct fake_object, all);
		struct fake_mr *mr = container_of(object, struct fake_mr, object);

		if (object->kind == FAKE_MR && mr->base.lkey == lkey && !object->destroyed)
			return &mr->base;
	}
	fake_broken(__func__, "a request names a region that is there");
}

unsigned fake_alive(void)
{
	unsigned n = 0;

	list_each (node, tmp, &objects)
		n++;
	return n;
}

void fake_reset(void)
{
	list_each (node, tmp, &objects)
		free(container_of(node, struct fake_object, all));
	list_init(&objects);
	memset(&fake, 0, sizeof(fake));
}

/* ---- things to hand out ------------------------------------------------- */

void fake_push_event(enum rpma_conn_event event)
{
	MUST(fake.n_events < FAKE_QUEUE_MAX);
	fake.events[fake.n_events++] = event;
}

void fake_set_peer_data(const void *data, uint8_t len)
{
	memcpy(fake.peer_data, data, len);
	fake.peer_data_len = len;
}

void fake_push_request(void)
{
	fake.n_requests++;
}

void fake_push_cq_event(struct rp_channel *base, struct rp_cq *cq)
{
	struct fake_channel *channel = to_channel(base);

	MUST(channel->n_events < FAKE_QUEUE_MAX);
	channel->events[channel->n_events++] = cq;
}

void fake_push_wc(struct rp_cq *base, const struct ibv_wc *wc)
{
	struct fake_cq *cq = to_cq(base);

	MUST(cq->n_wc < FAKE_QUEUE_MAX);
	cq->wc[cq->n_wc++] = *wc;
	if (cq->armed)
		fake_push_cq_event(base->channel, base);
	cq->armed = false;
}

void fake_set_poll_result(int result)
{
	fake.poll_result_set = true;
	fake.poll_result = result;
}
