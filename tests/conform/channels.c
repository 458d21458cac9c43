/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* channels.c -- which completion queues and channels a connection has */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 64

enum srq_kind { NO_SRQ, SRQ_BARE, SRQ_WITH_CQ };

/* Every combination of the configuration that can be */
struct combination {
	bool shared;
	uint32_t rcq_size;
	enum srq_kind srq;
	bool has_rcq; /* the connection has a receive queue of its own */
};

static const struct combination combinations[] = {
	{ false, 0, NO_SRQ, false },
	{ false, 10, NO_SRQ, true },
	{ true, 0, NO_SRQ, false },
	{ true, 10, NO_SRQ, true },
	{ false, 0, SRQ_BARE, false },
	{ false, 10, SRQ_BARE, true },
	{ true, 0, SRQ_BARE, false },
	{ true, 10, SRQ_BARE, true },
	{ false, 0, SRQ_WITH_CQ, false },
	{ false, 10, SRQ_WITH_CQ, false },
};

/* A net whose both sides are configured alike, with a connection */
struct setting {
	struct net net;
	struct rpma_srq *srq[SIDES];
	struct pair_opts opts;
	struct field f;
};

static struct rpma_srq *make_srq(struct rpma_peer *peer, enum srq_kind kind)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;

	assert_ok(rpma_srq_cfg_new(&cfg));
	if (kind == SRQ_BARE)
		assert_ok(rpma_srq_cfg_set_rcq_size(cfg, 0));
	assert_ok(rpma_srq_new(peer, cfg, &srq));
	assert_ok(rpma_srq_cfg_delete(&cfg));
	return srq;
}

static void setting_open(struct setting *t, const struct combination *c)
{
	case_is("shared %d, rcq %u, srq %d", c->shared, c->rcq_size, c->srq);
	*t = (struct setting){ 0 };
	net_open(&t->net);
	for (int i = 0; i < SIDES; i++) {
		if (c->srq != NO_SRQ)
			t->srq[i] = make_srq(t->net.peer[i], c->srq);
		t->opts.side[i].shared = c->shared;
		t->opts.side[i].rcq_size = c->rcq_size;
		t->opts.side[i].srq = t->srq[i];
	}
	field_connect(&t->f, &t->net, &t->opts, SIZE);
}

static void setting_close(struct setting *t)
{
	field_close(&t->f);
	for (int i = 0; i < SIDES; i++)
		assert_ok(rpma_srq_delete(&t->srq[i]));
	net_close(&t->net);
}

static int fd_of(const struct rpma_cq *cq)
{
	int fd = -1;

	assert_ok(rpma_cq_get_fd(cq, &fd));
	assert_true(fd >= 0);
	return fd;
}

static void recv_on(struct setting *t, int side, const void *ctx)
{
	struct side *s = &t->f.pair.side[side];

	if (t->srq[side] == NULL) {
		post_recv(s, &t->f.mem[side], SIZE, ctx);
		return;
	}
	assert_rpma(RPMA_E_PROVIDER, recv_at(s, &t->f.mem[side], 0, SIZE, ctx));
	assert_ok(rpma_srq_recv(t->srq[side], t->f.mem[side].mr, 0, SIZE, ctx));
}

/* ---- what there is ------------------------------------------------------- */

static void check_queues(const struct side *s, const struct combination *c)
{
	struct rpma_cq *cq = NULL, *rcq = CTX(1);

	assert_ok(rpma_conn_get_cq(s->conn, &cq));
	assert_non_null(cq);
	assert_ok(rpma_conn_get_rcq(s->conn, &rcq));
	assert_int_equal(rcq != NULL, c->has_rcq);
	assert_ptr_not_equal(rcq, cq);
	if (rcq)
		assert_int_equal(fd_of(rcq) == fd_of(cq), c->shared);
	if (c->srq == SRQ_WITH_CQ)
		assert_int_not_equal(fd_of(s->rcq), fd_of(cq));
}

static void check_channel_codes(const struct side *s, const struct combination *c)
{
	struct rpma_cq *got = NULL;
	bool is_rcq = true;
	int fd = -7;

	if (c->shared) {
		assert_ok(rpma_conn_get_compl_fd(s->conn, &fd));
		assert_int_equal(fd, fd_of(s->cq));
		assert_rpma(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(s->cq));
		assert_rpma(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(s->rcq));
		return;
	}
	assert_rpma(RPMA_E_NOT_SHARED_CHNL, rpma_conn_get_compl_fd(s->conn, &fd));
	assert_int_equal(fd, -7);
	assert_rpma(RPMA_E_NOT_SHARED_CHNL, rpma_conn_wait(s->conn, 0, &got, &is_rcq));
	assert_null(got);
	assert_true(is_rcq);
}

/* A message each way: requests and receives complete where the table says. */
static void check_traffic(struct setting *t)
{
	for (int from = 0; from < SIDES; from++) {
		struct xfer x = field_xfer(&t->f, from, SIZE, CTX(1));
		struct side *to = &t->f.pair.side[!from];

		recv_on(t, !from, CTX(2));
		fill(x.local->data, SIZE, (uint64_t)from + 20);
		op_post(&ops[OP_SEND], &x);
		expect_recv(to, CTX(2));
		if (to->rcq != to->cq)
			expect_no_wc(to->cq);
		expect_done(x.by, CTX(1));
		if (x.by->rcq != x.by->cq)
			expect_no_wc(x.by->rcq);
		assert_filled(t->f.mem[!from].data, SIZE, (uint64_t)from + 20);
	}
}

static void every_combination(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(combinations); i++) {
		const struct combination *c = &combinations[i];
		struct setting t;

		setting_open(&t, c);
		for (int s = 0; s < SIDES; s++) {
			check_queues(&t.f.pair.side[s], c);
			check_channel_codes(&t.f.pair.side[s], c);
		}
		check_traffic(&t);
		setting_close(&t);
	}
}

/* The one that cannot be; the other side of it is told. */
static void shared_channel_with_srq_queue(void **state)
{
	struct side_opts o = { .shared = true };
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg;
	struct rpma_srq *srq;
	struct rpma_conn *cli;
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	for (int i = 0; i < SIDES; i++) {
		o.srq = srq = make_srq(n.peer[i], SRQ_WITH_CQ);
		cfg = cfg_from(&o);
		if (i == CLIENT) {
			assert_rpma(RPMA_E_INVAL,
				rpma_conn_req_new(n.peer[CLIENT], n.addr, n.port, cfg, &req));
		} else {
			cli = client_start(&n, NULL);
			assert_ok(rpma_ep_get_fd(n.ep, &fd));
			wait_fd(fd);
			assert_rpma(RPMA_E_INVAL, rpma_ep_next_conn_req(n.ep, cfg, &req));
			expect_event(cli, RPMA_CONN_REJECTED);
			assert_ok(rpma_conn_delete(&cli));
		}
		assert_null(req);
		assert_ok(rpma_conn_cfg_delete(&cfg));
		assert_ok(rpma_srq_delete(&srq));
	}
	net_close(&n);
}

/* ---- waiting on a shared channel ----------------------------------------- */

/* Wait once; whatever is named must be one of ours, and is polled empty. */
static void wait_and_drain(struct side *s, int *sends, int *recvs)
{
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc;
	bool is_rcq = false;
	int fd = -1;

	assert_ok(rpma_conn_get_compl_fd(s->conn, &fd));
	wait_fd(fd);
	assert_ok(rpma_conn_wait(s->conn, 0, &cq, &is_rcq));
	assert_ptr_equal(cq, is_rcq ? s->rcq : s->cq);
	while (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0) {
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		if (s->rcq != s->cq)
			assert_int_equal(!!(wc.opcode & IBV_WC_RECV), is_rcq);
		*(wc.opcode & IBV_WC_RECV ? recvs : sends) += 1;
	}
}

static void ping_pong_on(const struct combination *c, int rounds)
{
	int sends[SIDES] = { 0, 0 }, recvs[SIDES] = { 0, 0 };
	struct setting t;

	setting_open(&t, c);
	for (int n = 1; n <= rounds; n++) {
		for (int s = 0; s < SIDES; s++)
			recv_on(&t, s, CTX(n));
		for (int s = 0; s < SIDES; s++) {
			struct xfer x = field_xfer(&t.f, s, 8, CTX(n));

			op_post(&ops[OP_SEND], &x);
		}
		for (int s = 0; s < SIDES; s++)
			while (sends[s] < n || recvs[s] < n)
				wait_and_drain(&t.f.pair.side[s], &sends[s], &recvs[s]);
	}
	setting_close(&t);
}

static void wait_names_the_queue(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(combinations); i++)
		if (combinations[i].shared)
			ping_pong_on(&combinations[i], (int)repeat(500));
}

/* is_rcq may be NULL, flags are not looked at. */
static void wait_without_is_rcq(void **state)
{
	const struct combination c = { true, 10, NO_SRQ, true };
	struct rpma_cq *cq = NULL;
	struct setting t;
	struct xfer x;
	int fd = -1;

	(void)state;
	setting_open(&t, &c);
	x = field_xfer(&t.f, CLIENT, 8, CTX(1));
	op_post(&ops[OP_WRITE], &x);
	assert_ok(rpma_conn_get_compl_fd(x.by->conn, &fd));
	wait_fd(fd);
	assert_ok(rpma_conn_wait(x.by->conn, 12345, &cq, NULL));
	assert_ptr_equal(cq, x.by->cq);
	expect_done(x.by, CTX(1));
	setting_close(&t);
}

/* Events nobody took do not hold up the end. */
static void delete_with_unread_completions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(combinations); i++) {
		struct setting t;

		setting_open(&t, &combinations[i]);
		for (int s = 0; s < SIDES; s++)
			recv_on(&t, s, CTX(s));
		for (int s = 0; s < SIDES; s++) {
			struct xfer x = field_xfer(&t.f, s, 8, CTX(s));

			op_post(&ops[OP_SEND], &x);
		}
		for (int s = 0; s < SIDES; s++) {
			wait_fd(fd_of(t.f.pair.side[s].cq));
			wait_fd(fd_of(t.f.pair.side[s].rcq));
		}
		setting_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination),
		cmocka_unit_test(shared_channel_with_srq_queue),
		cmocka_unit_test(wait_names_the_queue),
		cmocka_unit_test(wait_without_is_rcq),
		cmocka_unit_test(delete_with_unread_completions),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-channels", tests, NULL, NULL);
}
