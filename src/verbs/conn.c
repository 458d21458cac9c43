/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn.c -- connections, from the resolved address or the received request to
 * their end
 */

#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "verbs/verbs.h"

struct rv_conn *rv_conn_new(struct rp_pd *pd)
{
	struct rv_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->base.pd = pd;
	conn->base.event_fd = -1;
	atomic_init(&conn->sendable, false);
	atomic_init(&conn->leaving, false);
	pthread_mutex_init(&conn->event_lock, NULL);
	return conn;
}

void rv_conn_free(struct rv_conn *conn)
{
	pthread_mutex_destroy(&conn->event_lock);
	free(conn);
}

int rv_conn_check_device(const struct rv_conn *conn)
{
	const struct ibv_context *is = conn->cm.id->verbs;
	const struct ibv_context *should_be = conn->base.pd->dev->context;

	if (is == should_be)
		return 0;
	if (is && is->device == should_be->device)
		rp_log_error("the connection is on the right device, %s, but on another context "
			     "of it than the peer: use the one of rpma_utils_get_ibv_context()",
			ibv_get_device_name(is->device));
	else
		rp_log_error("the connection is on device %s, but the peer on %s",
			is ? ibv_get_device_name(is->device) : "(none)",
			ibv_get_device_name(should_be->device));
	return -ENODEV;
}

static int resolve(struct rv_conn *conn, const char *addr, const char *port, int timeout_ms)
{
	struct rdma_addrinfo *rai;
	int ret = rv_getaddrinfo(addr, port, 0, &rai);

	if (ret)
		return ret;
	ret = rv_cm_resolve_addr(&conn->cm, rai, timeout_ms);
	rdma_freeaddrinfo(rai);
	if (!ret)
		ret = rv_conn_check_device(conn);
	if (!ret)
		ret = rv_cm_resolve_route(&conn->cm, timeout_ms);
	return ret;
}

int rv_conn_create(
	struct rp_pd *pd, const char *addr, const char *port, int timeout_ms, struct rp_conn **out)
{
	struct rv_conn *conn = rv_conn_new(pd);
	int ret;

	if (conn == NULL)
		return -ENOMEM;
	ret = rv_cm_open(&conn->cm);
	if (ret)
		goto fail_memory;
	ret = resolve(conn, addr, port, timeout_ms);
	if (ret)
		goto fail_cm;
	*out = &conn->base;
	return 0;

fail_cm:
	rv_cm_close(&conn->cm);
fail_memory:
	rv_conn_free(conn);
	return ret;
}

/* ---- making it ----------------------------------------------------------- */

/* iWARP in software connects its socket within the call, and once interrupted it cannot
 * do so again. */
static int connect_uninterrupted(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = rdma_connect(id, param) ? rv_errno() : 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

int rv_conn_connect(struct rp_conn *base, const void *data, size_t len)
{
	struct rv_conn *conn = rv_conn(base);
	struct rdma_conn_param param;
	uint8_t buf[HELLO_DATA_MAX];
	int ret = rv_conn_tell(conn, HELLO_IN_REQUEST, data, len, buf, &param);

	if (ret)
		return ret;
	ret = connect_uninterrupted(conn->cm.id, &param);
	if (ret)
		return ret;
	base->event_fd = conn->cm.gate.fd;
	return 0;
}

int rv_conn_accept(struct rp_conn *base, const void *data, size_t len)
{
	struct rv_conn *conn = rv_conn(base);
	struct rdma_conn_param param;
	uint8_t buf[HELLO_DATA_MAX];
	int ret = rv_conn_tell(conn, HELLO_IN_REPLY, data, len, buf, &param);

	if (ret)
		return ret;
	if (rdma_accept(conn->cm.id, &param))
		return rv_errno();
	rv_qp_ready(conn);
	base->event_fd = conn->cm.gate.fd;
	return 0;
}

/* Or it has ended already, or there was never anything to end. */
static int ended(int ret)
{
	if (!ret || errno == EINVAL || errno == ENOTCONN)
		return 0;
	return rv_errno();
}

int rv_conn_reject(struct rp_conn *base)
{
	return ended(rdma_reject(rv_conn(base)->cm.id, NULL, 0));
}

/* ---- its end ------------------------------------------------------------- */

/* Too early it is only noted, and done when the connection is established: a client has
 * nothing that could end before. In this order, so that one of the two sees the other. */
int rv_conn_disconnect(struct rp_conn *base)
{
	struct rv_conn *conn = rv_conn(base);

	atomic_store(&conn->leaving, true);
	if (!atomic_load(&conn->sendable))
		return 0;
	return ended(rdma_disconnect(conn->cm.id));
}

int rv_conn_destroy(struct rp_conn *base)
{
	struct rv_conn *conn = rv_conn(base);
	int ret = rv_cm_close(&conn->cm);

	rv_qp_free(conn);
	rv_conn_free(conn);
	return ret;
}
