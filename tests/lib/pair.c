/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair.c -- see pair.h */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"
#include "pair_wait.h"

static const struct side_opts defaults;

/* ---- peers, endpoints ---------------------------------------------------- */

struct rpma_peer *peer_at(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *ctx = NULL;
	struct rpma_peer *peer = NULL;

	assert_ok(rpma_utils_get_ibv_context(addr, type, &ctx));
	assert_non_null(ctx);
	assert_ok(rpma_peer_new(ctx, &peer));
	return peer;
}

/* Another process may take the free port first: try again. */
void listen_at(struct rpma_peer *peer, const char *addr, struct rpma_ep **ep, char port[PORT_LEN])
{
	int ret = RPMA_E_PROVIDER;

	for (int i = 0; i < 20 && ret != 0; i++) {
		free_port(addr, port);
		ret = rpma_ep_listen(peer, addr, port, ep);
	}
	assert_rpma(0, ret);
}

static void open_net(struct net *n, const char *listen_addr, const char *connect_addr)
{
	*n = (struct net){ .addr = connect_addr };
	n->peer[CLIENT] = peer_at(connect_addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	n->peer[SERVER] = peer_at(connect_addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	listen_at(n->peer[SERVER], listen_addr, &n->ep, n->port);
}

void net_open_at(struct net *n, const char *addr)
{
	open_net(n, addr, addr);
}

static bool host_has(const char *addr)
{
	int fd = socket(strchr(addr, ':') ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	struct ibv_context *ctx = NULL;

	if (fd < 0)
		return false;
	close(fd);
	return rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx) == 0;
}

void net_open_over(struct net *n, const char *listen_addr, const char *connect_addr)
{
	if (!host_has(connect_addr)) {
		print_message("this host has no %s\n", connect_addr);
		skip();
	}
	open_net(n, listen_addr, connect_addr);
}

void net_open(struct net *n)
{
	net_open_at(n, test_addr());
}

void net_close(struct net *n)
{
	assert_ok(rpma_ep_shutdown(&n->ep));
	for (int i = 0; i < SIDES; i++)
		assert_ok(rpma_peer_delete(&n->peer[i]));
}

/* ---- step by step -------------------------------------------------------- */

struct rpma_conn_cfg *cfg_from(const struct side_opts *o)
{
	struct rpma_conn_cfg *cfg = NULL;

	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(
		rpma_conn_cfg_set_timeout(cfg, o->timeout_ms ? o->timeout_ms : CONNECT_TIMEOUT_MS));
	if (o->cq_size)
		assert_ok(rpma_conn_cfg_set_cq_size(cfg, o->cq_size));
	if (o->sq_size)
		assert_ok(rpma_conn_cfg_set_sq_size(cfg, o->sq_size));
	if (o->rq_size)
		assert_ok(rpma_conn_cfg_set_rq_size(cfg, o->rq_size));
	if (o->rcq_size)
		assert_ok(rpma_conn_cfg_set_rcq_size(cfg, o->rcq_size));
	if (o->srq)
		assert_ok(rpma_conn_cfg_set_srq(cfg, o->srq));
	assert_ok(rpma_conn_cfg_set_compl_channel(cfg, o->shared));
	return cfg;
}

struct rpma_conn_req *client_req(struct net *n, const struct side_opts *o)
{
	struct rpma_conn_cfg *cfg = cfg_from(o ? o : &defaults);
	struct rpma_conn_req *req = NULL;

	assert_ok(rpma_conn_req_new(n->peer[CLIENT], n->addr, n->port, cfg, &req));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	return req;
}

struct rpma_conn_req *server_req(struct net *n, const struct side_opts *o)
{
	struct rpma_conn_cfg *cfg = cfg_from(o ? o : &defaults);
	struct rpma_conn_req *req = NULL;
	int fd = -1;

	assert_ok(rpma_ep_get_fd(n->ep, &fd));
	wait_fd(fd);
	assert_ok(rpma_ep_next_conn_req(n->ep, cfg, &req));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	return req;
}

struct rpma_conn *req_connect(struct rpma_conn_req *req, const struct side_opts *o)
{
	struct rpma_conn_private_data data = { 0 };
	struct rpma_conn *conn = NULL;

	if (o && o->prepare)
		o->prepare(req, o->arg);
	if (o && o->data)
		data = (struct rpma_conn_private_data){ (void *)(uintptr_t)o->data, o->data_len };
	assert_ok(rpma_conn_req_connect(&req, data.ptr ? &data : NULL, &conn));
	assert_null(req);
	assert_non_null(conn);
	attend(conn);
	return conn;
}

struct rpma_conn *client_start(struct net *n, const struct side_opts *o)
{
	return req_connect(client_req(n, o), o);
}

struct rpma_conn *server_start(struct net *n, const struct side_opts *o)
{
	return req_connect(server_req(n, o), o);
}

static struct rpma_cq *recv_cq(struct rpma_conn *conn, struct rpma_srq *srq)
{
	struct rpma_cq *cq = NULL;

	if (srq)
		assert_ok(rpma_srq_get_rcq(srq, &cq));
	if (cq == NULL)
		assert_ok(rpma_conn_get_rcq(conn, &cq));
	if (cq == NULL)
		assert_ok(rpma_conn_get_cq(conn, &cq));
	return cq;
}

void side_init(
	struct side *s, struct rpma_peer *peer, struct rpma_conn *conn, const struct side_opts *o)
{
	*s = (struct side){ .peer = peer, .conn = conn, .shared = o && o->shared };
	assert_ok(rpma_conn_get_qp_num(conn, &s->qp_num));
	assert_ok(rpma_conn_get_cq(conn, &s->cq));
	s->rcq = recv_cq(conn, o ? o->srq : NULL);
}

/* ---- as a whole ---------------------------------------------------------- */

void pair_connect(struct pair *p, struct net *n, const struct pair_opts *opts)
{
	const struct side_opts *cli = opts ? &opts->side[CLIENT] : &defaults;
	const struct side_opts *srv = opts ? &opts->side[SERVER] : &defaults;
	struct rpma_conn *conn[SIDES];

	p->net = n;
	conn[CLIENT] = client_start(n, cli);
	conn[SERVER] = server_start(n, srv);
	for (int i = 0; i < SIDES; i++)
		expect_event(conn[i], RPMA_CONN_ESTABLISHED);
	side_init(&p->side[CLIENT], n->peer[CLIENT], conn[CLIENT], cli);
	side_init(&p->side[SERVER], n->peer[SERVER], conn[SERVER], srv);
}

void pair_open(struct pair *p, const struct pair_opts *opts)
{
	net_open(&p->own);
	pair_connect(p, &p->own, opts);
}

void pair_drop(struct pair *p)
{
	for (int i = 0; i < SIDES; i++) {
		assert_ok(rpma_conn_delete(&p->side[i].conn));
		assert_null(p->side[i].conn);
	}
	if (p->net == &p->own)
		net_close(&p->own);
}

void pair_disconnect(struct pair *p)
{
	assert_ok(rpma_conn_disconnect(p->side[CLIENT].conn));
	for (int i = 0; i < SIDES; i++)
		expect_event(p->side[i].conn, RPMA_CONN_CLOSED);
}

void pair_close(struct pair *p)
{
	pair_disconnect(p);
	pair_drop(p);
}
