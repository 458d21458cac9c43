/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * provider.c -- the verbs provider as the core sees it
 */

#include "verbs/ops.h"
#include "verbs/verbs.h"

const struct rp_ops rv_ops = {
	.name = "verbs",
	.pd_alloc = rv_pd_alloc,
	.pd_free = rv_pd_free,
	.mr_reg = rv_mr_reg,
	.mr_dereg = rv_mr_dereg,
	.mr_advise = rv_mr_advise,
	.channel_create = rv_channel_create,
	.channel_destroy = rv_channel_destroy,
	.channel_wait = rv_channel_wait,
	.cq_create = rv_cq_create,
	.cq_destroy = rv_cq_destroy,
	.cq_arm = rv_cq_arm,
	.srq_create = rv_srq_create,
	.srq_destroy = rv_srq_destroy,
	.listener_create = rv_listener_create,
	.listener_destroy = rv_listener_destroy,
	.listener_next = rv_listener_next,
	.conn_create = rv_conn_create,
	.conn_setup_qp = rv_conn_setup_qp,
	.conn_connect = rv_conn_connect,
	.conn_accept = rv_conn_accept,
	.conn_reject = rv_conn_reject,
	.conn_next_event = rv_conn_next_event,
	.conn_disconnect = rv_conn_disconnect,
	.conn_destroy = rv_conn_destroy,
};

const struct rp_provider rp_provider_verbs = {
	.name = "verbs",
	.find = rv_find,
	.open = rv_device_open,
};
