/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_queues.c -- scenarios: the queues that completions come from
 */

#include <fcntl.h>

#include "original.h"

/* ---- queues ----------------------------------------------------------------- */

static void exchange(struct end *e)
{
	TELL(rpma_recv(e->conn, e->mr, 4096, 1024, CTX(11)));
	meet();
	TELL(rpma_send(e->conn, e->mr, 0, 100, ALWAYS, CTX(1)));
}

static void receive_queue(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_cq *rcq = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_rcq_size(cfg, 10));
	end_start(&e, end_request(&e, cfg));
	MUST(rpma_conn_cfg_delete(&cfg));
	TELL(rpma_conn_get_rcq(e.conn, &rcq));
	say("receive queue", "%s", rcq && rcq != e.cq ? "its own" : "none");
	exchange(&e);
	say_wc("send", e.cq, e.conn);
	say_wc("received", e.rcq, e.conn);
	say_empty(e.cq);
	say_empty(e.rcq);
	end_all(&e);
}

/* The two completions of an exchange, in whatever order they come */
static void shared_waits(struct end *e)
{
	struct ibv_wc wc[2], got[2] = { 0 };
	int n = 0;

	while (!got[0].wr_id || !got[1].wr_id) {
		struct rpma_cq *cq = NULL;
		bool is_rcq = false;

		must("rpma_conn_wait()", rpma_conn_wait(e->conn, 0, &cq, &is_rcq));
		if (is_rcq != (cq == e->rcq))
			say("is_rcq", "%d", is_rcq);
		if (rpma_cq_get_wc(cq, 2, wc, &n))
			continue;
		for (int i = 0; i < n; i++)
			got[wc[i].wr_id == 11] = wc[i];
	}
	say("send", "%s", ibv_wc_status_str(got[0].status));
	say("received", "%s, %u bytes", ibv_wc_status_str(got[1].status), got[1].byte_len);
}

static void shared_channel(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	int fds[] = { -1, -2, -3 };
	struct end e;

	end_open(&e, ALL_USAGE);
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_rcq_size(cfg, 10));
	MUST(rpma_conn_cfg_set_compl_channel(cfg, true));
	end_start(&e, end_request(&e, cfg));
	MUST(rpma_conn_cfg_delete(&cfg));
	TELL(rpma_conn_get_compl_fd(e.conn, &fds[0]));
	TELL(rpma_cq_get_fd(e.cq, &fds[1]));
	TELL(rpma_cq_get_fd(e.rcq, &fds[2]));
	say("descriptors", "%s", fds[0] == fds[1] && fds[0] == fds[2] ? "one" : "several");
	TELL(rpma_cq_wait(e.cq));
	TELL(rpma_cq_wait(e.rcq));
	exchange(&e);
	shared_waits(&e);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while (rpma_conn_wait(e.conn, 0, &e.rcq, NULL) == 0)
		;
	TELL(rpma_conn_wait(e.conn, 0, &e.rcq, NULL));
	end_all(&e);
}

/* ---- shared receive queues ---------------------------------------------------- */

enum { CONNS = 2 };

/* The server's connections have one receive queue for all. */
static void use_srq(uint32_t rcq_size)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq_cfg *srq_cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq = NULL;
	struct end e[CONNS];

	end_open(&e[0], ALL_USAGE);
	if (role == SERVER) {
		MUST(rpma_srq_cfg_new(&srq_cfg));
		MUST(rpma_srq_cfg_set_rcq_size(srq_cfg, rcq_size));
		TELL(rpma_srq_new(e[0].peer, srq_cfg, &srq));
		MUST(rpma_srq_cfg_delete(&srq_cfg));
		TELL(rpma_srq_get_rcq(srq, &rcq));
		say("queue of its own", "%d", rcq != NULL);
		MUST(rpma_conn_cfg_new(&cfg));
		TELL(rpma_conn_cfg_set_srq(cfg, srq));
		for (unsigned i = 0; i < CONNS; i++)
			TELL(rpma_srq_recv(srq, e[0].mr, 4096 + i * 1024, 1024, CTX(11)));
	}
	e[1] = e[0];
	for (int i = 0; i < CONNS; i++)
		end_start(&e[i], end_request(&e[i], cfg));
	MUST(rpma_conn_cfg_delete(&cfg));
	if (role == SERVER) {
		for (int i = 0; i < CONNS; i++) {
			say("receive queue", "%s", e[i].rcq == e[i].cq ? "none" : "its own");
			say_wc("received", rcq ? rcq : e[i].rcq, e[i].conn);
			meet();
		}
	} else {
		for (int i = 0; i < CONNS; i++) {
			TELL(rpma_send(e[i].conn, e[i].mr, 0, 10 + (unsigned)i, ALWAYS, CTX(1)));
			say_wc("send", e[i].cq, e[i].conn);
			meet();
		}
	}
	for (int i = 0; i < CONNS; i++)
		end_disconnect(&e[i]);
	TELL(rpma_srq_delete(&srq));
	end_close(&e[0]);
}

static void srq_with_queue(void)
{
	use_srq(10);
}

static void srq_without_queue(void)
{
	use_srq(0);
}

/* What does not go together */
static void srq_and_shared(void)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	if (role == CLIENT) {
		MUST(rpma_srq_new(e.peer, NULL, &srq));
		MUST(rpma_conn_cfg_new(&cfg));
		MUST(rpma_conn_cfg_set_srq(cfg, srq));
		MUST(rpma_conn_cfg_set_compl_channel(cfg, true));
		TELL(rpma_conn_req_new(e.peer, address, port, cfg, &req));
		MUST(rpma_conn_cfg_delete(&cfg));
		TELL(rpma_srq_delete(&srq));
	}
	end_close(&e);
}

const struct scenario queue_scenarios[] = {
	{ SCENARIO(receive_queue) },
	{ SCENARIO(shared_channel) },
	{ SCENARIO(srq_with_queue) },
	{ SCENARIO(srq_without_queue) },
	{ SCENARIO(srq_and_shared) },
	{ 0 },
};
