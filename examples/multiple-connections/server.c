/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT COUNT -- serve clients as they come, in one thread, with epoll
 *
 * The set has the descriptor of the endpoint and two of each connection: of its
 * events and of its completion queue. Ends after COUNT clients.
 */

#include "multiple-connections/served.h"

struct server {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	int set;
	int gone;
};

static void on_completion(void *who)
{
	struct client *c = who;
	struct rpma_cq *cq = cq_of(c->conn);
	struct ibv_wc wc;

	if (rpma_cq_wait(cq))
		return; /* RPMA_E_NO_COMPLETION: there is nothing after all */
	while (!rpma_cq_get_wc(cq, 1, &wc, NULL)) {
		if (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV)
			client_read(c);
		else
			client_show(c, &wc);
	}
}

static void on_request(void *who)
{
	struct server *s = who;
	struct client *c = client_new(s->peer, s->ep, NULL, &s->gone);
	int fd;

	if (!c)
		return;
	must(rpma_conn_get_event_fd(c->conn, &fd));
	watch(s->set, fd, &c->events);
	c->completions = (struct source){ on_completion, c };
	must(rpma_cq_get_fd(cq_of(c->conn), &fd));
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
	s.ep = listen_at(s.peer, argv);
	s.set = epoll_create1(EPOLL_CLOEXEC);
	must(rpma_ep_get_fd(s.ep, &fd));
	watch(s.set, fd, &requests);
	while (s.gone < atoi(argv[3]))
		wait_and_serve(s.set);

	must(rpma_ep_shutdown(&s.ep));
	must(rpma_peer_delete(&s.peer));
	close(s.set);
	return EXIT_SUCCESS;
}
