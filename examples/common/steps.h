/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * steps.h -- the steps that examples/connection spells out, for the examples that
 * are about something else
 */

#ifndef EXAMPLES_STEPS_H
#define EXAMPLES_STEPS_H 1

#include "common/common.h"

static inline struct rpma_peer *open_peer(const char *addr, enum rpma_util_ibv_context_type side)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	must(rpma_utils_get_ibv_context(addr, side, &device));
	must(rpma_peer_new(device, &peer));
	return peer;
}

static inline struct rpma_ep *listen_at(struct rpma_peer *peer, char **argv)
{
	struct rpma_ep *ep;

	must(rpma_ep_listen(peer, argv[1], argv[2], &ep));
	printf("server: ready\n");
	fflush(stdout);
	return ep;
}

/* The first event of a connection tells whether there is one. */
static inline void await_start(struct rpma_conn *conn)
{
	enum rpma_conn_event event;

	must(rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_ESTABLISHED)
		quit("no connection: %s\n", rpma_utils_conn_event_2str(event));
}

/* Server: let the next client in. offer: what it is to know, or NULL. */
static inline struct rpma_conn *admit(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
	const struct rpma_conn_private_data *offer)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	must(rpma_ep_next_conn_req(ep, cfg, &req));
	must(rpma_conn_req_connect(&req, offer, &conn));
	await_start(conn);
	return conn;
}

/* Client: connect to the server at argv[1], argv[2]. */
static inline struct rpma_conn *join(
	struct rpma_peer *peer, char **argv, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	must(rpma_conn_req_new(peer, argv[1], argv[2], cfg, &req));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	await_start(conn);
	return conn;
}

/* Wait for the end of the connection, whichever side asks for it. */
static inline void await_end(struct rpma_conn **conn)
{
	enum rpma_conn_event event;

	must(rpma_conn_next_event(*conn, &event));
	if (event != RPMA_CONN_CLOSED)
		quit("not closed, but: %s\n", rpma_utils_conn_event_2str(event));
	rpma_conn_disconnect(*conn);
	must(rpma_conn_delete(conn));
}

/* Ask for the end of the connection. */
static inline void leave(struct rpma_conn **conn)
{
	must(rpma_conn_disconnect(*conn));
	await_end(conn);
}

/* A region as private data for the other side. desc: room for 32 bytes. */
static inline struct rpma_conn_private_data describe(struct rpma_mr_local *mr, void *desc)
{
	size_t len;

	must(rpma_mr_get_descriptor_size(mr, &len));
	must(rpma_mr_get_descriptor(mr, desc));
	return (struct rpma_conn_private_data){ desc, (uint8_t)len };
}

/* The region that the other side has described so. */
static inline struct rpma_mr_remote *described(struct rpma_conn *conn)
{
	struct rpma_conn_private_data offer;
	struct rpma_mr_remote *mr;

	must(rpma_conn_get_private_data(conn, &offer));
	must(rpma_mr_remote_from_descriptor(offer.ptr, offer.len, &mr));
	return mr;
}

static inline struct rpma_cq *cq_of(struct rpma_conn *conn)
{
	struct rpma_cq *cq;

	must(rpma_conn_get_cq(conn, &cq));
	return cq;
}

/* Wait for the next completion, which has to be a success. */
static inline struct ibv_wc take(struct rpma_cq *cq)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		must(rpma_cq_wait(cq));
	must_be_zero(ret, "rpma_cq_get_wc");
	if (wc.status != IBV_WC_SUCCESS)
		quit("a request failed: %s\n", ibv_wc_status_str(wc.status));
	return wc;
}

#endif /* EXAMPLES_STEPS_H */
