/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fake_ops.c -- the provider and its ops, but for those of connections
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_objects.h"

static int first(int rc, int next)
{
	return rc ? rc : next;
}

/* ---- protection domain, memory ------------------------------------------ */

static int pd_alloc(struct rp_device *dev, struct rp_pd **base)
{
	struct fake_pd *pd;
	int rc;

	fake_record(FAKE_PD_ALLOC, dev);
	rc = fake_failure(FAKE_PD_ALLOC);
	if (rc)
		return rc;
	pd = fake_object_alloc(sizeof(*pd));
	pd->base.dev = dev;
	*base = &pd->base;
	return 0;
}

static int pd_free(struct rp_pd *base)
{
	struct fake_pd *pd = to_pd(base);
	int rc = pd->object.users ? -EBUSY : 0;

	fake_record(FAKE_PD_FREE, base);
	fake_object_destroy(&pd->object);
	return first(fake_failure(FAKE_PD_FREE), rc);
}

static int mr_reg(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **base)
{
	struct fake_call *call = fake_record(FAKE_MR_REG, pd);
	struct fake_mr *mr;
	int rc = fake_failure(FAKE_MR_REG);

	call->memory = (uintptr_t)addr;
	call->length = length;
	call->type = usage;
	MUST(usage);
	if (rc)
		return rc;
	mr = fake_object_alloc(sizeof(*mr));
	fake_object_use(&mr->object, &to_pd(pd)->object);
	mr->object.kind = FAKE_MR;
	mr->base = (struct rp_mr){ pd, addr, length, 0x1000 + fake.next_number++,
		0x2000 + fake.next_number++ };
	*base = &mr->base;
	return 0;
}

static int mr_dereg(struct rp_mr *base)
{
	fake_record(FAKE_MR_DEREG, base);
	fake_object_destroy(&to_mr(base)->object);
	return fake_failure(FAKE_MR_DEREG);
}

static int mr_advise(struct rp_mr *mr, uint64_t addr, uint64_t length, int advice, uint32_t flags)
{
	struct fake_call *call = fake_record(FAKE_MR_ADVISE, mr);

	call->memory = addr;
	call->length = length;
	call->type = advice;
	call->flags = flags;
	to_mr(mr);
	return fake_failure(FAKE_MR_ADVISE);
}

/* ---- completions -------------------------------------------------------- */

static int channel_create(struct rp_device *dev, struct rp_channel **base)
{
	struct fake_channel *channel;
	int rc;

	fake_record(FAKE_CHANNEL_CREATE, dev);
	rc = fake_failure(FAKE_CHANNEL_CREATE);
	if (rc)
		return rc;
	channel = fake_object_alloc(sizeof(*channel));
	channel->base.dev = dev;
	channel->base.fd = 500 + (int)fake.next_number++;
	*base = &channel->base;
	return 0;
}

static int channel_destroy(struct rp_channel *base)
{
	struct fake_channel *channel = to_channel(base);

	fake_record(FAKE_CHANNEL_DESTROY, base);
	MUST(!channel->object.users);
	fake_object_destroy(&channel->object);
	return fake_failure(FAKE_CHANNEL_DESTROY);
}

static int channel_wait(struct rp_channel *base, struct rp_cq **cq)
{
	struct fake_channel *channel = to_channel(base);
	int rc;

	fake_record(FAKE_CHANNEL_WAIT, base);
	rc = fake_failure(FAKE_CHANNEL_WAIT);
	if (rc)
		return rc;
	if (!channel->n_events)
		return -EAGAIN;
	*cq = channel->events[0];
	SHIFT(channel->events, channel->n_events);
	return 0;
}

static int poll_cq(struct ibv_cq *source, int n, struct ibv_wc *wc)
{
	struct fake_cq *cq = container_of(source, struct fake_cq, face);
	struct fake_call *call = fake_record(FAKE_CQ_POLL, &to_cq(&cq->base)->base);
	int got = 0, rc = fake_failure(FAKE_CQ_POLL);

	call->size = (uint32_t)n;
	MUST(n >= 1);
	if (rc)
		return rc;
	if (fake.poll_result_set)
		return fake.poll_result;
	while (got < n && cq->n_wc) {
		wc[got++] = cq->wc[0];
		SHIFT(cq->wc, cq->n_wc);
	}
	return got;
}

static int cq_create(
	struct rp_device *dev, struct rp_channel *channel, uint32_t size, struct rp_cq **base)
{
	struct fake_call *call = fake_record(FAKE_CQ_CREATE, dev);
	struct fake_cq *cq;
	int rc = fake_failure(FAKE_CQ_CREATE);

	call->channel = channel;
	call->size = size;
	if (rc)
		return rc;
	cq = fake_object_alloc(sizeof(*cq));
	fake_object_use(&cq->object, &to_channel(channel)->object);
	cq->base.dev = dev;
	cq->base.channel = channel;
	rp_cq_set_source(&cq->base, &cq->face, poll_cq);
	*base = &cq->base;
	return 0;
}

static void forget_events(struct fake_channel *channel, const struct rp_cq *cq)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < channel->n_events; i++) {
		if (channel->events[i] != cq)
			channel->events[kept++] = channel->events[i];
	}
	channel->n_events = kept;
}

static int cq_destroy(struct rp_cq *base)
{
	struct fake_cq *cq = to_cq(base);

	fake_record(FAKE_CQ_DESTROY, base);
	MUST(!cq->object.users);
	forget_events(to_channel(base->channel), base);
	fake_object_destroy(&cq->object);
	return fake_failure(FAKE_CQ_DESTROY);
}

static int cq_arm(struct rp_cq *base)
{
	struct fake_cq *cq = to_cq(base);
	int rc;

	fake_record(FAKE_CQ_ARM, base);
	rc = fake_failure(FAKE_CQ_ARM);
	cq->armed = !rc;
	return rc;
}

/* ---- shared receive queue ----------------------------------------------- */

static int post_srq_recv(struct rp_rq *rq)
{
	struct fake_srq *srq = to_srq(container_of(rq, struct rp_srq, rq));

	return fake_receive(FAKE_SRQ_POST_RECV, rq, &srq->base, 0);
}

static int srq_create(struct rp_pd *pd, uint32_t size, struct rp_srq **base)
{
	struct fake_call *call = fake_record(FAKE_SRQ_CREATE, pd);
	struct fake_srq *srq;
	int rc = fake_failure(FAKE_SRQ_CREATE);

	call->size = size;
	if (rc)
		return rc;
	srq = fake_object_alloc(sizeof(*srq));
	fake_object_use(&srq->object, &to_pd(pd)->object);
	srq->base.pd = pd;
	rp_rq_init(&srq->base.rq, post_srq_recv, 0);
	*base = &srq->base;
	return 0;
}

static int srq_destroy(struct rp_srq *base)
{
	struct fake_srq *srq = to_srq(base);
	int rc = srq->object.users ? -EBUSY : 0;

	fake_record(FAKE_SRQ_DESTROY, base);
	fake_object_destroy(&srq->object);
	return first(fake_failure(FAKE_SRQ_DESTROY), rc);
}

/* ---- the provider ------------------------------------------------------- */

static const struct rp_ops ops = {
	.name = "fake",
	.pd_alloc = pd_alloc,
	.pd_free = pd_free,
	.mr_reg = mr_reg,
	.mr_dereg = mr_dereg,
	.mr_advise = mr_advise,
	.channel_create = channel_create,
	.channel_destroy = channel_destroy,
	.channel_wait = channel_wait,
	.cq_create = cq_create,
	.cq_destroy = cq_destroy,
	.cq_arm = cq_arm,
	.srq_create = srq_create,
	.srq_destroy = srq_destroy,
	.listener_create = fake_listener_create,
	.listener_destroy = fake_listener_destroy,
	.listener_next = fake_listener_next,
	.conn_create = fake_conn_create,
	.conn_setup_qp = fake_conn_setup_qp,
	.conn_connect = fake_conn_connect,
	.conn_accept = fake_conn_accept,
	.conn_reject = fake_conn_reject,
	.conn_next_event = fake_conn_next_event,
	.conn_disconnect = fake_conn_disconnect,
	.conn_destroy = fake_conn_destroy,
};

static struct ibv_context context;
static struct rp_device device = { .ops = &ops, .context = &context };

struct ibv_context *fake_context(void)
{
	return &context;
}

static int find(const char *addr, enum rpma_util_ibv_context_type type, int timeout_ms,
	struct ibv_context **ibv_ctx)
{
	struct fake_call *call = fake_record(FAKE_FIND, NULL);
	int rc = fake_failure(FAKE_FIND);

	snprintf(call->addr, sizeof(call->addr), "%s", addr);
	call->type = type;
	call->timeout_ms = timeout_ms;
	if (rc)
		return rc;
	*ibv_ctx = &context;
	return 0;
}

static int open_device(struct ibv_context *ibv_ctx, struct rp_device **dev)
{
	int rc;

	fake_record(FAKE_OPEN, ibv_ctx);
	rc = fake_failure(FAKE_OPEN);
	if (rc)
		return rc;
	if (ibv_ctx != &context)
		return -ENODEV;
	device.caps = fake.device_caps;
	*dev = &device;
	return 0;
}

const struct rp_provider fake_provider = {
	.name = "fake",
	.find = find,
	.open = open_device,
};
