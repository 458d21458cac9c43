/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * served.h -- a client as the servers here and in multiple-connections-shared-channel
 * see it
 *
 * It sends the descriptor of a text; the server reads the text out of the client's
 * memory, shows it and ends the connection.
 */

#ifndef EXAMPLES_SERVED_H
#define EXAMPLES_SERVED_H 1

#include "common/poller.h"
#include "common/steps.h"

enum { SIZE = 64, DESC = 32 };

struct client {
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	struct source events;
	struct source completions;
	int *gone; /* how many have gone */
	char text[SIZE];
	char desc[DESC];
};

static inline void on_event(void *who)
{
	struct client *c = who;
	enum rpma_conn_event event;
	int ret = rpma_conn_next_event(c->conn, &event);

	if (ret == RPMA_E_NO_EVENT || (!ret && event == RPMA_CONN_ESTABLISHED))
		return;
	++*c->gone;
	rpma_conn_disconnect(c->conn);
	rpma_conn_delete(&c->conn); /* closes its descriptors, so they leave the set */
	rpma_mr_dereg(&c->mr);
	free(c);
}

/* Let the client in whose request is there; NULL: it has changed its mind. */
static inline struct client *client_new(
	struct rpma_peer *peer, struct rpma_ep *ep, const struct rpma_conn_cfg *cfg, int *gone)
{
	struct client *c = calloc(1, sizeof(*c));
	struct rpma_conn_req *req;

	if (!c || rpma_ep_next_conn_req(ep, cfg, &req)) {
		free(c);
		return NULL;
	}
	c->gone = gone;
	must(rpma_mr_reg(peer, c, sizeof(*c), RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_RECV, &c->mr));
	must(rpma_conn_req_recv(req, c->mr, offsetof(struct client, desc), DESC, NULL));
	must(rpma_conn_req_connect(&req, NULL, &c->conn));
	c->events = (struct source){ on_event, c };
	return c;
}

/* The descriptor is there: read the text. */
static inline void client_read(struct client *c)
{
	struct rpma_mr_remote *src;

	if (rpma_mr_remote_from_descriptor(c->desc, DESC, &src)) {
		rpma_conn_disconnect(c->conn); /* the event CLOSED follows */
		return;
	}
	if (rpma_read(c->conn, c->mr, offsetof(struct client, text), src, 0, SIZE,
		    RPMA_F_COMPLETION_ALWAYS, NULL))
		rpma_conn_disconnect(c->conn);
	must(rpma_mr_remote_delete(&src));
}

/* The text is there, or never will be. */
static inline void client_show(struct client *c, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		printf("server: read %.*s\n", SIZE, c->text);
	rpma_conn_disconnect(c->conn);
}

#endif /* EXAMPLES_SERVED_H */
