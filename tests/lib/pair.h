/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair.h -- connections for tests: both ends in one process and one thread
 *
 *	net	two peers, the server's listening on a free port
 *	side	one end of a connection
 *	pair	a connection in a net: both its ends
 *
 * struct pair p;
 * pair_open(&p, NULL);		a net of its own, a connection with defaults
 * ... p.side[CLIENT], p.side[SERVER] ...
 * pair_close(&p);		orderly: disconnect, CLOSED on both sides, delete
 */

#ifndef TESTS_PAIR_H
#define TESTS_PAIR_H 1

#include <stdbool.h>
#include <stdint.h>

#include "pair_check.h"
#include "pair_env.h"

/* Much longer than the default: loaded machines and sanitizers are slow. */
#define CONNECT_TIMEOUT_MS 10000

enum { CLIENT, SERVER, SIDES };

struct net {
	struct rpma_peer *peer[SIDES];
	struct rpma_ep *ep;
	const char *addr;
	char port[PORT_LEN];
};

void net_open(struct net *n);
void net_open_at(struct net *n, const char *addr);
/* Clients connect to connect_addr. Left as skipped where this host has no such address. */
void net_open_over(struct net *n, const char *listen_addr, const char *connect_addr);
void net_close(struct net *n);

struct rpma_peer *peer_at(const char *addr, enum rpma_util_ibv_context_type type);
/* Listen on a free port. */
void listen_at(struct rpma_peer *peer, const char *addr, struct rpma_ep **ep, char port[PORT_LEN]);

/* How a side is made; all zero: the defaults of the library. */
struct side_opts {
	uint32_t cq_size;
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t rcq_size;
	bool shared; /* one completion channel */
	struct rpma_srq *srq;
	int timeout_ms;	  /* 0: CONNECT_TIMEOUT_MS */
	const void *data; /* private data */
	uint8_t data_len;
	/* called before connect or accept, say to post receives */
	void (*prepare)(struct rpma_conn_req *req, void *arg);
	void *arg;
};

struct pair_opts {
	struct side_opts side[SIDES];
};

struct side {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	uint32_t qp_num;
	struct rpma_cq *cq;  /* where requests complete */
	struct rpma_cq *rcq; /* where receives complete; may be the same */
	bool shared;
};

struct pair {
	struct side side[SIDES];
	struct net own;
	struct net *net;
};

/* ---- step by step -------------------------------------------------------- */

struct rpma_conn_cfg *cfg_from(const struct side_opts *o);
struct rpma_conn_req *client_req(struct net *n, const struct side_opts *o);
/* Waits for the next request on the endpoint. */
struct rpma_conn_req *server_req(struct net *n, const struct side_opts *o);
/* Connects or accepts; consumes the request. */
struct rpma_conn *req_connect(struct rpma_conn_req *req, const struct side_opts *o);
struct rpma_conn *client_start(struct net *n, const struct side_opts *o);
struct rpma_conn *server_start(struct net *n, const struct side_opts *o);
/* What a test wants to know of an established connection */
void side_init(
	struct side *s, struct rpma_peer *peer, struct rpma_conn *conn, const struct side_opts *o);

/*
 * Where the making and the end need both processes (trait device) a wait for one connection also
 * takes the events of the other ones made by req_connect(), as the thread at the
 * other end would do meanwhile, and keeps them for when they are asked for. So it
 * must know when one is deleted.
 */
int conn_delete(struct rpma_conn **conn_ptr);
#define rpma_conn_delete(conn_ptr) conn_delete(conn_ptr)

/* ---- as a whole ---------------------------------------------------------- */

/* opts NULL: the defaults on both sides. */
void pair_connect(struct pair *p, struct net *n, const struct pair_opts *opts);
void pair_open(struct pair *p, const struct pair_opts *opts);
/* Orderly, until both sides have heard of it. */
void pair_disconnect(struct pair *p);
/* ... and then pair_drop() */
void pair_close(struct pair *p);
/* Delete both ends as they are, and the net if it is the pair's own. */
void pair_drop(struct pair *p);

#endif /* TESTS_PAIR_H */
