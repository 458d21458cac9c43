/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fail.c -- each call of the provider, and each allocation, fails in turn
 *
 * A scenario is run again and again, with call 1, 2, 3, ... failing, until it
 * passes untouched. The public call in which the failure happens has to return
 * the documented code and leave its pointers as documented; the scenario then
 * takes away what it has, and nothing may be left. All other calls succeed.
 */

#include <errno.h>

#include "rig.h"

static bool fired(void)
{
	return fake_failed() || rig_alloc_failed();
}

/* Judges a result; true: go on. code: what a failing provider makes of it. */
static bool judge(int ret, bool fired_before, int code)
{
	if (fired() == fired_before) {
		assert_int_equal(ret, 0);
		return true;
	}
	assert_int_equal(ret, rig_alloc_failed() ? RPMA_E_NOMEM : code);
	return false;
}

static bool before;

#define STEP_CODE(call, code) (before = fired(), judge(call, before, code))
#define STEP(call) STEP_CODE(call, RPMA_E_PROVIDER)

/* Something new in *ptr, or *ptr left alone; then it becomes NULL, for END. */
static bool made(bool ok, void **ptr)
{
	assert_true(ok == (*ptr != POISON));
	if (!ok)
		*ptr = NULL;
	return ok;
}

#define NEW(ptr, call) (ptr = POISON, made(STEP(call), (void **)&(ptr)))

/* Takes away, in every case; what is not there is no work. */
#define END(ptr, call)                                                                             \
	do {                                                                                       \
		STEP(call);                                                                        \
		assert_null(ptr);                                                                  \
	} while (0)

/* ---- scenarios ---------------------------------------------------------- */

static struct {
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	struct rpma_srq *srq;
	struct rpma_srq_cfg *srq_cfg;
	struct rpma_conn_cfg *cfg;
	struct rpma_peer_cfg *pcfg;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
} o;

static void end_all(void)
{
	END(o.conn, rpma_conn_delete(&o.conn));
	END(o.req, rpma_conn_req_delete(&o.req));
	END(o.ep, rpma_ep_shutdown(&o.ep));
	END(o.cfg, rpma_conn_cfg_delete(&o.cfg));
	END(o.srq_cfg, rpma_srq_cfg_delete(&o.srq_cfg));
	END(o.pcfg, rpma_peer_cfg_delete(&o.pcfg));
	END(o.srq, rpma_srq_delete(&o.srq));
	END(o.remote, rpma_mr_remote_delete(&o.remote));
	END(o.mr, rpma_mr_dereg(&o.mr));
	END(o.peer, rpma_peer_delete(&o.peer));
}

static void context_scenario(void)
{
	struct ibv_context *ctx;
	int capable;

	if (NEW(ctx, rpma_utils_get_ibv_context("::1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx)) &&
		STEP(rpma_utils_ibv_context_is_odp_capable(ctx, &capable)))
		NEW(o.peer, rpma_peer_new(ctx, &o.peer));
}

static bool make_peer(void)
{
	return NEW(o.peer, rpma_peer_new(fake_context(), &o.peer));
}

static bool make_mr(void)
{
	return NEW(o.mr, rpma_mr_reg(o.peer, rig_memory, sizeof(rig_memory), 0xff, &o.mr));
}

static bool make_remote(void)
{
	char desc[21];

	return STEP(rpma_mr_get_descriptor(o.mr, desc)) &&
	       NEW(o.remote, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &o.remote));
}

static void memory_scenario(void)
{
	if (make_peer() && make_mr() && make_remote())
		STEP(rpma_mr_advise(o.mr, 0, 1, 0, 0));
}

/* When there is no memory these three write NULL, a queue only of its own. */
static bool made_or_null(bool ok, void **ptr)
{
	if (!ok && rig_alloc_failed() && !*ptr)
		return false;
	return made(ok, ptr);
}

#define NEW_OR_NULL(ptr, call) (ptr = POISON, made_or_null(STEP(call), (void **)&(ptr)))

static bool make_srq(struct rpma_srq_cfg *cfg)
{
	return NEW_OR_NULL(o.srq, rpma_srq_new(o.peer, cfg, &o.srq));
}

static void srq_scenario(void)
{
	if (make_peer() && make_mr() && make_srq(NULL))
		STEP(rpma_srq_recv(o.srq, o.mr, 0, 8, NULL));
}

/* ---- connections -------------------------------------------------------- */

/* What the connections of a run are to have. */
static struct {
	bool shared;
	bool rcq;
	bool srq;
	bool srq_cq;
} with;

static bool make_cfg(void)
{
	if (!NEW_OR_NULL(o.cfg, rpma_conn_cfg_new(&o.cfg)))
		return false;
	assert_ok(rpma_conn_cfg_set_compl_channel(o.cfg, with.shared));
	assert_ok(rpma_conn_cfg_set_rcq_size(o.cfg, with.rcq ? 5 : 0));
	if (!with.srq)
		return true;
	if (!NEW_OR_NULL(o.srq_cfg, rpma_srq_cfg_new(&o.srq_cfg)))
		return false;
	assert_ok(rpma_srq_cfg_set_rcq_size(o.srq_cfg, with.srq_cq ? 5 : 0));
	if (!make_srq(o.srq_cfg))
		return false;
	assert_ok(rpma_conn_cfg_set_srq(o.cfg, o.srq));
	return true;
}

static bool prepare(void)
{
	return make_peer() && make_mr() && make_remote() && make_cfg();
}

/* Consumes the request, whatever happens. */
static bool make_conn(const struct rpma_conn_private_data *pdata)
{
	bool ok = NEW(o.conn, rpma_conn_req_connect(&o.req, pdata, &o.conn));

	assert_null(o.req);
	return ok;
}

static bool see_event(enum rpma_conn_event event)
{
	enum rpma_conn_event got = 77;
	bool ok;

	fake_push_event(event);
	ok = STEP(rpma_conn_next_event(o.conn, &got));
	assert_int_equal(got, ok ? (int)event : 77);
	return ok;
}

static bool declare_direct_write(void)
{
	const char desc = 1;

	return NEW(o.pcfg, rpma_peer_cfg_from_descriptor(&desc, 1, &o.pcfg)) &&
	       STEP(rpma_conn_apply_remote_peer_cfg(o.conn, o.pcfg));
}

static bool post_all(void)
{
	int flags = RPMA_F_COMPLETION_ALWAYS;

	return STEP(rpma_read(o.conn, o.mr, 0, o.remote, 0, 8, flags, NULL)) &&
	       STEP(rpma_write(o.conn, o.remote, 0, o.mr, 0, 8, flags, NULL)) &&
	       STEP(rpma_write_with_imm(o.conn, o.remote, 0, o.mr, 0, 8, flags, 1, NULL)) &&
	       STEP(rpma_atomic_write(o.conn, o.remote, 0, rig_memory, flags, NULL)) &&
	       STEP(rpma_write_atomic(o.conn, o.remote, 0, o.mr, 0, flags, NULL)) &&
	       STEP(rpma_flush(o.conn, o.remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT, flags, NULL)) &&
	       STEP(rpma_send(o.conn, o.mr, 0, 8, flags, NULL)) &&
	       STEP(rpma_send_with_imm(o.conn, o.mr, 0, 8, flags, 1, NULL)) &&
	       (with.srq ? STEP(rpma_srq_recv(o.srq, o.mr, 0, 8, NULL))
			 : STEP(rpma_recv(o.conn, o.mr, 0, 8, NULL)));
}

/* A wait fails either in waiting or in arming again. */
static bool wait_for_one(struct rpma_cq *cq)
{
	struct rpma_cq *told = POISON;
	bool was_fired = fired();
	unsigned arms = fake_count(FAKE_CQ_ARM);
	int ret = with.shared ? rpma_conn_wait(o.conn, 0, &told, NULL) : rpma_cq_wait(cq);
	bool armed = fake_count(FAKE_CQ_ARM) > arms;
	bool ok = judge(ret, was_fired, armed ? RPMA_E_PROVIDER : RPMA_E_NO_COMPLETION);

	if (with.shared)
		assert_ptr_equal(told, ok ? cq : armed ? NULL : POISON);
	return ok;
}

static bool complete_one(void)
{
	static const struct ibv_wc wc;
	struct rpma_completion cmpl;
	struct rpma_cq *cq;
	struct ibv_wc got;
	int n = 77;
	bool ok;

	assert_ok(rpma_conn_get_cq(o.conn, &cq));
	fake_push_wc(rig_base_cq(cq), &wc);
	fake_push_wc(rig_base_cq(cq), &wc);
	if (!wait_for_one(cq))
		return false;
	ok = STEP(rpma_cq_get_wc(cq, 1, &got, &n));
	assert_int_equal(n, ok ? 1 : 77);
	return ok && STEP(rpma_conn_completion_get(o.conn, &cmpl));
}

static void use(void)
{
	(void)(see_event(RPMA_CONN_ESTABLISHED) && declare_direct_write() && post_all() &&
		complete_one() && STEP(rpma_conn_disconnect(o.conn)) &&
		see_event(RPMA_CONN_CLOSED));
}

static const struct rpma_conn_private_data pdata = { rig_memory, 20 };

static void active_scenario(void)
{
	if (prepare() && NEW(o.req, rpma_conn_req_new(o.peer, "::1", "1", o.cfg, &o.req)) &&
		(with.srq || STEP(rpma_conn_req_recv(o.req, o.mr, 0, 8, NULL))) &&
		make_conn(&pdata))
		use();
}

static bool take_request(void)
{
	fake_set_peer_data("hello", 6);
	fake_push_request();
	return NEW(o.ep, rpma_ep_listen(o.peer, "::1", "1", &o.ep)) &&
	       NEW(o.req, rpma_ep_next_conn_req(o.ep, o.cfg, &o.req));
}

static void passive_scenario(void)
{
	struct rpma_conn_private_data got;

	if (prepare() && take_request() && STEP(rpma_conn_req_get_private_data(o.req, &got)) &&
		make_conn(&pdata))
		use();
}

/* end_all() deletes the request. */
static void reject_scenario(void)
{
	(void)(prepare() && take_request());
}

static void give_up_scenario(void)
{
	(void)(prepare() && NEW(o.req, rpma_conn_req_new(o.peer, "::1", "1", o.cfg, &o.req)));
}

/* ---- the loop ----------------------------------------------------------- */

static void until_untouched(void (*scenario)(void), bool allocations)
{
	unsigned n = 0;

	do {
		assert_true(++n < 200);
		fake_reset();
		rig_log_forget();
		if (allocations)
			rig_alloc_fail_at(n);
		else
			fake_fail_at(n, EIO);
		scenario();
		end_all();
		assert_int_equal(fake_alive(), 0);
		/* A failure is told once, a lack of memory not at all. */
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), fake_failed());
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_WARNING), 0);
	} while (fired());
	assert_true(n > 2);
	rig_alloc_fail_at(0);
}

#define SCENARIO(name)                                                                             \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		until_untouched(name##_scenario, false);                                           \
		until_untouched(name##_scenario, true);                                            \
	}

SCENARIO(context)
SCENARIO(memory)
SCENARIO(srq)

/* With every set of queues that a connection can have. */
#define CONN_SCENARIO(name)                                                                        \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		for (int i = 0; i < 16; i++) {                                                     \
			with.shared = i & 1;                                                       \
			with.rcq = i & 2;                                                          \
			with.srq = i & 4;                                                          \
			with.srq_cq = i & 8;                                                       \
			if (with.srq_cq && (with.shared || !with.srq))                             \
				continue;                                                          \
			until_untouched(name##_scenario, false);                                   \
			until_untouched(name##_scenario, true);                                    \
		}                                                                                  \
	}

CONN_SCENARIO(active)
CONN_SCENARIO(passive)
CONN_SCENARIO(reject)
CONN_SCENARIO(give_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(context),
		rig_test(memory),
		rig_test(srq),
		rig_test(active),
		rig_test(passive),
		rig_test(reject),
		rig_test(give_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
