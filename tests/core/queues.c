/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * queues.c -- which queues and channels a connection has, and waiting on a
 * channel that they share
 */

#include <errno.h>

#include "rig.h"

/* ---- queues and channels ------------------------------------------------ */

enum { NONE, BARE, OWN_CQ };

struct queues {
	bool shared;
	uint32_t rcq_size;
	int srq;      /* NONE, without or with a queue of its own */
	bool has_rcq; /* the connection */
	enum { MAIN, RCQ, SRQ_CQ } recv_cq;
};

static const struct queues queues[] = {
	{ false, 0, NONE, false, MAIN },
	{ false, 7, NONE, true, RCQ },
	{ true, 0, NONE, false, MAIN },
	{ true, 7, NONE, true, RCQ },
	{ false, 0, BARE, false, MAIN },
	{ false, 7, BARE, true, RCQ },
	{ true, 0, BARE, false, MAIN },
	{ true, 7, BARE, true, RCQ },
	{ false, 0, OWN_CQ, false, SRQ_CQ },
	{ false, 7, OWN_CQ, false, SRQ_CQ },
};

static struct rpma_srq *make_srq(struct rpma_peer *peer, int kind)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;

	if (kind == NONE)
		return NULL;
	assert_ok(rpma_srq_cfg_new(&cfg));
	if (kind == BARE)
		assert_ok(rpma_srq_cfg_set_rcq_size(cfg, 0));
	assert_ok(rpma_srq_new(peer, cfg, &srq));
	assert_ok(rpma_srq_cfg_delete(&cfg));
	return srq;
}

static struct rpma_conn_cfg *make_cfg(const struct queues *q, struct rpma_srq *srq)
{
	struct rpma_conn_cfg *cfg = NULL;

	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_compl_channel(cfg, q->shared));
	assert_ok(rpma_conn_cfg_set_rcq_size(cfg, q->rcq_size));
	assert_ok(rpma_conn_cfg_set_cq_size(cfg, 33));
	assert_ok(rpma_conn_cfg_set_sq_size(cfg, 44));
	assert_ok(rpma_conn_cfg_set_rq_size(cfg, 55));
	if (srq)
		assert_ok(rpma_conn_cfg_set_srq(cfg, srq));
	return cfg;
}

static void check_queues(const struct queues *q, struct rpma_conn *conn, struct rpma_srq *srq)
{
	const struct rp_qp_attr *attr = &fake_last(FAKE_CONN_SETUP_QP)->attr;
	struct rpma_cq *cq, *rcq, *srq_cq = NULL;
	int fd = 77, cq_fd, rcq_fd;

	assert_ok(rpma_conn_get_cq(conn, &cq));
	assert_ok(rpma_conn_get_rcq(conn, &rcq));
	if (srq)
		assert_ok(rpma_srq_get_rcq(srq, &srq_cq));
	assert_int_equal(rcq != NULL, q->has_rcq);
	assert_ptr_equal(attr->send_cq, rig_base_cq(cq));
	assert_ptr_equal(attr->recv_cq, rig_base_cq(q->recv_cq == MAIN	? cq
						    : q->recv_cq == RCQ ? rcq
									: srq_cq));
	assert_int_equal(attr->srq != NULL, srq != NULL);
	assert_int_equal(attr->sq_size, 44);
	assert_int_equal(attr->rq_size, 55);

	assert_int_equal(rpma_conn_get_compl_fd(conn, &fd), q->shared ? 0 : RPMA_E_NOT_SHARED_CHNL);
	assert_ok(rpma_cq_get_fd(cq, &cq_fd));
	assert_int_equal(q->shared ? fd == cq_fd : fd == 77, true);
	assert_int_equal(
		rpma_cq_wait(cq), q->shared ? RPMA_E_SHARED_CHANNEL : RPMA_E_NO_COMPLETION);
	assert_int_equal(rpma_conn_completion_wait(conn),
		q->shared ? RPMA_E_SHARED_CHANNEL : RPMA_E_NO_COMPLETION);
	if (rcq) {
		assert_ok(rpma_cq_get_fd(rcq, &rcq_fd));
		assert_int_equal(rcq_fd == cq_fd, q->shared);
	}
}

static void which_queues(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		struct rpma_peer *peer = rig_peer();
		struct rpma_srq *srq = make_srq(peer, queues[i].srq);
		struct rpma_conn_cfg *cfg = make_cfg(&queues[i], srq);
		unsigned created = fake_count(FAKE_CQ_CREATE);
		struct rpma_conn *conn = rig_connect(rig_active_req(peer, cfg));

		/* All are armed from the start. */
		assert_int_equal(fake_count(FAKE_CQ_ARM), fake_count(FAKE_CQ_CREATE));
		assert_int_equal(fake_count(FAKE_CQ_CREATE) - created, queues[i].has_rcq ? 2 : 1);
		assert_int_equal(fake_last(FAKE_CQ_CREATE)->size, queues[i].has_rcq ? 7 : 33);
		assert_ok(rpma_conn_cfg_delete(&cfg));
		check_queues(&queues[i], conn, srq);
		assert_ok(rpma_conn_delete(&conn));
		assert_ok(rpma_srq_delete(&srq));
		assert_ok(rpma_peer_delete(&peer));
		assert_int_equal(fake_alive(), 0);
		fake_reset();
	}
}

/* The shared channel cannot also have the queue of the SRQ. */
static void shared_channel_and_srq_cq(void **state)
{
	static const struct queues q = { true, 7, OWN_CQ, false, MAIN };
	struct rpma_peer *peer = rig_peer();
	struct rpma_srq *srq = make_srq(peer, OWN_CQ);
	struct rpma_conn_cfg *cfg = make_cfg(&q, srq);
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_req *req = POISON;

	(void)state;
	rig_log_forget();
	assert_inval(rpma_conn_req_new(peer, "::1", "1", cfg, &req));
	assert_ptr_equal(req, POISON);
	fake_push_request();
	assert_inval(rpma_ep_next_conn_req(ep, cfg, &req));
	assert_ptr_equal(req, POISON);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 2);
	assert_int_equal(fake_count(FAKE_CONN_REJECT), 1);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_ok(rpma_srq_delete(&srq));
	assert_ok(rpma_peer_delete(&peer));
}

/* ---- waiting on the shared channel -------------------------------------- */

static void wait_tells_which(void **state)
{
	static const struct queues shared = { true, 7, NONE, true, RCQ };
	struct rpma_conn_cfg *cfg = make_cfg(&shared, NULL);
	struct rig rig = rig_make(cfg);
	struct ibv_wc wc = { .wr_id = 5 };
	struct rpma_cq *cq, *rcq, *told;
	bool is_rcq;

	(void)state;
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_ok(rpma_conn_get_cq(rig.conn, &cq));
	assert_ok(rpma_conn_get_rcq(rig.conn, &rcq));
	told = POISON;
	is_rcq = true;
	assert_int_equal(rpma_conn_wait(rig.conn, 0, &told, &is_rcq), RPMA_E_NO_COMPLETION);
	assert_ptr_equal(told, POISON);
	assert_true(is_rcq);

	for (int round = 0; round < 3; round++) {
		/* Each wait arms again, or the second round would tell nothing. */
		fake_push_wc(rig_base_cq(rcq), &wc);
		fake_push_wc(rig_base_cq(cq), &wc);
		assert_ok(rpma_conn_wait(rig.conn, 0, &told, &is_rcq));
		assert_ptr_equal(told, rcq);
		assert_true(is_rcq);
		assert_ok(rpma_conn_wait(rig.conn, ~0, &told, round ? &is_rcq : NULL));
		assert_ptr_equal(told, cq);
		assert_int_equal(is_rcq, round == 0);
	}
	rig_drop(&rig);
}

static void wait_failures(void **state)
{
	static const struct queues shared = { true, 0, NONE, false, MAIN };
	struct rpma_conn_cfg *cfg = make_cfg(&shared, NULL);
	struct rig rig = rig_make(cfg), other = rig_make(NULL);
	struct rpma_cq *cq, *foreign, *told = POISON;
	bool is_rcq = true;

	(void)state;
	assert_ok(rpma_conn_cfg_delete(&cfg));
	assert_int_equal(rpma_conn_wait(other.conn, 0, &told, &is_rcq), RPMA_E_NOT_SHARED_CHNL);

	fake_fail(FAKE_CHANNEL_WAIT, EIO);
	assert_int_equal(rpma_conn_wait(rig.conn, 0, &told, &is_rcq), RPMA_E_NO_COMPLETION);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	fake_fail(FAKE_CHANNEL_WAIT, EINTR);
	assert_int_equal(rpma_conn_wait(rig.conn, 0, &told, &is_rcq), RPMA_E_NO_COMPLETION);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_ptr_equal(told, POISON);

	assert_ok(rpma_conn_get_cq(other.conn, &foreign));
	assert_ok(rpma_conn_get_cq(rig.conn, &cq));
	fake_push_cq_event(rig_base_cq(cq)->channel, rig_base_cq(foreign));
	assert_int_equal(rpma_conn_wait(rig.conn, 0, &told, &is_rcq), RPMA_E_UNKNOWN);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 2);
	assert_ptr_equal(told, POISON);

	fake_push_cq_event(rig_base_cq(cq)->channel, rig_base_cq(cq));
	fake_fail(FAKE_CQ_ARM, EIO);
	assert_int_equal(rpma_conn_wait(rig.conn, 0, &told, &is_rcq), RPMA_E_PROVIDER);
	assert_null(told);
	assert_true(is_rcq);
	rig_drop(&other);
	rig_drop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(which_queues),
		rig_test(shared_channel_and_srq_cq),
		rig_test(wait_tells_which),
		rig_test(wait_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
