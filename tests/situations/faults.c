/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * faults.c -- every call of the library to the system fails once, at every place
 *
 * A whole life of two peers is lived again and again; each time the next call of
 * one kind fails. Whatever comes of it: no call hangs, a request that was accepted
 * completes, what completes well has happened, all that was made can be deleted,
 * and nothing stays.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"
#include "shim.h"

enum { LEN = 3000, MEM = 2 * LEN, POSTS = 6 };

struct end {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote; /* of the other side's memory */
	char *mem;		       /* of a file: flushing it takes a thread */
	bool up;		       /* ESTABLISHED was told */
	bool over;		       /* the end was told */
};

struct life {
	struct end end[SIDES];
	struct rpma_ep *ep;
	bool shared; /* the server's receives are to be in a shared queue */
	struct rpma_srq *srq;
	char port[PORT_LEN];
	bool well; /* nothing failed */
};

/* ---- steps: each goes on as far as what it needs is there ----------------- */

/* True and nothing lost, or false and the code says so. */
static bool worked(struct life *l, int ret)
{
	l->well = l->well && ret == 0;
	return ret == 0;
}

static char *map_file(void)
{
	int fd = memfd_create("faults", MFD_CLOEXEC);
	char *map;

	assert_int_equal(ftruncate(fd, MEM), 0);
	map = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	return map;
}

static void make_peers(struct life *l)
{
	const enum rpma_util_ibv_context_type type[SIDES] = {
		[CLIENT] = RPMA_UTIL_IBV_CONTEXT_REMOTE,
		[SERVER] = RPMA_UTIL_IBV_CONTEXT_LOCAL,
	};

	for (int s = 0; s < SIDES; s++) {
		struct ibv_context *ctx = NULL;
		struct end *e = &l->end[s];

		e->mem = map_file();
		if (worked(l, rpma_utils_get_ibv_context("127.0.0.1", type[s], &ctx)))
			worked(l, rpma_peer_new(ctx, &e->peer));
		if (e->peer)
			worked(l, rpma_mr_reg(e->peer, e->mem, MEM, USAGE_ALL, &e->mr));
	}
	if (l->shared && l->end[SERVER].peer)
		worked(l, rpma_srq_new(l->end[SERVER].peer, NULL, &l->srq));
	free_port("127.0.0.1", l->port);
	if (l->end[SERVER].peer)
		worked(l, rpma_ep_listen(l->end[SERVER].peer, "127.0.0.1", l->port, &l->ep));
}

static void call(struct life *l)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;

	if (l->end[CLIENT].peer == NULL || !worked(l, rpma_conn_cfg_new(&cfg)))
		return;
	assert_ok(rpma_conn_cfg_set_timeout(cfg, 3000));
	if (worked(l, rpma_conn_req_new(l->end[CLIENT].peer, "127.0.0.1", l->port, cfg, &req)))
		worked(l, rpma_conn_req_connect(&req, NULL, &l->end[CLIENT].conn));
	assert_null(req);
	assert_ok(rpma_conn_cfg_delete(&cfg));
}

static void take_event(struct life *l, struct end *e)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	if (!worked(l, rpma_conn_next_event(e->conn, &event)))
		return;
	assert_false(e->over);
	e->up = e->up || event == RPMA_CONN_ESTABLISHED;
	e->over = event != RPMA_CONN_ESTABLISHED;
	l->well = l->well && (event == RPMA_CONN_ESTABLISHED || event == RPMA_CONN_CLOSED);
}

static void post_receives(struct life *l, struct rpma_conn_req *req)
{
	struct rpma_mr_local *mr = l->end[SERVER].mr;

	for (uint64_t i = 0; i < 2; i++)
		worked(l, l->srq ? rpma_srq_recv(l->srq, mr, LEN, LEN, CTX(100 + i))
				 : rpma_conn_req_recv(req, mr, LEN, LEN, CTX(100 + i)));
}

static void take_request(struct life *l)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;

	if (l->srq && worked(l, rpma_conn_cfg_new(&cfg)))
		assert_ok(rpma_conn_cfg_set_srq(cfg, l->srq));
	if (l->srq && !cfg) { /* this time without a word: the client hears of it */
		assert_ok(rpma_ep_shutdown(&l->ep));
		return;
	}
	worked(l, rpma_ep_next_conn_req(l->ep, cfg, &req));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	if (req == NULL)
		return;
	post_receives(l, req);
	worked(l, rpma_conn_req_connect(&req, NULL, &l->end[SERVER].conn));
	assert_null(req);
}

static int fd_of(const struct end *e)
{
	int fd = -1;

	if (e->conn && !e->over)
		assert_ok(rpma_conn_get_event_fd(e->conn, &fd));
	return fd;
}

/* Serve both ends and the endpoint until this is so for them that still can. */
static void until(struct life *l, bool (*reached)(const struct life *l))
{
	int64_t end = clock_ms() + test_timeout_ms();

	while (!reached(l)) {
		struct pollfd p[3] = { { .events = POLLIN }, { .events = POLLIN }, { .fd = -1 } };

		p[2].events = POLLIN;
		if (l->ep && l->end[SERVER].conn == NULL)
			assert_ok(rpma_ep_get_fd(l->ep, &p[2].fd));
		for (int s = 0; s < SIDES; s++)
			p[s].fd = fd_of(&l->end[s]);
		if (clock_ms() > end)
			fail_msg("nothing happens any more");
		if (poll(p, 3, 100) <= 0)
			continue;
		for (int s = 0; s < SIDES; s++)
			if (p[s].revents)
				take_event(l, &l->end[s]);
		if (p[2].revents)
			take_request(l);
	}
}

/* The client knows how its call has ended. */
static bool answered(const struct life *l)
{
	const struct end *c = &l->end[CLIENT], *s = &l->end[SERVER];

	if (c->conn && !c->up && !c->over)
		return false;
	return s->conn ? s->up || s->over : !c->up || c->over;
}

static bool over(const struct life *l)
{
	return (!l->end[CLIENT].conn || l->end[CLIENT].over) &&
	       (!l->end[SERVER].conn || l->end[SERVER].over);
}

/* Post one of each, and take as many completions as were accepted. */
static void exchange(struct life *l)
{
	struct end *e = &l->end[CLIENT], *o = &l->end[SERVER];
	int always = RPMA_F_COMPLETION_ALWAYS, flush = RPMA_FLUSH_TYPE_PERSISTENT;
	struct side side = { .conn = e->conn };
	int done = 0, posted = 0;
	uint64_t last = 0;

	assert_ok(rpma_conn_get_qp_num(e->conn, &side.qp_num));
	assert_ok(rpma_conn_get_cq(e->conn, &side.cq));
	fill(e->mem, LEN, 1);
	posted += worked(l, rpma_write(e->conn, e->remote, 0, e->mr, 0, LEN, always, CTX(1)));
	posted += worked(l, rpma_flush(e->conn, e->remote, 0, LEN, flush, always, CTX(2)));
	posted += worked(l, rpma_read(e->conn, e->mr, LEN, e->remote, 0, LEN, always, CTX(3)));
	posted += worked(l, rpma_atomic_write(e->conn, e->remote, 0, "ABCDEFGH", always, CTX(4)));
	posted += worked(l, rpma_send(e->conn, e->mr, 0, LEN, always, CTX(5)));
	posted += worked(
		l, rpma_write_with_imm(e->conn, e->remote, 0, e->mr, 0, 8, always, 7, CTX(6)));
	while (done < posted) {
		struct ibv_wc wc;

		next_wc(&side, side.cq, &wc);
		done++;
		assert_true(wc.wr_id > last && wc.wr_id <= POSTS);
		last = wc.wr_id;
		l->well = l->well && wc.status == IBV_WC_SUCCESS;
		if (wc.wr_id == 3 && wc.status == IBV_WC_SUCCESS)
			assert_memory_equal(e->mem, e->mem + LEN, LEN);
		if (wc.wr_id == 5 && wc.status == IBV_WC_SUCCESS)
			assert_memory_equal(e->mem, o->mem + LEN, LEN);
	}
	expect_no_wc(side.cq);
}

static bool know_each_other(struct life *l)
{
	for (int s = 0; s < SIDES; s++) {
		struct end *e = &l->end[s], *o = &l->end[!s];
		uint8_t desc[DESC_SIZE];

		if (!e->up || e->over || !e->mr || !o->mr)
			return false;
		assert_ok(rpma_mr_get_descriptor(o->mr, desc));
		if (!worked(l, rpma_mr_remote_from_descriptor(desc, DESC_SIZE, &e->remote)))
			return false;
	}
	return true;
}

/* True: all went well, from the first to the last. */
static bool live(bool shared)
{
	int fds = count_self("fd"), threads = count_self("task"), allocated = shim_live();
	struct life *l = calloc(1, sizeof(*l));
	bool well;

	assert_non_null(l);
	l->well = true;
	l->shared = shared;
	make_peers(l);
	call(l);
	until(l, answered);
	if (know_each_other(l))
		exchange(l);
	for (int s = 0; s < SIDES; s++)
		if (l->end[s].conn)
			worked(l, rpma_conn_disconnect(l->end[s].conn));
	until(l, over);
	for (int s = 0; s < SIDES; s++) {
		assert_ok(rpma_conn_delete(&l->end[s].conn));
		assert_ok(rpma_mr_remote_delete(&l->end[s].remote));
		assert_ok(rpma_mr_dereg(&l->end[s].mr));
	}
	assert_ok(rpma_ep_shutdown(&l->ep));
	assert_ok(rpma_srq_delete(&l->srq));
	for (int s = 0; s < SIDES; s++) {
		assert_ok(rpma_peer_delete(&l->end[s].peer));
		munmap(l->end[s].mem, MEM);
	}
	well = l->well;
	free(l);
	assert_int_equal(shim_live(), allocated);
	assert_int_equal(count_self("fd"), fds);
	settle_self("task", threads); /* who has been joined may still be listed for a moment */
	return well;
}

/* ---- each call once -------------------------------------------------------- */

/* Until no call is left that could fail: then all must go well. */
static void fail_each(enum shim_call what, int err, bool shared)
{
	int n = 1;

	if (!shim_works()) {
		print_message("a sanitizer is in its place\n");
		skip();
	}
	for (;; n++) {
		bool well;

		case_is("call %d, error %d", n, err);
		shim_arm(what, n, 1, err);
		well = live(shared);
		if (!shim_fired()) {
			shim_arm(SHIM_CALLS, 0, 0, 0);
			assert_true(well);
			break;
		}
		assert_true(n < 2000);
	}
	assert_true(n > 1);
}

static void fail_each_way(enum shim_call what, const int *errs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int shared = 0; shared < 2; shared++)
			fail_each(what, errs[i], shared);
}

#define WAYS(what, ...)                                                                            \
	fail_each_way((what), (const int[]){ __VA_ARGS__ }, ARRAY_LEN(((int[]){ __VA_ARGS__ })))

static void b09_each_allocation(void **state)
{
	(void)state;
	WAYS(SHIM_MALLOC, ENOMEM);
}

static void b09_each_socket(void **state)
{
	(void)state;
	WAYS(SHIM_SOCKET, EMFILE, ENOBUFS);
}

static void b09_each_accept(void **state)
{
	(void)state;
	WAYS(SHIM_ACCEPT, EMFILE, ECONNABORTED, EINTR);
}

static void b01_each_connect(void **state)
{
	(void)state;
	WAYS(SHIM_CONNECT, ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EINTR);
}

static void b09_each_descriptor(void **state)
{
	(void)state;
	WAYS(SHIM_EPOLL_CTL, ENOMEM, ENOSPC);
	WAYS(SHIM_EPOLL_CREATE, EMFILE);
	WAYS(SHIM_EVENTFD, EMFILE);
}

static void b09_each_thread(void **state)
{
	(void)state;
	WAYS(SHIM_PTHREAD_CREATE, EAGAIN);
}

static void b45_each_send(void **state)
{
	(void)state;
	WAYS(SHIM_SEND, EAGAIN, EINTR, ECONNRESET, EPIPE, ENOBUFS);
}

static void b45_each_recv(void **state)
{
	(void)state;
	WAYS(SHIM_RECV, EAGAIN, EINTR, ECONNRESET, ETIMEDOUT, SHIM_EOF);
}

/* ---- all of them, but less -------------------------------------------------- */

static void all_by_byte(enum shim_call what, int from)
{
	if (!shim_works()) {
		print_message("a sanitizer is in its place\n");
		skip();
	}
	shim_arm(what, from, 1000000, SHIM_ONE_BYTE);
	assert_true(live(false));
	shim_arm(what, from, 1000000, SHIM_ONE_BYTE);
	assert_true(live(true));
	assert_true(shim_fired());
	shim_arm(SHIM_CALLS, 0, 0, 0);
}

static void b19_received_byte_by_byte(void **state)
{
	(void)state;
	all_by_byte(SHIM_RECV, 1);
}

/* From behind the two frames of the start-up, which an empty socket takes whole. */
static void b45_sent_byte_by_byte(void **state)
{
	(void)state;
	all_by_byte(SHIM_SEND, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b01_each_connect),
		cmocka_unit_test(b09_each_allocation),
		cmocka_unit_test(b09_each_socket),
		cmocka_unit_test(b09_each_accept),
		cmocka_unit_test(b09_each_descriptor),
		cmocka_unit_test(b09_each_thread),
		cmocka_unit_test(b19_received_byte_by_byte),
		cmocka_unit_test(b45_each_send),
		cmocka_unit_test(b45_each_recv),
		cmocka_unit_test(b45_sent_byte_by_byte),
	};

	setenv("RPMA_TCP_LINGER_MS", "500", 1);
	setenv("RPMA_TCP_HANDSHAKE_MS", "2000", 1);
	test_init();
	return cmocka_run_group_tests_name("situations-faults", tests, NULL, NULL);
}
