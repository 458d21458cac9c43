/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_edge.c -- scenarios: what is not there, or too much, or too late
 */

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "original.h"

/* ---- nothing there --------------------------------------------------------------- */

static void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void non_blocking(void)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_req *req = NULL;
	int fd = -1;
	struct end e;

	end_open_connected(&e);
	MUST(rpma_conn_get_event_fd(e.conn, &fd));
	set_nonblock(fd);
	TELL(rpma_conn_next_event(e.conn, &event));
	MUST(rpma_cq_get_fd(e.cq, &fd));
	set_nonblock(fd);
	TELL(rpma_cq_wait(e.cq));
	if (role == SERVER) {
		MUST(rpma_ep_get_fd(e.ep, &fd));
		set_nonblock(fd);
		TELL(rpma_ep_next_conn_req(e.ep, NULL, &req));
	}
	meet();
	if (role == CLIENT)
		TELL(rpma_conn_disconnect(e.conn));
	say_event_soon(e.conn);
	end_drop(&e);
	end_close(&e);
}

static void completions(void)
{
	struct ibv_wc wc[4];
	struct end e;
	int n = 7;

	end_open_connected(&e);
	if (role == CLIENT) {
		for (int i = 0; i < 3; i++)
			MUST(rpma_write(e.conn, e.far, 0, e.mr, 0, 8, ALWAYS, CTX(i + 1)));
		/* the last one of them is there when all have been */
		for (int i = 0; i < 3; i++)
			say_wc("write", e.cq, e.conn);
	}
	TELL(rpma_cq_get_wc(e.cq, 4, wc, &n));
	TELL(rpma_cq_get_wc(e.cq, 4, wc, NULL));
	TELL(rpma_cq_get_wc(e.cq, 0, wc, &n));
	TELL(rpma_cq_get_wc(e.cq, 1, NULL, NULL));
	say("entries", "%d", n);
	end_all(&e);
}

/* ---- too much -------------------------------------------------------------------- */

static void lengths(void)
{
	static const size_t lens[] = { (1UL << 32) + 8, 1UL << 33 | 16 };
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			int ret = rpma_write(e.conn, e.far, 0, e.mr, 0, lens[i], ALWAYS, CTX(1));

			say_result("write", ret);
			if (ret == 0)
				say_wc("write", e.cq, e.conn);
		}
	}
	end_all(&e);
}

static void receive_room(void)
{
	struct end e;
	int n = 0;

	end_open_connected(&e);
	while (n < 100 && rpma_recv(e.conn, e.mr, 0, 8, CTX(11)) == 0)
		n++;
	say("receives posted", "%d", n);
	end_all(&e);
}

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Whether n completions come, the next one always within a second */
static bool all_come(struct rpma_cq *cq, int n)
{
	struct ibv_wc wc;
	int idle_ms = 0;

	while (n > 0 && idle_ms < 1000) {
		if (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0) {
			n--;
			idle_ms = 0;
		} else {
			pause_ms(10);
			idle_ms += 10;
		}
	}
	return n == 0;
}

/* As many requests and receives as there is room for by default. The client does not
 * poll before all of it is over, which the server's write into its memory shows: that
 * comes after the sends. */
static void completion_room(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	if (role == SERVER) {
		MUST(rpma_conn_cfg_new(&cfg));
		MUST(rpma_conn_cfg_set_cq_size(cfg, 100));
		MUST(rpma_conn_cfg_set_sq_size(cfg, 20));
	}
	end_start(&e, end_request(&e, cfg));
	MUST(rpma_conn_cfg_delete(&cfg));
	for (int i = 0; i < 10; i++)
		MUST(rpma_recv(e.conn, e.mr, 4096, 8, CTX(11)));
	meet();
	for (int i = 0; i < 10; i++)
		MUST(rpma_send(e.conn, e.mr, 0, 8, ALWAYS, CTX(1)));
	e.mem[100] = 1;
	if (role == SERVER)
		MUST(rpma_write(e.conn, e.far, 0, e.mr, 100, 1, ALWAYS, CTX(1)));
	for (int ms = 0; role == CLIENT && ms < 1000 && !*(volatile char *)e.mem; ms++)
		pause_ms(1);
	if (role == CLIENT)
		say("completions", "%s", all_come(e.cq, 20) ? "all" : "not all");
	meet();
	end_drop(&e);
	end_close(&e);
}

/* ---- sizes ------------------------------------------------------------------------ */

static void tell_sizes(struct end *e, uint32_t cq, uint32_t sq, uint32_t rq)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	char key[64];

	snprintf(key, sizeof(key), "queues of %u, %u and %u", cq, sq, rq);
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_timeout(cfg, 10000));
	MUST(rpma_conn_cfg_set_cq_size(cfg, cq));
	MUST(rpma_conn_cfg_set_sq_size(cfg, sq));
	MUST(rpma_conn_cfg_set_rq_size(cfg, rq));
	say_result(key, rpma_conn_req_new(e->peer, address, port, cfg, &req));
	MUST(rpma_conn_req_delete(&req));
	MUST(rpma_conn_cfg_delete(&cfg));
}

static void sizes(void)
{
	struct end e;

	end_open(&e, ALL_USAGE);
	if (role == CLIENT) {
		tell_sizes(&e, 1, 1, 1);
		tell_sizes(&e, 0, 10, 10);
		tell_sizes(&e, 10, 0, 10);
		tell_sizes(&e, 10, 10, 0);
		tell_sizes(&e, 10, 1 << 20, 10);
		tell_sizes(&e, 10, 10, 1 << 20);
		tell_sizes(&e, UINT32_MAX, 10, 10);
	}
	meet();
	end_close(&e);
}

/* ---- too early, too late ------------------------------------------------------------ */

static void receive_late(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		TELL(rpma_send(e.conn, e.mr, 0, 8, ALWAYS, CTX(1)));
		meet();
		say_wc("send", e.cq, e.conn);
	} else {
		meet();
		TELL(rpma_recv(e.conn, e.mr, 4096, 8, CTX(11)));
		say_wc("received", e.cq, e.conn);
	}
	end_all(&e);
}

/* Where the shared queue is the only one */
static void receive_beside_srq(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct end e;

	end_open(&e, ALL_USAGE);
	MUST(rpma_srq_new(e.peer, NULL, &srq));
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_srq(cfg, srq));
	end_start(&e, end_request(&e, cfg));
	meet();
	TELL(rpma_recv(e.conn, e.mr, 0, 8, CTX(12)));
}

static void after_closed(void)
{
	struct end e;

	end_open_connected(&e);
	meet();
	if (role == CLIENT)
		TELL(rpma_conn_disconnect(e.conn));
	say_event(e.conn);
	if (role == SERVER)
		TELL(rpma_conn_disconnect(e.conn));
	meet();
	TELL(rpma_conn_disconnect(e.conn));
	TELL(rpma_recv(e.conn, e.mr, 0, 8, CTX(11)));
	TELL(rpma_write(e.conn, e.far, 0, e.mr, 0, 8, ALWAYS, CTX(1)));
	end_drop(&e);
	end_close(&e);
}

static void wrong_order(void)
{
	struct end e;

	end_open(&e, ALL_USAGE);
	TELL(rpma_peer_delete(&e.peer));
	say("peer", "%s", e.peer ? "still there" : "NULL");
	TELL(rpma_mr_dereg(&e.mr));
	say("region", "%s", e.mr ? "still there" : "NULL");
	TELL(rpma_ep_shutdown(&e.ep));
}

/* ---- regions ------------------------------------------------------------------------- */

static void regions(void)
{
	struct rpma_mr_local *mr = NULL;
	void *ptr = NULL, *nowhere = (void *)(uintptr_t)4096;
	size_t size = 0;
	struct end e;

	end_open(&e, ALL_USAGE);
	TELL(rpma_mr_get_ptr(e.mr, &ptr));
	TELL(rpma_mr_get_size(e.mr, &size));
	say("region", "%s, %zu bytes", ptr == e.mem ? "as given" : "elsewhere", size);
	TELL(rpma_mr_reg(e.peer, e.mem, 0, RPMA_MR_USAGE_READ_SRC, &mr));
	TELL(rpma_mr_reg(e.peer, e.mem, 8, 0, &mr));
	TELL(rpma_mr_reg(e.peer, e.mem, 8, 0x100, &mr));
	for (int usage = 1; usage <= RPMA_MR_USAGE_RECV; usage <<= 1) {
		TELL(rpma_mr_reg(e.peer, e.mem + 1, 7, usage, &mr));
		TELL(rpma_mr_dereg(&mr));
	}
	TELL(rpma_mr_reg(e.peer, nowhere, 8, RPMA_MR_USAGE_READ_SRC, &mr));
	TELL(rpma_mr_advise(e.mr, 0, MEM_SIZE, IBV_ADVISE_MR_ADVICE_PREFETCH, 0));
	end_close(&e);
}

static void advise_null(void)
{
	TELL(rpma_mr_advise(NULL, 0, 8, IBV_ADVISE_MR_ADVICE_PREFETCH, 0));
}

const struct scenario edge_scenarios[] = {
	{ SCENARIO(non_blocking) },
	{ SCENARIO(completions) },
	{ SCENARIO(lengths) },
	{ SCENARIO(receive_room) },
	{ SCENARIO(completion_room) },
	{ SCENARIO(sizes) },
	{ SCENARIO(receive_late), .not_iwarp = true },
	{ SCENARIO(receive_beside_srq) },
	{ SCENARIO(after_closed) },
	{ SCENARIO(wrong_order) },
	{ SCENARIO(regions) },
	{ SCENARIO(advise_null) },
	{ 0 },
};
