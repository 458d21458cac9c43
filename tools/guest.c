/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * guest.c -- a client of the server
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

/* ---- its life -------------------------------------------------------------------- */

bool guest_ended(struct guest *g, int ms, bool *readable)
{
	struct pollfd p[3] = {
		{ .fd = g->server->stop_fd, .events = POLLIN },
		{ .fd = g->event_fd, .events = POLLIN },
		{ .fd = readable ? g->cq_fd : -1, .events = POLLIN },
	};
	enum rpma_conn_event event;

	poll(p, 3, ms);
	if (readable)
		*readable = p[2].revents;
	if (p[1].revents && !rpma_conn_next_event(g->conn, &event)) {
		g->established = event == RPMA_CONN_ESTABLISHED;
		g->ended = !g->established;
	}
	return g->ended || p[0].revents;
}

static bool answer(struct guest *g, const struct ibv_wc *wc)
{
	uint8_t *mem = g->mem.ptr;
	size_t len = desk_answer(g, mem + DESK_IN, wc->byte_len, mem + DESK_OUT);

	return len && !rpma_recv(g->conn, g->mr, DESK_IN, REQUEST_SIZE, NULL) &&
	       !rpma_send(g->conn, g->mr, DESK_OUT, len, RPMA_F_COMPLETION_ALWAYS, NULL);
}

/* One request at a time, so that the last reply is out when the next one comes. */
static void run_desk(struct guest *g)
{
	bool readable, good = true;
	struct ibv_wc wc;

	while (good && !g->ended && !guest_ended(g, -1, &readable)) {
		if (readable)
			rpma_cq_wait(g->cq);
		while (good && !rpma_cq_get_wc(g->cq, 1, &wc, NULL)) {
			good = wc.status == IBV_WC_SUCCESS;
			if (good && wc.opcode & IBV_WC_RECV)
				good = answer(g, &wc);
		}
	}
}

static void await_end(struct guest *g)
{
	while (!g->ended && !guest_ended(g, -1, NULL))
		;
}

static void run(struct guest *g)
{
	if (g->hello.role == ROLE_LOAD)
		guest_load_run(g);
	else if (has_desk(g->hello.role))
		run_desk(g);
	await_end(g);
}

static unsigned client_number(struct server *s)
{
	unsigned n;

	pthread_mutex_lock(&s->lock);
	n = ++s->clients;
	pthread_mutex_unlock(&s->lock);
	return n;
}

/* A line per client; the connections of a measurement are no clients of their own.
 * why: it is refused. */
static void tell(const struct guest *g, const char *why)
{
	static const char *const what[ROLES] = {
		[ROLE_COPY] = "copies", [ROLE_PING] = "pings", [ROLE_SESSION] = "measures"
	};
	const char *name = g->hello.name[0] ? g->hello.name : "?";

	if (!why && !what[g->hello.role])
		return;
	if (why)
		printf("client %u, from %s, is refused: %s\n", client_number(g->server), name, why);
	else if (!g->server->quiet)
		printf("client %u, from %s, %s\n", client_number(g->server), name,
			what[g->hello.role]);
}

static const char *refusal(enum offer_status status)
{
	static const char *const why[OFFERS] = {
		[OFFER_VERSION] = "it speaks another version",
		[OFFER_TOO_MUCH] = "there is no memory for it",
		[OFFER_NO_SESSION] = "its session has ended",
	};

	return why[status];
}

static bool accept_guest(struct guest *g, const struct offer *o)
{
	uint8_t buf[OFFER_SIZE];
	struct rpma_conn_private_data data = { buf, sizeof(buf) };
	struct rpma_conn_req *req = g->req;

	offer_encode(o, buf);
	g->req = NULL;
	if (!o->status && g->hello.role == ROLE_LOAD && !guest_load_accept(g, req)) {
		rpma_conn_req_delete(&req);
		return false;
	}
	return !rpma_conn_req_connect(&req, &data, &g->conn) &&
	       !conn_fds(g->conn, &g->cq, &g->event_fd, &g->cq_fd);
}

/* Refused: who is no client of ours. */
static bool welcome(struct guest *g, struct offer *o)
{
	struct rpma_conn_private_data data;
	unsigned version;

	if (rpma_conn_req_get_private_data(g->req, &data))
		return false;
	if (hello_decode(data.ptr, data.len, &g->hello, &version)) {
		guest_prepare(g, o);
	} else if (version) {
		g->hello.role = ROLE_CONNECT;
		o->status = OFFER_VERSION;
	} else {
		tell(g, "it is no rpma");
		return false;
	}
	tell(g, refusal(o->status));
	return true;
}

static void guest_free(struct guest *g)
{
	struct server *s = g->server;

	if (g->conn)
		rpma_conn_disconnect(g->conn);
	rpma_conn_delete(&g->conn);
	rpma_conn_req_delete(&g->req);
	guest_load_end(g);
	rpma_mr_dereg(&g->mr);
	if (g->mem.ptr)
		mem_close(&g->mem);
	guest_leave_session(g);
	atomic_fetch_sub(&s->scratch, g->scratch);
	free(g);
	pthread_mutex_lock(&s->lock);
	s->guests--;
	pthread_cond_signal(&s->gone);
	pthread_mutex_unlock(&s->lock);
}

static void *live_long(void *arg)
{
	struct offer offer = { .status = OFFER_OK };
	struct guest *g = arg;

	if (welcome(g, &offer) && accept_guest(g, &offer)) {
		if (offer.status == OFFER_OK)
			run(g);
		else
			await_end(g);
	}
	guest_free(g);
	return NULL;
}

void guest_start(struct server *s, struct rpma_conn_req *req)
{
	struct guest *g = calloc(1, sizeof(*g));
	pthread_attr_t attr;
	pthread_t thread;
	bool room;
	int err = ENOMEM;

	pthread_mutex_lock(&s->lock);
	room = g && s->guests < GUESTS_MAX;
	s->guests += room;
	s->served += room;
	pthread_mutex_unlock(&s->lock);
	if (!room) {
		note("a client is turned away: %u are here", s->guests);
		rpma_conn_req_delete(&req);
		free(g);
		return;
	}
	*g = (struct guest){ .server = s, .req = req, .mem.fd = -1 };
	g->load.mem.fd = -1;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, live_long, g);
	pthread_attr_destroy(&attr);
	if (err) {
		note("a client is turned away: %s", strerror(err));
		guest_free(g);
	}
}
