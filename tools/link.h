/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * link.h -- a client's connection to "rpma serve"
 *
 * What can fail returns a negative number and says why in link.why, in words that
 * name the cause and the next step; link_close() takes a link in any state.
 */

#ifndef LINK_H
#define LINK_H 1

#include "proto.h"
#include "tool.h"

/* The device that owns, or reaches, an address, and our peer on it. */
struct site {
	struct ibv_context *device;
	struct rpma_peer *peer;
	bool tcp;	    /* it is provider tcp's */
	unsigned queue_max; /* how long the queues of a connection may be */
};

/* Fails with a message. */
void site_open(struct site *s, const char *addr, enum rpma_util_ibv_context_type type);
void site_close(struct site *s);

struct link {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int event_fd; /* both non-blocking */
	int cq_fd;
	struct offer offer;
	struct rpma_mr_remote *remote; /* NULL: none was offered */
	uint64_t size;		       /* of it */
	void *desk;		       /* NULL: there is none; request, then reply */
	struct rpma_mr_local *desk_mr;
	char why[512];
};

/* What the queues of a link are for. */
struct link_queues {
	unsigned sends; /* their lengths */
	unsigned receives;
	/* posts the first receives, before the server can send anything; or NULL */
	int (*prepare)(struct rpma_conn_req *req, void *arg);
	void *arg;
};

int link_open(struct link *l, const struct site *s, const struct target *t, struct hello *h,
	const struct link_queues *q);
void link_close(struct link *l);

/* Take up to n completions, waiting for the first. Returns how many; none of them
 * has failed. */
int link_wait(struct link *l, struct ibv_wc *wc, int n);
/* What a completion that has failed means. */
int link_broken(struct link *l, enum ibv_wc_status status);
/* Nothing else may be under way. */
int link_ask(struct link *l, const struct request *request, struct reply *reply);

/* Set up what both sides wait for. 0 or an error of the library. */
int nonblocking(int fd);
int conn_fds(struct rpma_conn *conn, struct rpma_cq **cq, int *event_fd, int *cq_fd);
/* Shorter queues where the device has no longer ones. */
int make_conn_cfg(
	const struct site *s, struct rpma_conn_cfg **cfg, unsigned sends, unsigned receives);

#endif /* LINK_H */
