/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- as in multiple-connections, with two completion queues
 * for each client, which share a channel
 *
 * Receives complete in a queue of their own, yet there is one descriptor to watch for
 * the completions of a connection: rpma_conn_wait() tells which queue has something.
 */

#include "multiple-connections/served.h"

struct server {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_conn_cfg *cfg;
	int set;
	int gone;
};

static void on_completion(void *who)
{
	struct client *c = who;
	struct rpma_cq *cq;
	struct ibv_wc wc;
	bool is_rcq;

	if (rpma_conn_wait(c->conn, 0, &cq, &is_rcq))
		return; /* RPMA_E_NO_COMPLETION: there is nothing after all */
	while (!rpma_cq_get_wc(cq, 1, &wc, NULL)) {
		if (is_rcq && wc.status == IBV_WC_SUCCESS)
			client_read(c);
		else
			client_show(c, &wc);
	}
}

static void on_request(void *who)
{
	struct server *s = who;
	struct client *c = client_new(s->peer, s->ep, s->cfg, &s->gone);
	int fd;

	if (!c)
		return;
	must(rpma_conn_get_event_fd(c->conn, &fd));
	watch(s->set, fd, &c->events);
	c->completions = (struct source){ on_completion, c };
	must(rpma_conn_get_compl_fd(c->conn, &fd));
	watch(s->set, fd, &c->completions);
}

int main(int argc, char **argv)
{
	struct server s = { 0 };
	struct source requests = { on_request, &s };
	int fd;

	if (argc != 4)
		quit("usage: server ADDR PORT COUNT\n");
	s.peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_conn_cfg_new(&s.cfg));
	must(rpma_conn_cfg_set_rcq_size(s.cfg, 10));
	must(rpma_conn_cfg_set_compl_channel(s.cfg, true));
	s.ep = listen_at(s.peer, argv);
	s.set = epoll_create1(EPOLL_CLOEXEC);
	must(rpma_ep_get_fd(s.ep, &fd));
	watch(s.set, fd, &requests);
	while (s.gone < atoi(argv[3]))
		wait_and_serve(s.set);

	must(rpma_ep_shutdown(&s.ep));
	must(rpma_conn_cfg_delete(&s.cfg));
	must(rpma_peer_delete(&s.peer));
	close(s.set);
	return EXIT_SUCCESS;
}
