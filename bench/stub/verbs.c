/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * verbs.c -- a libibverbs whose only device takes every request and does nothing
 *
 * Preloaded, it takes the place of the real one, so that what is left to count are
 * the instructions of the library above it. Only what librpma calls is here.
 * STUB_COMPLETIONS in the environment: what polling a queue returns (default 1).
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stub/stub.h"

#undef ibv_reg_mr

static struct ibv_device device = { .name = "stub0",
	.dev_name = "stub0",
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB };
static struct ibv_device *devices[] = { &device, NULL };
static int completions = 1;

/* ---- what is counted ------------------------------------------------------------ */

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp, (void)wr, (void)bad;
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp, (void)wr, (void)bad;
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq, (void)wr, (void)bad;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n, (void)wc;
	return completions;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq, (void)solicited_only;
	return 0;
}

/* ---- devices ----------------------------------------------------------------------- */

struct ibv_context *stub_context(void)
{
	static struct ibv_context context = {
		.device = &device,
		.ops = { .poll_cq = poll_cq,
			.req_notify_cq = req_notify_cq,
			.post_send = post_send,
			.post_recv = post_recv,
			.post_srq_recv = post_srq_recv },
		.num_comp_vectors = 1,
	};
	const char *s = getenv("STUB_COMPLETIONS");

	completions = s ? atoi(s) : 1;
	return &context;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	if (n)
		*n = 1;
	return devices;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	(void)dev;
	return stub_context();
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){ .max_qp = 1024,
		.max_qp_wr = 1024,
		.max_sge = 1,
		.max_cq = 1024,
		.max_cqe = 65536,
		.max_mr = 1024,
		.max_pd = 1024,
		.max_mr_size = UINT64_MAX,
		.max_srq = 1024,
		.max_srq_wr = 1024 };
	return 0;
}

/* ---- objects ----------------------------------------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(
	struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	static uint32_t key;
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)iova, (void)access;
	key++;
	if (mr)
		*mr = (struct ibv_mr){ .context = pd->context,
			.pd = pd,
			.addr = addr,
			.length = length,
			.lkey = key,
			.rkey = key };
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	if (channel) {
		channel->context = context;
		channel->fd = eventfd(0, EFD_CLOEXEC);
	}
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	(void)vector;
	if (cq)
		*cq = (struct ibv_cq){
			.context = context, .channel = channel, .cq_context = cq_context, .cqe = cqe
		};
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	(void)channel, (void)cq, (void)cq_context;
	errno = EAGAIN;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n)
{
	(void)cq, (void)n;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = calloc(1, sizeof(*srq));

	(void)attr;
	if (srq) {
		srq->context = pd->context;
		srq->pd = pd;
	}
	return srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	free(srq);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return NULL;
}
