/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* queues.c -- how much can be outstanding, and that nothing of it is lost */

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 64

static const uint32_t queue_sizes[] = { 1, 2, 3, 10, 100 };

static void open_sized(struct field *f, uint32_t sq, uint32_t rq, uint32_t cq)
{
	struct pair_opts o = { 0 };

	for (int i = 0; i < SIDES; i++) {
		o.side[i].sq_size = sq;
		o.side[i].rq_size = rq;
		o.side[i].cq_size = cq;
	}
	field_open(f, &o, SIZE);
}

static int post_write(struct field *f, int flags, uint64_t n)
{
	struct xfer x = field_xfer(f, CLIENT, 8, CTX(n));

	x.flags = flags;
	return ops[OP_WRITE].post(&x);
}

#define write_ok(f, flags, n) assert_ok(post_write((f), (flags), (n)))
#define write_full(f, flags) assert_rpma(RPMA_E_PROVIDER, post_write((f), (flags), 0xdead))

/* ---- send queue ---------------------------------------------------------- */

/* A slot is taken until its completion is polled, however long ago it came. */
static void signalled_fill(void **state)
{
	(void)state;
	require_trait(exact_queues);
	for (size_t q = 0; q < ARRAY_LEN(queue_sizes); q++) {
		uint32_t size = queue_sizes[q];
		struct field f;

		open_sized(&f, size, 1, 1);
		for (uint64_t i = 0; i < size; i++)
			write_ok(&f, RPMA_F_COMPLETION_ALWAYS, i);
		for (uint64_t i = 0; i < 3 * size; i++) {
			write_full(&f, RPMA_F_COMPLETION_ALWAYS);
			write_full(&f, RPMA_F_COMPLETION_ON_ERROR);
			expect_done(&f.pair.side[CLIENT], CTX(i));
			write_ok(&f, RPMA_F_COMPLETION_ALWAYS, size + i);
		}
		for (uint64_t i = 3 * size; i < 4 * size; i++)
			expect_done(&f.pair.side[CLIENT], CTX(i));
		expect_no_wc(f.pair.side[CLIENT].cq);
		field_close(&f);
	}
}

/* Unsignalled ones come back with the next signalled one that is polled. */
static void unsignalled_fill(void **state)
{
	(void)state;
	require_trait(exact_queues);
	for (size_t q = 0; q < ARRAY_LEN(queue_sizes); q++) {
		uint32_t size = queue_sizes[q];
		struct field f;

		open_sized(&f, size, 1, 1);
		for (uint64_t round = 0; round < 10; round++) {
			for (uint64_t i = 1; i < size; i++)
				write_ok(&f, RPMA_F_COMPLETION_ON_ERROR, i);
			write_ok(&f, RPMA_F_COMPLETION_ALWAYS, 1000 + round);
			write_full(&f, RPMA_F_COMPLETION_ALWAYS);
			expect_done(&f.pair.side[CLIENT], CTX(1000 + round));
		}
		for (uint64_t i = 0; i < size; i++)
			write_ok(&f, RPMA_F_COMPLETION_ON_ERROR, i);
		write_full(&f, RPMA_F_COMPLETION_ON_ERROR);
		write_full(&f, RPMA_F_COMPLETION_ALWAYS);
		expect_no_wc(f.pair.side[CLIENT].cq);
		field_close(&f);
	}
}

/* A refused request leaves no trace, whatever its kind. */
static void every_kind_needs_a_slot(void **state)
{
	struct field f;

	(void)state;
	require_trait(exact_queues);
	open_sized(&f, 2, 4, 4);
	for (int i = 0; i < 2; i++)
		write_ok(&f, RPMA_F_COMPLETION_ALWAYS, (uint64_t)i);
	for (size_t i = 0; i < OP_COUNT; i++) {
		struct xfer x = field_xfer(&f, CLIENT, 8, CTX(0xdead));

		if (op_exists(&ops[i]))
			assert_rpma(RPMA_E_PROVIDER, ops[i].post(&x));
	}
	for (uint64_t i = 0; i < 2; i++)
		expect_done(&f.pair.side[CLIENT], CTX(i));
	write_ok(&f, RPMA_F_COMPLETION_ALWAYS, 7);
	expect_done(&f.pair.side[CLIENT], CTX(7));
	expect_no_wc(f.pair.side[CLIENT].cq);
	field_close(&f);
}

/* ---- receive queue ------------------------------------------------------- */

static int post_receive(struct field *f, uint64_t n)
{
	return recv_at(&f->pair.side[SERVER], &f->mem[SERVER], 0, SIZE, CTX(n));
}

static void receives_fill(void **state)
{
	(void)state;
	require_trait(exact_queues);
	for (size_t q = 0; q < ARRAY_LEN(queue_sizes); q++) {
		uint32_t size = queue_sizes[q];
		struct field f;

		open_sized(&f, 1, size, 1);
		for (uint64_t i = 0; i < size; i++)
			assert_ok(post_receive(&f, i));
		for (uint64_t i = 0; i < 2 * size; i++) {
			struct xfer x = field_xfer(&f, CLIENT, 8, CTX(i));

			assert_rpma(RPMA_E_PROVIDER, post_receive(&f, 0xdead));
			op_post(&ops[OP_SEND], &x);
			expect_done(x.by, CTX(i));
			expect_recv(&f.pair.side[SERVER], CTX(i));
			assert_ok(post_receive(&f, size + i));
		}
		field_close(&f);
	}
}

/* ---- completion queue ---------------------------------------------------- */

/* Send and receive n messages each way, then look: everything must be there. */
static void flood(uint32_t sq, uint32_t rq, uint32_t cq, uint32_t n)
{
	struct field f;
	uint64_t sends[SIDES] = { 0, 0 }, recvs[SIDES] = { 0, 0 };

	open_sized(&f, sq, rq, cq);
	for (uint64_t i = 0; i < n; i++)
		for (int s = 0; s < SIDES; s++)
			post_recv(&f.pair.side[s], NULL, 0, CTX(1000 + i));
	for (uint64_t i = 0; i < n; i++) {
		for (int s = 0; s < SIDES; s++) {
			struct xfer x = field_xfer(&f, s, 0, CTX(i));

			x.local = NULL;
			op_post(&ops[OP_SEND], &x);
		}
	}
	for (int s = 0; s < SIDES; s++) {
		for (uint64_t i = 0; i < 2 * n; i++) {
			struct ibv_wc wc;

			next_wc(&f.pair.side[s], f.pair.side[s].cq, &wc);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (wc.opcode & IBV_WC_RECV)
				assert_int_equal(wc.wr_id, 1000 + recvs[s]++);
			else
				assert_int_equal(wc.wr_id, sends[s]++);
		}
		assert_int_equal(sends[s], n);
		assert_int_equal(recvs[s], n);
		expect_no_wc(f.pair.side[s].cq);
	}
	field_close(&f);
}

/* The defaults: 10 requests and 10 receives complete in a queue "of 10". */
static void defaults_lose_nothing(void **state)
{
	(void)state;
	flood(0, 0, 0, 10);
}

static void small_completion_queue_loses_nothing(void **state)
{
	(void)state;
	require_trait(exact_queues);
	flood(10, 10, 1, 10);
	flood(10, 10, 2, 10);
	flood(100, 100, 1, 100);
}

static void several_entries_at_once(void **state)
{
	struct ibv_wc wc[16];
	struct field f;
	uint64_t seen = 0;
	int got = -1, fd;

	(void)state;
	field_open(&f, NULL, SIZE);
	assert_rpma(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(f.pair.side[CLIENT].cq, 16, wc, &got));
	assert_int_equal(got, -1);
	assert_ok(rpma_cq_get_fd(f.pair.side[CLIENT].cq, &fd));
	for (uint64_t i = 0; i < 10; i++)
		write_ok(&f, RPMA_F_COMPLETION_ALWAYS, i);
	while (seen < 10) {
		int ret = rpma_cq_get_wc(f.pair.side[CLIENT].cq, 4, wc, &got);

		if (ret == RPMA_E_NO_COMPLETION) {
			wait_fd(fd);
			assert_ok(rpma_cq_wait(f.pair.side[CLIENT].cq));
			continue;
		}
		assert_ok(ret);
		assert_in_range(got, 1, 4);
		for (int k = 0; k < got; k++)
			assert_int_equal(wc[k].wr_id, seen++);
	}
	expect_no_wc(f.pair.side[CLIENT].cq);
	field_close(&f);
}

static void bad_poll_arguments(void **state)
{
	struct ibv_wc wc[2];
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	assert_rpma(RPMA_E_INVAL, rpma_cq_get_wc(p.side[CLIENT].cq, 0, wc, NULL));
	assert_rpma(RPMA_E_INVAL, rpma_cq_get_wc(p.side[CLIENT].cq, -1, wc, NULL));
	assert_rpma(RPMA_E_INVAL, rpma_cq_get_wc(p.side[CLIENT].cq, 2, wc, NULL));
	assert_rpma(RPMA_E_INVAL, rpma_cq_get_wc(p.side[CLIENT].cq, 1, NULL, NULL));
	pair_close(&p);
}

/* ---- events of a completion queue ---------------------------------------- */

/* Polled empty before waiting: the event is stale, the next one is not lost. */
static void stale_event(void **state)
{
	struct field f;
	struct ibv_wc wc;
	struct rpma_cq *cq;
	int fd;

	(void)state;
	field_open(&f, NULL, SIZE);
	cq = f.pair.side[CLIENT].cq;
	assert_ok(rpma_cq_get_fd(cq, &fd));
	for (uint64_t i = 0; i < 100; i++) {
		write_ok(&f, RPMA_F_COMPLETION_ALWAYS, i);
		wait_fd(fd);
		assert_ok(rpma_cq_get_wc(cq, 1, &wc, NULL));
		assert_int_equal(wc.wr_id, i);
		expect_no_wc(cq);
		assert_true(readable(fd));
		assert_ok(rpma_cq_wait(cq));
		expect_no_wc(cq);
		assert_false(readable(fd));
	}
	field_close(&f);
}

/* One event may stand for many completions; one that comes later has its own. */
static void event_after_drain(void **state)
{
	struct field f;
	struct ibv_wc wc;
	struct rpma_cq *cq;
	uint64_t seen = 0;
	int fd;

	(void)state;
	field_open(&f, NULL, SIZE);
	cq = f.pair.side[CLIENT].cq;
	assert_ok(rpma_cq_get_fd(cq, &fd));
	for (uint64_t round = 0; round < repeat(500); round++) {
		for (uint64_t i = 0; i < 1 + round % 10; i++)
			write_ok(&f, RPMA_F_COMPLETION_ALWAYS, seen + i);
		for (uint64_t end = seen + 1 + round % 10; seen < end;) {
			wait_fd(fd);
			assert_ok(rpma_cq_wait(cq));
			while (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0)
				assert_int_equal(wc.wr_id, seen++);
		}
	}
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signalled_fill),
		cmocka_unit_test(unsignalled_fill),
		cmocka_unit_test(every_kind_needs_a_slot),
		cmocka_unit_test(receives_fill),
		cmocka_unit_test(defaults_lose_nothing),
		cmocka_unit_test(small_completion_queue_loses_nothing),
		cmocka_unit_test(several_entries_at_once),
		cmocka_unit_test(bad_poll_arguments),
		cmocka_unit_test(stale_event),
		cmocka_unit_test(event_after_drain),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-queues", tests, NULL, NULL);
}
