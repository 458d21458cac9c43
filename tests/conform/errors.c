/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* errors.c -- requests that the other side must refuse */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 8192
#define LEN 64

/*
 * The stage: a connection on which something goes wrong, and another one
 * between the same peers that must not notice.
 */
struct stage {
	struct net net;
	struct field other;
	struct field f;
	struct region victim;
};

static void stage_open(struct stage *t)
{
	net_open(&t->net);
	field_connect(&t->other, &t->net, NULL, LEN);
}

static void check_other(struct stage *t, uint64_t n)
{
	for (int from = 0; from < SIDES; from++) {
		struct xfer x = field_xfer(&t->other, from, LEN, CTX(n));

		fill(x.local->data, LEN, n);
		op_post(&ops[OP_WRITE], &x);
		expect_done(x.by, CTX(n));
		arrive(x.by);
		assert_filled(x.remote->data, LEN, n);
	}
}

static void stage_close(struct stage *t)
{
	field_close(&t->other);
	net_close(&t->net);
}

/* ---- violations ---------------------------------------------------------- */

struct violation {
	const char *name;
	void (*commit)(struct stage *t, const struct op *op, struct xfer *x);
	uint64_t off; /* for those of the range */
	bool usage;   /* judged by usage, which providers see differently */
};

/* The range lies elsewhere. Atomic writes only know aligned offsets. */
static void out_of_range(struct stage *t, const struct op *op, struct xfer *x)
{
	(void)t;
	(void)op;
	(void)x;
}

/* The registration is another one by now. */
static void stale(struct stage *t, const struct op *op, struct xfer *x)
{
	struct rpma_mr_local *again = NULL;

	(void)op;
	(void)x;
	region_dereg(&t->victim);
	assert_ok(rpma_mr_reg(t->net.peer[SERVER], t->victim.data, SIZE, USAGE_ALL, &again));
	t->victim.mr = again;
}

static void set_face(struct region *r, const uint8_t desc[DESC_SIZE])
{
	assert_ok(rpma_mr_remote_delete(&r->remote));
	r->remote = remote_from(desc);
}

static void wrong_key(struct stage *t, const struct op *op, struct xfer *x)
{
	uint8_t desc[DESC_SIZE];

	(void)op;
	(void)x;
	desc_of(t->victim.mr, desc);
	desc[17] ^= 0x40;
	set_face(&t->victim, desc);
}

/* Registered, but not by the peer that the connection belongs to */
static void foreign_peer(struct stage *t, const struct op *op, struct xfer *x)
{
	uint8_t desc[DESC_SIZE];
	struct rpma_mr_local *foreign = NULL;

	(void)op;
	(void)x;
	assert_ok(rpma_mr_reg(t->net.peer[CLIENT], t->victim.data, SIZE, USAGE_ALL, &foreign));
	region_dereg(&t->victim);
	t->victim.mr = foreign;
	desc_of(foreign, desc);
	set_face(&t->victim, desc);
}

static void reregister(struct stage *t, int usage)
{
	uint8_t desc[DESC_SIZE];

	region_dereg(&t->victim);
	assert_ok(rpma_mr_reg(t->net.peer[SERVER], t->victim.data, SIZE, usage, &t->victim.mr));
	desc_of(t->victim.mr, desc);
	desc[20] = USAGE_ALL;
	set_face(&t->victim, desc);
}

/* Registered for local use only, while the descriptor claims everything */
static void no_remote_right(struct stage *t, const struct op *op, struct xfer *x)
{
	(void)op;
	(void)x;
	reregister(t, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC);
}

/* Everything but what this operation needs; a flushable region can be read. */
static void other_rights_only(struct stage *t, const struct op *op, struct xfer *x)
{
	int flush = RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	int needed = op->remote_usage;

	(void)x;
	reregister(t, USAGE_ALL & ~(needed | (op == &ops[OP_READ] ? flush : 0)));
}

static const struct violation violations[] = {
	{ "one beyond", out_of_range, SIZE - LEN + 8, false },
	{ "at the end", out_of_range, SIZE, false },
	{ "beyond 32 bits", out_of_range, UINT64_C(1) << 32, false },
	{ "half-way round", out_of_range, UINT64_C(1) << 63, false },
	{ "right before", out_of_range, UINT64_MAX - 7, false },
	{ "up to the start", out_of_range, UINT64_MAX - LEN + 1, false },
	{ "stale key", stale, 0, false },
	{ "wrong key", wrong_key, 0, false },
	{ "other peer's", foreign_peer, 0, false },
	{ "no remote right", no_remote_right, 0, false },
	{ "other rights only", other_rights_only, 0, true },
};

static const int remote_ops[] = {
	OP_READ,
	OP_WRITE,
	OP_WRITE_IMM,
	OP_ATOMIC_WRITE,
	OP_FLUSH_VISIBILITY,
	OP_FLUSH_PERSISTENT,
};

/* ---- one case ------------------------------------------------------------ */

/* Behind the end of a connection a request is flushed, or refused at once. */
static bool post_late(const struct op *op, const struct xfer *x)
{
	int ret = op->post(x);

	assert_true(ret == 0 || ret == RPMA_E_PROVIDER);
	return ret == 0;
}

/* The request fails for its cause, and those behind it are flushed. */
static void check_failed(struct side *cli, const bool late[2])
{
	struct ibv_wc wc;

	expect_done(cli, CTX(1));
	next_wc(cli, cli->cq, &wc);
	assert_int_equal(wc.wr_id, 2);
	assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	if (traits()->exact_status)
		assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	for (uint64_t i = 0; i < 2; i++)
		if (late[i])
			expect_status(cli, CTX(3 + i), IBV_WC_WR_FLUSH_ERR);
	expect_no_wc(cli->cq);
}

/* Whatever was posted, nothing of it is carried out from the wrong one on. */
static void check_outcome(struct stage *t)
{
	struct ibv_wc wc;

	for (int s = 0; s < SIDES; s++) {
		expect_broken(t->f.pair.side[s].conn);
		if (traits()->acknowledged)
			expect_recv_failed(&t->f.pair.side[s], CTX(90), IBV_WC_WR_FLUSH_ERR);
		else
			next_wc(&t->f.pair.side[s], t->f.pair.side[s].rcq, &wc);
		expect_no_wc(t->f.pair.side[s].rcq);
	}
	if (traits()->in_order) {
		assert_filled(t->f.mem[SERVER].data, LEN / 2, 33);
		assert_all(t->f.mem[SERVER].data + LEN / 2, LEN / 2, 0);
	}
	assert_all(t->victim.data, SIZE, 0);
}

/* A good write, the wrong request, a good write and a message behind it */
static void one_case(struct stage *t, const struct op *op, const struct violation *v, int flags)
{
	const struct side_opts own_rcq = { .rcq_size = 10 };
	const struct pair_opts opts = { { own_rcq, own_rcq } };
	struct xfer x, ok;
	bool late[2];

	field_connect(&t->f, &t->net, &opts, LEN);
	region_open(&t->victim, t->net.peer[SERVER], SIZE, USAGE_ALL);
	for (int s = 0; s < SIDES; s++)
		post_recv(&t->f.pair.side[s], &t->f.mem[s], LEN / 2, CTX(90));
	ok = field_xfer(&t->f, CLIENT, LEN / 2, CTX(1));
	fill(ok.local->data, LEN, 33);
	x = ok;
	x.remote = &t->victim;
	x.remote_off = v->off;
	x.flags = flags;
	x.ctx = CTX(2);
	x.len = op->unit ? op->unit : LEN;
	v->commit(t, op, &x);
	op_post(&ops[OP_WRITE], &ok);
	op_post(op, &x);
	ok.remote_off = ok.local_off = LEN / 2;
	ok.flags = RPMA_F_COMPLETION_ON_ERROR;
	ok.ctx = CTX(3);
	late[0] = post_late(&ops[OP_WRITE], &ok);
	ok.ctx = CTX(4);
	late[1] = post_late(&ops[OP_SEND], &ok);
	if (traits()->acknowledged)
		check_failed(x.by, late);
	check_outcome(t);
	check_other(t, 1);
	region_close(&t->victim);
	field_drop(&t->f);
}

/* Usage is not judged everywhere, nor that of a flush which is really a read; and
 * 8 bytes end before the region does in one case. */
static bool applies(const struct op *op, const struct violation *v)
{
	bool as_read = op->opcode == WC_FLUSH && !traits()->native_flush;

	if (!op_exists(op) || (v->usage && (as_read || !traits()->checks_usage)))
		return false;
	return !(op->unit == 8 && v->off == SIZE - LEN + 8);
}

static void refused_by_the_target(void **state)
{
	struct stage t;

	(void)state;
	stage_open(&t);
	for (size_t i = 0; i < ARRAY_LEN(remote_ops); i++) {
		for (size_t k = 0; k < ARRAY_LEN(violations); k++) {
			const struct op *op = &ops[remote_ops[i]];
			const struct violation *v = &violations[k];

			if (!applies(op, v))
				continue;
			case_is("%s, %s", op->name, v->name);
			one_case(&t, op, v,
				k % 2 ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR);
		}
	}
	stage_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_by_the_target),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-errors", tests, NULL, NULL);
}
