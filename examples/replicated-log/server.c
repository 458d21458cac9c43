/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- keep a replica of the log in FILE
 *
 * It maps the file and hands it out, to one writer and any number of readers; what
 * they do with it takes no code here. A new writer puts an end to the one before: when
 * rpma_mr_dereg() has returned, that one reaches the memory no more, whatever it has
 * sent already.
 */

#include "common/poller.h"
#include "common/steps.h"
#include "replicated-log/format.h"

struct server {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	void *mem;
	int set;
	struct guest *writer;
};

/* Each has a registration of its own. */
struct guest {
	struct server *server;
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	struct source events;
};

static void guest_end(struct guest *g)
{
	if (g->server->writer == g)
		g->server->writer = NULL;
	rpma_mr_dereg(&g->mr);
	if (g->conn)
		rpma_conn_disconnect(g->conn);
	rpma_conn_delete(&g->conn);
	free(g);
}

static void on_event(void *who)
{
	struct guest *g = who;
	enum rpma_conn_event event;
	int ret = rpma_conn_next_event(g->conn, &event);

	if (ret != RPMA_E_NO_EVENT && (ret || event != RPMA_CONN_ESTABLISHED))
		guest_end(g);
}

/* Consumes the request. */
static bool guest_begin(struct guest *g, struct rpma_conn_req *req, int usage)
{
	struct rpma_conn_private_data offer;
	char desc[32];
	int fd;

	if (rpma_mr_reg(g->server->peer, g->server->mem, RLOG_HEADER + RLOG_ROOM, usage, &g->mr)) {
		rpma_conn_req_delete(&req);
		return false;
	}
	offer = describe(g->mr, desc);
	if (rpma_conn_req_connect(&req, &offer, &g->conn) || rpma_conn_get_event_fd(g->conn, &fd))
		return false;
	g->events = (struct source){ on_event, g };
	watch(g->server->set, fd, &g->events);
	return true;
}

static void on_request(void *who)
{
	struct server *s = who;
	struct rpma_conn_private_data role;
	struct rpma_conn_req *req;
	struct guest *g;
	int usage = RPMA_MR_USAGE_READ_SRC;

	if (rpma_ep_next_conn_req(s->ep, NULL, &req))
		return;
	must(rpma_conn_req_get_private_data(req, &role));
	g = calloc(1, sizeof(*g));
	if (!g)
		quit("server: out of memory\n");
	g->server = s;
	if (role.len && *(char *)role.ptr == 'w') {
		if (s->writer)
			guest_end(s->writer);
		s->writer = g;
		usage |= RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	}
	if (!guest_begin(g, req, usage))
		guest_end(g);
}

int main(int argc, char **argv)
{
	struct server s = { 0 };
	struct source requests = { on_request, &s };
	int fd;

	if (argc != 4)
		quit("usage: server ADDR PORT FILE\n");
	s.mem = map_target(argv[3], RLOG_HEADER + RLOG_ROOM);
	s.peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	s.set = epoll_create1(EPOLL_CLOEXEC);
	s.ep = listen_at(s.peer, argv);
	must(rpma_ep_get_fd(s.ep, &fd));
	watch(s.set, fd, &requests);
	for (;;)
		wait_and_serve(s.set);
}
