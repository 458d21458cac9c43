/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* outstanding.c -- what becomes of requests when their connection ends */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096

enum ending { DISCONNECT, DELETE };

static void end_it(struct field *f, int by, enum ending how)
{
	if (how == DISCONNECT)
		assert_ok(rpma_conn_disconnect(f->pair.side[by].conn));
	else
		assert_ok(rpma_conn_delete(&f->pair.side[by].conn));
}

/* Separate queues for receives, so that the order of each can be seen */
static void open_unfinished(struct field *f)
{
	const struct side_opts o = { .rcq_size = 10 };
	const struct pair_opts opts = { { o, o } };

	field_open(f, &opts, SIZE);
}

/* Receives come back, each once, in order, with the context they came with. */
static void receives_are_flushed(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		int by = k & 1;
		enum ending how = k & 2 ? DELETE : DISCONNECT;
		struct field f;

		open_unfinished(&f);
		for (uint64_t i = 0; i < 10; i++)
			for (int s = 0; s < SIDES; s++)
				post_recv(&f.pair.side[s], &f.mem[s], SIZE, CTX(i));
		end_it(&f, by, how);
		for (int s = 0; s < SIDES; s++) {
			if (f.pair.side[s].conn == NULL)
				continue;
			for (uint64_t i = 0; i < 10; i++)
				expect_recv_status(&f.pair.side[s], CTX(i), IBV_WC_WR_FLUSH_ERR);
			expect_end(f.pair.side[s].conn);
			expect_no_wc(f.pair.side[s].rcq);
			expect_no_wc(f.pair.side[s].cq);
		}
		field_drop(&f);
	}
}

/* Sends that no receive awaits; also those that asked for no completion */
static void sends_are_flushed(void **state)
{
	(void)state;
	require_trait(rnr_waits);
	require_trait(acknowledged);
	for (unsigned k = 0; k < 4; k++) {
		int by = k & 1;
		enum ending how = k & 2 ? DELETE : DISCONNECT;
		struct field f;

		open_unfinished(&f);
		for (uint64_t i = 0; i < 10; i++) {
			for (int s = 0; s < SIDES; s++) {
				struct xfer x = field_xfer(&f, s, 100, CTX(i));

				x.flags = i % 2 ? RPMA_F_COMPLETION_ON_ERROR : 0;
				op_post(&ops[i % 3 || !traits()->immediate ? OP_SEND : OP_SEND_IMM],
					&x);
			}
		}
		end_it(&f, by, how);
		for (int s = 0; s < SIDES; s++) {
			if (f.pair.side[s].conn == NULL)
				continue;
			for (uint64_t i = 0; i < 10; i++)
				expect_status(&f.pair.side[s], CTX(i), IBV_WC_WR_FLUSH_ERR);
			expect_end(f.pair.side[s].conn);
			expect_no_wc(f.pair.side[s].cq);
		}
		field_drop(&f);
	}
}

/* A busy queue and the end at the same time: done or flushed, once, in order;
 * what is said to be done is done, and nothing is after the first that is not. */
static void check_drained(struct side *s, struct region *to, size_t len)
{
	struct ibv_wc wc;
	bool flushed = false;

	for (uint64_t i = 0; i < 10; i++) {
		next_wc(s, s->cq, &wc);
		assert_int_equal(wc.wr_id, i);
		if (wc.status != IBV_WC_SUCCESS) {
			if (traits()->exact_status)
				assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
			flushed = true;
			continue;
		}
		assert_false(flushed);
		if (traits()->acknowledged)
			assert_filled(to->data + i * len, len, i);
	}
	expect_no_wc(s->cq);
}

static void wait_first(const struct side *s)
{
	int fd = -1;

	assert_ok(rpma_cq_get_fd(s->cq, &fd));
	wait_fd(fd);
}

static void end_under_load(void **state)
{
	const size_t len = 300000;

	(void)state;
	require_trait(in_order);
	for (unsigned k = 0; k < 40; k++) {
		int by = k & 1;
		struct field f;

		field_open(&f, NULL, 10 * len);
		for (uint64_t i = 0; i < 10; i++) {
			struct xfer x = field_xfer(&f, CLIENT, len, CTX(i));

			x.local_off = x.remote_off = i * len;
			fill(x.local->data + x.local_off, len, i);
			op_post(&ops[OP_WRITE], &x);
		}
		if (k / 2 % 2)
			wait_first(&f.pair.side[CLIENT]);
		end_it(&f, by, k % 4 == 3 ? DELETE : DISCONNECT);
		if (f.pair.side[CLIENT].conn)
			check_drained(&f.pair.side[CLIENT], &f.mem[SERVER], len);
		field_drop(&f);
	}
}

/* Small requests, posted before the disconnect, are carried out first. */
static void posted_before_disconnect_is_done(void **state)
{
	(void)state;
	require_trait(drains);
	for (int by = 0; by < SIDES; by++) {
		struct field f;

		field_open(&f, NULL, SIZE);
		for (uint64_t i = 0; i < 10; i++) {
			struct xfer x = field_xfer(&f, by, 100, CTX(i));

			x.local_off = x.remote_off = i * 100;
			fill(x.local->data + i * 100, 100, i);
			op_post(&ops[OP_WRITE], &x);
		}
		assert_ok(rpma_conn_disconnect(f.pair.side[by].conn));
		for (uint64_t i = 0; i < 10; i++) {
			expect_done(&f.pair.side[by], CTX(i));
			if (traits()->acknowledged)
				assert_filled(f.mem[!by].data + i * 100, 100, i);
		}
		expect_no_wc(f.pair.side[by].cq);
		field_drop(&f);
	}
}

/* Deleted with everything still on its way */
static void delete_under_load(void **state)
{
	struct net n;
	int fds = 0, tasks = 0;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 40; round++) {
		struct field f;

		field_connect(&f, &n, NULL, SIZE * 64);
		for (uint64_t i = 0; i < 10; i++) {
			for (int s = 0; s < SIDES; s++) {
				const struct op *op = &ops[(i + (uint64_t)round) % OP_COUNT];
				struct xfer x = field_xfer(&f, s, op->unit ? 8 : SIZE * 64, CTX(i));

				if (!op_exists(op))
					continue;
				if (traits()->rnr_waits)
					op_post(op, &x);
				else
					(void)op->post(&x);
			}
		}
		if (round == 10) {
			fds = count_self("fd");
			tasks = count_self("task");
		} else if (round > 10) {
			settle_self("fd", fds);
			settle_self("task", tasks);
		}
		field_drop(&f);
	}
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives_are_flushed),
		cmocka_unit_test(sends_are_flushed),
		cmocka_unit_test(end_under_load),
		cmocka_unit_test(posted_before_disconnect_is_done),
		cmocka_unit_test(delete_under_load),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-outstanding", tests, NULL, NULL);
}
