/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn_req.c -- connections before they are made, of either side
 */

#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

int core_conn_req_alloc(bool passive, struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req = malloc(sizeof(*req));
	int ret;

	if (!req)
		return RPMA_E_NOMEM;
	ret = core_conn_alloc(passive, &req->conn);
	if (ret) {
		free(req);
		return ret;
	}
	req->passive = passive;
	*req_ptr = req;
	return 0;
}

int core_conn_req_delete(struct rpma_conn_req *req)
{
	struct rpma_conn *conn = req->conn;
	int ret = 0;

	if (req->passive && conn->conn)
		ret = core_result(CORE_CALL, core_conn_ops(conn)->conn_reject(conn->conn),
			"cannot reject a connection request");
	ret = core_first(ret, core_conn_delete(conn));
	free(req);
	return ret;
}

/* ---- queues ------------------------------------------------------------- */

/* The channel and the queues that the connection is to own. */
static int create_queues(
	struct rpma_conn *conn, const struct rpma_conn_cfg *cfg, const struct rpma_cq *srq_rcq)
{
	struct rp_device *dev = conn->conn->pd->dev;
	uint32_t rcq_size = srq_rcq ? 0 : atomic_load(&cfg->rcq_size);
	int ret = 0;

	if (atomic_load(&cfg->compl_channel)) {
		if (srq_rcq) {
			rp_log_error("a shared completion channel cannot go with a shared receive "
				     "queue that has a completion queue of its own");
			return RPMA_E_INVAL;
		}
		ret = core_channel_new(dev, &conn->channel);
	}
	if (!ret)
		ret = core_cq_new(dev, conn->channel, atomic_load(&cfg->cq_size), &conn->cq);
	if (!ret && rcq_size)
		ret = core_cq_new(dev, conn->channel, rcq_size, &conn->rcq);
	return ret;
}

int core_conn_req_equip(
	struct rpma_conn_req *req, struct core_sink *sink, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn *conn = req->conn;
	const struct rpma_srq *srq;
	const struct rpma_cq *srq_rcq, *recv_cq;
	struct rp_qp_attr attr;
	int ret;

	conn->sink = core_sink_get(sink);
	if (!cfg)
		cfg = &core_conn_cfg_default;
	srq = atomic_load(&cfg->srq);
	srq_rcq = srq ? srq->rcq : NULL;
	ret = create_queues(conn, cfg, srq_rcq);
	if (ret)
		return ret;

	recv_cq = srq_rcq ? srq_rcq : conn->rcq ? conn->rcq : conn->cq;
	attr = (struct rp_qp_attr){
		.send_cq = conn->cq->cq,
		.recv_cq = recv_cq->cq,
		.srq = srq ? srq->srq : NULL,
		.sq_size = atomic_load(&cfg->sq_size),
		.rq_size = atomic_load(&cfg->rq_size),
	};
	return core_result(CORE_CALL, core_conn_ops(conn)->conn_setup_qp(conn->conn, &attr),
		"cannot create a queue pair, send queue %u, receive queue %u", attr.sq_size,
		attr.rq_size);
}

/* ---- public ------------------------------------------------------------- */

int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
	const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req;
	int timeout_ms, ret;

	if (!peer || !addr || !port || !req_ptr)
		return RPMA_E_INVAL;

	ret = core_conn_req_alloc(false, &req);
	if (ret)
		return ret;
	timeout_ms = atomic_load(cfg ? &cfg->timeout : &core_conn_cfg_default.timeout);
	ret = core_result(CORE_CALL,
		peer->pd->dev->ops->conn_create(peer->pd, addr, port, timeout_ms, &req->conn->conn),
		"cannot reach %s, port %s", addr, port);
	if (!ret)
		ret = core_conn_req_equip(req, peer->sink, cfg);
	if (ret) {
		core_conn_req_delete(req);
		return ret;
	}
	rp_log_notice("connection to %s, port %s requested", addr, port);
	*req_ptr = req;
	return 0;
}

int rpma_conn_req_delete(struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req;

	if (!req_ptr)
		return RPMA_E_INVAL;
	req = *req_ptr;
	*req_ptr = NULL;
	return req ? core_conn_req_delete(req) : 0;
}

static int start(struct rpma_conn_req *req, const void *data, size_t len)
{
	struct rp_conn *conn = req->conn->conn;
	const struct rp_ops *ops = core_conn_ops(req->conn);

	if (req->passive)
		return core_result(CORE_CALL, ops->conn_accept(conn, data, len),
			"cannot accept a connection, %zu bytes of private data", len);
	return core_result(CORE_CALL, ops->conn_connect(conn, data, len),
		"cannot connect, %zu bytes of private data", len);
}

int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
	const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	struct rpma_conn_req *req;
	int ret = RPMA_E_INVAL;

	if (!req_ptr || !*req_ptr)
		return RPMA_E_INVAL;

	req = *req_ptr;
	*req_ptr = NULL;
	if (conn_ptr && (!pdata || (pdata->ptr && pdata->len)))
		ret = start(req, pdata ? pdata->ptr : NULL, pdata ? pdata->len : 0);
	if (ret) {
		core_conn_req_delete(req);
		return ret;
	}
	*conn_ptr = req->conn;
	free(req);
	return 0;
}

int rpma_conn_req_get_private_data(
	const struct rpma_conn_req *req, struct rpma_conn_private_data *pdata)
{
	if (!req || !pdata)
		return RPMA_E_INVAL;

	core_conn_get_private_data(req->conn, pdata);
	return 0;
}
