/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * serve.h -- the server: serve.c waits for clients, guest.c has one each, guest_offer.c,
 * desk.c and serve_load.c are what it does for them
 *
 * Each client has a thread. It says which memory the client may use, answers at the
 * desk, takes part in a measurement, or only waits for the end. The main thread
 * waits for all of them before it takes the memory away.
 *
 * lock guards sessions and the numbers; the rest does not change while there are guests.
 */

#ifndef SERVE_H
#define SERVE_H 1

#include <pthread.h>
#include <stdatomic.h>

#include "link.h"
#include "load.h"
#include "memory.h"

enum {
	DESK_IN = 0, /* where in the memory of a desk */
	DESK_OUT = 1024,
	DESK_SIZE = 4096,
	GUESTS_MAX = 4096,
	SEND_QUEUE = 2 * DEPTH_MAX, /* of each client, whatever it is going to do */
	RECV_QUEUE = DEPTH_MAX,
};

/* Sum of the memory made for measurements. */
#define SCRATCH_MAX ((uint64_t)2 << 30)

struct session {
	struct session *next;
	uint64_t id;
	unsigned users;
	atomic_ullong messages;
	atomic_ullong bytes;
	atomic_ullong mismatches;
};

struct server {
	struct site site;
	struct mem mem;
	struct rpma_mr_local *mr;
	uint8_t desc[DESC_SIZE];
	int stop_fd; /* readable: the server ends */
	bool quiet;
	bool direct; /* declared: what is placed is durable */
	pthread_mutex_t lock;
	pthread_cond_t gone; /* guests went down */
	struct session *sessions;
	unsigned guests;
	unsigned served;       /* connections */
	unsigned clients;      /* of those, the ones that are told of */
	atomic_ullong scratch; /* memory made for guests */
};

/* A client, from its request to its end. It owns req. */
void guest_start(struct server *s, struct rpma_conn_req *req);

/* guest_offer.c: see to it that it gets what it asked for, and say what that is. */
struct guest;
void guest_prepare(struct guest *g, struct offer *o);
void guest_leave_session(struct guest *g);

/* serve_load.c: a client of role LOAD, with what it asked for. */
enum offer_status guest_load_prepare(struct guest *g);
bool guest_load_accept(struct guest *g, struct rpma_conn_req *req);
void guest_load_run(struct guest *g);
void guest_load_end(struct guest *g);

/* desk.c: answer a request. The reply is encoded into buf; returns its length, 0:
 * the request makes no sense. */
size_t desk_answer(struct guest *g, const void *request, size_t len, uint8_t *buf);

struct guest {
	struct server *server;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int event_fd;
	int cq_fd;
	bool established; /* what has been told by event_fd */
	bool ended;
	struct hello hello;
	struct session *session;
	struct mem mem; /* of a desk, or scratch memory */
	struct rpma_mr_local *mr;
	struct load load;
	uint64_t scratch; /* its part of server->scratch */
};

/* guest.c: has the connection, or the server, ended? Waits up to ms for news; *readable:
 * completions are some. */
bool guest_ended(struct guest *g, int ms, bool *readable);

#endif /* SERVE_H */
