/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn.c -- connections
 */

#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

int core_conn_alloc(bool passive, struct rpma_conn **conn_ptr)
{
	struct rpma_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return RPMA_E_NOMEM;
	atomic_init(&conn->direct_write_to_pmem, false);
	atomic_init(&conn->has_peer_data, passive);
	*conn_ptr = conn;
	return 0;
}

int core_conn_delete(struct rpma_conn *conn)
{
	int ret = 0;

	if (conn->conn)
		ret = core_result(CORE_CALL, core_conn_ops(conn)->conn_destroy(conn->conn),
			"cannot destroy a connection");
	ret = core_first(ret, core_cq_delete(conn->rcq));
	ret = core_first(ret, core_cq_delete(conn->cq));
	ret = core_first(ret, core_channel_delete(conn->channel));
	ret = core_first(ret, core_sink_put(conn->sink));
	free(conn);
	return ret;
}

void core_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata)
{
	static const struct rpma_conn_private_data none = { NULL, 0 };

	*pdata = atomic_load(&conn->has_peer_data) ? conn->conn->peer_data : none;
}

/* ---- what it is made of ------------------------------------------------- */

int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd)
{
	if (!conn || !fd)
		return RPMA_E_INVAL;

	*fd = conn->conn->event_fd;
	return 0;
}

int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata)
{
	if (!conn || !pdata)
		return RPMA_E_INVAL;

	core_conn_get_private_data(conn, pdata);
	return 0;
}

int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num)
{
	if (!conn || !qp_num)
		return RPMA_E_INVAL;

	*qp_num = conn->conn->qp_num;
	return 0;
}

int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr)
{
	if (!conn || !cq_ptr)
		return RPMA_E_INVAL;

	*cq_ptr = conn->cq;
	return 0;
}

int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr)
{
	if (!conn || !rcq_ptr)
		return RPMA_E_INVAL;

	*rcq_ptr = conn->rcq;
	return 0;
}

int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd)
{
	if (!conn || !fd)
		return RPMA_E_INVAL;
	if (!conn->channel)
		return RPMA_E_NOT_SHARED_CHNL;

	*fd = conn->channel->fd;
	return 0;
}

int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg)
{
	if (!conn || !pcfg)
		return RPMA_E_INVAL;

	atomic_store(&conn->direct_write_to_pmem, atomic_load(&pcfg->direct_write_to_pmem));
	return 0;
}

/* ---- what happens to it ------------------------------------------------- */

int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	enum rpma_conn_event next;
	int ret;

	if (!conn || !event)
		return RPMA_E_INVAL;

	ret = core_result(CORE_CALL_NEXT_EVENT,
		core_conn_ops(conn)->conn_next_event(conn->conn, &next),
		"cannot get the next event of a connection");
	if (ret)
		return ret;
	if (next == RPMA_CONN_ESTABLISHED)
		atomic_store(&conn->has_peer_data, true);
	rp_log_notice("%s", rpma_utils_conn_event_2str(next));
	*event = next;
	return 0;
}

int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq)
{
	struct rpma_cq *mine;
	struct rp_cq *told;
	int ret;

	(void)flags;
	if (!conn || !cq)
		return RPMA_E_INVAL;
	if (!conn->channel)
		return RPMA_E_NOT_SHARED_CHNL;

	ret = core_channel_next_event(conn->channel, &told);
	if (ret)
		return ret;
	if (told == conn->cq->cq) {
		mine = conn->cq;
	} else if (conn->rcq && told == conn->rcq->cq) {
		mine = conn->rcq;
	} else {
		rp_log_error("an event of a completion queue that is not the connection's");
		return RPMA_E_UNKNOWN;
	}

	ret = core_cq_rearm(told);
	*cq = ret ? NULL : mine;
	if (!ret && is_rcq)
		*is_rcq = mine == conn->rcq;
	return ret;
}

int rpma_conn_disconnect(struct rpma_conn *conn)
{
	int ret;

	if (!conn)
		return RPMA_E_INVAL;

	ret = core_result(
		CORE_CALL, core_conn_ops(conn)->conn_disconnect(conn->conn), "cannot disconnect");
	if (!ret)
		rp_log_notice("disconnection requested");
	return ret;
}

int rpma_conn_delete(struct rpma_conn **conn_ptr)
{
	struct rpma_conn *conn;

	if (!conn_ptr)
		return RPMA_E_INVAL;
	conn = *conn_ptr;
	*conn_ptr = NULL;
	return conn ? core_conn_delete(conn) : 0;
}
