/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * peer.c -- devices, peers and shared receive queues
 */

#include <errno.h>
#include <string.h>

#include "rig.h"

/* ---- devices ------------------------------------------------------------ */

static void get_ibv_context(void **state)
{
	struct ibv_context *ctx = POISON;
	const struct fake_call *call;

	(void)state;
	assert_inval(rpma_utils_get_ibv_context(NULL, RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx));
	assert_inval(rpma_utils_get_ibv_context("::1", RPMA_UTIL_IBV_CONTEXT_LOCAL, NULL));
	assert_inval(rpma_utils_get_ibv_context("::1", 2, &ctx));
	assert_inval(rpma_utils_get_ibv_context("::1", -1, &ctx));
	assert_ptr_equal(ctx, POISON);
	assert_int_equal(fake_calls(), 0);

	for (int type = RPMA_UTIL_IBV_CONTEXT_LOCAL; type <= RPMA_UTIL_IBV_CONTEXT_REMOTE; type++) {
		ctx = NULL;
		assert_ok(rpma_utils_get_ibv_context("::1", type, &ctx));
		assert_ptr_equal(ctx, fake_context());
		call = fake_last(FAKE_FIND);
		assert_string_equal(call->addr, "::1");
		assert_int_equal(call->type, type);
		assert_int_equal(call->timeout_ms, RPMA_DEFAULT_TIMEOUT_MS);
	}
}

static void odp(void **state)
{
	int capable = 77;

	(void)state;
	assert_inval(rpma_utils_ibv_context_is_odp_capable(NULL, &capable));
	assert_inval(rpma_utils_ibv_context_is_odp_capable(fake_context(), NULL));
	assert_int_equal(capable, 77);
	assert_ok(rpma_utils_ibv_context_is_odp_capable(fake_context(), &capable));
	assert_int_equal(capable, 0);
	fake_set_caps(RP_CAP_ODP, 0);
	assert_ok(rpma_utils_ibv_context_is_odp_capable(fake_context(), &capable));
	assert_int_equal(capable, 1);
	fake_set_caps(RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE, 0);
	assert_ok(rpma_utils_ibv_context_is_odp_capable(fake_context(), &capable));
	assert_int_equal(capable, 0);

	capable = 77;
	fake_fail(FAKE_OPEN, EIO);
	assert_int_equal(
		rpma_utils_ibv_context_is_odp_capable(fake_context(), &capable), RPMA_E_PROVIDER);
	assert_int_equal(capable, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
}

/* ---- peer --------------------------------------------------------------- */

static void peer_arguments(void **state)
{
	struct rpma_peer *peer = POISON;

	(void)state;
	assert_inval(rpma_peer_new(NULL, &peer));
	assert_inval(rpma_peer_new(fake_context(), NULL));
	assert_ptr_equal(peer, POISON);
	assert_inval(rpma_peer_delete(NULL));
	peer = NULL;
	assert_ok(rpma_peer_delete(&peer));
	assert_int_equal(fake_calls(), 0);
}

static void peer_of_a_foreign_context(void **state)
{
	struct ibv_context other;
	struct rpma_peer *peer = POISON;

	(void)state;
	assert_int_equal(rpma_peer_new(&other, &peer), RPMA_E_PROVIDER);
	assert_ptr_equal(peer, POISON);
}

/* Lack of memory for the domain is told apart, and quietly. */
static void peer_pd_failures(void **state)
{
	struct rpma_peer *peer = POISON;

	(void)state;
	fake_fail(FAKE_PD_ALLOC, ENOMEM);
	assert_int_equal(rpma_peer_new(fake_context(), &peer), RPMA_E_NOMEM);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);
	fake_fail(FAKE_PD_ALLOC, EPERM);
	assert_int_equal(rpma_peer_new(fake_context(), &peer), RPMA_E_PROVIDER);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_non_null(strstr(rig_log_text(), strerror(EPERM)));
	assert_ptr_equal(peer, POISON);
}

static void peer_tells_what_is_emulated(void **state)
{
	static const struct {
		unsigned caps;
		unsigned records;
	} cases[] = {
		{ 0, 2 },
		{ RP_CAP_FLUSH, 1 },
		{ RP_CAP_ATOMIC_WRITE, 1 },
		{ RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE, 0 },
	};
	struct rpma_peer *peer;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_set_caps(cases[i].caps, 0);
		rig_log_forget();
		peer = rig_peer();
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_INFO), cases[i].records);
		assert_ok(rpma_peer_delete(&peer));
		assert_null(peer);
	}
}

/* Deleted too early a peer tells so and is gone; what it had goes on and can be
 * taken away. */
static void peer_deleted_too_early(void **state)
{
	struct rig rig = rig_make(NULL);
	struct rpma_ep *ep = rig_ep(rig.peer);
	struct rpma_conn *conn;

	(void)state;
	assert_int_equal(rpma_peer_delete(&rig.peer), RPMA_E_PROVIDER);
	assert_null(rig.peer);
	assert_non_null(strstr(rig_log_text(), strerror(EBUSY)));

	assert_ok(rpma_flush(rig.conn, rig.remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, NULL));
	conn = rig.conn;
	assert_ok(rpma_conn_delete(&conn));
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_mr_dereg(&rig.mr));
	assert_ok(rpma_mr_remote_delete(&rig.remote));
	assert_int_equal(fake_alive(), 0);
}

/* ---- shared receive queue ----------------------------------------------- */

static void srq_arguments(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_srq *srq = POISON;
	struct rpma_cq *rcq = POISON;

	(void)state;
	assert_inval(rpma_srq_new(NULL, NULL, &srq));
	assert_inval(rpma_srq_new(peer, NULL, NULL));
	assert_ptr_equal(srq, POISON);
	assert_inval(rpma_srq_delete(NULL));
	srq = NULL;
	assert_ok(rpma_srq_delete(&srq));
	assert_inval(rpma_srq_get_rcq(NULL, &rcq));
	assert_ok(rpma_srq_new(peer, NULL, &srq));
	assert_inval(rpma_srq_get_rcq(srq, NULL));
	assert_ptr_equal(rcq, POISON);
	assert_ok(rpma_srq_delete(&srq));
	assert_null(srq);
	assert_ok(rpma_peer_delete(&peer));
}

static void srq_sizes(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq = NULL;

	(void)state;
	assert_ok(rpma_srq_new(peer, NULL, &srq));
	assert_int_equal(fake_last(FAKE_SRQ_CREATE)->size, 20);
	assert_int_equal(fake_last(FAKE_CQ_CREATE)->size, 20);
	assert_ok(rpma_srq_get_rcq(srq, &rcq));
	assert_non_null(rcq);
	assert_ok(rpma_srq_delete(&srq));

	assert_ok(rpma_srq_cfg_new(&cfg));
	assert_ok(rpma_srq_cfg_set_rq_size(cfg, 5));
	assert_ok(rpma_srq_cfg_set_rcq_size(cfg, UINT32_MAX));
	assert_ok(rpma_srq_new(peer, cfg, &srq));
	assert_int_equal(fake_last(FAKE_SRQ_CREATE)->size, 5);
	assert_int_equal(fake_last(FAKE_CQ_CREATE)->size, INT32_MAX);
	assert_ok(rpma_srq_delete(&srq));

	assert_ok(rpma_srq_cfg_set_rcq_size(cfg, 0));
	assert_ok(rpma_srq_new(peer, cfg, &srq));
	assert_ok(rpma_srq_get_rcq(srq, &rcq));
	assert_null(rcq);
	assert_ok(rpma_srq_delete(&srq));
	assert_ok(rpma_srq_cfg_delete(&cfg));
	assert_ok(rpma_peer_delete(&peer));
}

static void srq_without_memory(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_srq *srq = POISON;

	(void)state;
	rig_alloc_fail_at(1);
	assert_int_equal(rpma_srq_new(peer, NULL, &srq), RPMA_E_NOMEM);
	assert_null(srq);
	assert_ok(rpma_peer_delete(&peer));
}

/* A queue that a connection still completes into is left to it. */
static void srq_deleted_too_early(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_conn *conn;

	(void)state;
	assert_ok(rpma_srq_new(peer, NULL, &srq));
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_ok(rpma_conn_cfg_set_srq(cfg, srq));
	conn = rig_connect(rig_active_req(peer, cfg));
	assert_ok(rpma_conn_cfg_delete(&cfg));

	assert_int_equal(rpma_srq_delete(&srq), RPMA_E_PROVIDER);
	assert_null(srq);
	assert_int_equal(fake_count(FAKE_CQ_DESTROY), 0);
	assert_ok(rpma_conn_delete(&conn));
	assert_ok(rpma_peer_delete(&peer));

	/* What has leaked: the queue and its channel. */
	assert_int_equal(fake_alive(), 2);
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(get_ibv_context),
		rig_test(odp),
		rig_test(peer_arguments),
		rig_test(peer_of_a_foreign_context),
		rig_test(peer_pd_failures),
		rig_test(peer_tells_what_is_emulated),
		rig_test(peer_deleted_too_early),
		rig_test(srq_arguments),
		rig_test(srq_sizes),
		rig_test(srq_without_memory),
		rig_test(srq_deleted_too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
