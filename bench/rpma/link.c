/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * link.c -- see link.h: the initiator's side
 */

#include "rpma/link.h"

bool is_poll(const char *word)
{
	if (strcmp(word, "poll") && strcmp(word, "block"))
		die("'%s' is neither poll nor block", word);
	return strcmp(word, "poll") == 0;
}

struct rpma_peer *peer_open(void)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	must(rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	must(rpma_peer_new(device, &peer));
	return peer;
}

/* The API cannot tell which port it has picked: take one that is free, unless it has
 * been taken in between. */
struct rpma_ep *listen_and_tell(struct rpma_peer *peer)
{
	enum { TRIES = 100 };
	struct rpma_ep *ep;
	char port[8];

	for (int i = 0; i < TRIES; i++) {
		free_port(port);
		if (!rpma_ep_listen(peer, "0.0.0.0", port, &ep)) {
			tell_parent(port);
			return ep;
		}
	}
	die("no port to listen at");
}

void link_expect(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	must(rpma_conn_next_event(conn, &event));
	if (event != expected)
		die("%s instead of %s", rpma_utils_conn_event_2str(event),
			rpma_utils_conn_event_2str(expected));
}

static struct rpma_conn_cfg *configuration(uint32_t depth)
{
	struct rpma_conn_cfg *cfg;

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_timeout(cfg, 10000));
	if (depth > 0) {
		must(rpma_conn_cfg_set_sq_size(cfg, depth));
		must(rpma_conn_cfg_set_cq_size(cfg, depth));
	}
	return cfg;
}

struct link link_open(struct rpma_peer *peer, const char *port, unsigned i, uint32_t depth)
{
	struct rpma_conn_cfg *cfg = configuration(depth);
	struct rpma_conn_private_data offer;
	struct rpma_conn_req *req;
	struct link l;
	char addr[16];

	loopback(addr, i);
	must(rpma_conn_req_new(peer, addr, port, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_conn_req_connect(&req, NULL, &l.conn));
	link_expect(l.conn, RPMA_CONN_ESTABLISHED);
	must(rpma_conn_get_cq(l.conn, &l.cq));
	must(rpma_conn_get_private_data(l.conn, &offer));
	must(rpma_mr_remote_from_descriptor(offer.ptr, offer.len, &l.dst));
	return l;
}

bool link_done(const struct link *l)
{
	struct ibv_wc wc;
	int ret = rpma_cq_get_wc(l->cq, 1, &wc, NULL);

	if (ret == RPMA_E_NO_COMPLETION)
		return false;
	must_be_zero(ret, "rpma_cq_get_wc");
	if (wc.status != IBV_WC_SUCCESS)
		die("a request failed: %s", ibv_wc_status_str(wc.status));
	return true;
}

void link_await(const struct link *l, bool poll)
{
	do {
		if (!poll)
			must(rpma_cq_wait(l->cq));
	} while (!link_done(l));
}
