/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* order.c -- what is certain to happen before what */

#include <arpa/inet.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096
#define ROUNDS 2000

static void put_u64(void *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static uint64_t get_u64(const void *p)
{
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
}

/* ---- reads and writes ---------------------------------------------------- */

/* A read that follows a write of the same bytes sees them. */
static void read_after_write(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (uint64_t i = 0; i < repeat(ROUNDS); i++) {
		size_t len = 8 + i % 500;
		struct xfer x = field_xfer(&f, (int)(i % SIDES), len, CTX(i));

		x.remote_off = i % 1000;
		fill(x.local->data, len, i);
		x.flags = RPMA_F_COMPLETION_ON_ERROR;
		op_post(&ops[OP_WRITE], &x);
		x.local_off = SIZE / 2;
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		op_post(&ops[OP_READ], &x);
		expect_done(x.by, CTX(i));
		assert_filled(x.local->data + SIZE / 2, len, i);
	}
	field_close(&f);
}

/* A write may overtake nothing once the read's completion was seen. */
static void write_after_completed_read(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	put_u64(f.mem[SERVER].data, 0);
	for (uint64_t i = 0; i < repeat(ROUNDS); i++) {
		struct xfer x = field_xfer(&f, CLIENT, 8, CTX(i));

		x.local_off = 64;
		op_post(&ops[OP_READ], &x);
		expect_done(x.by, CTX(i));
		assert_int_equal(get_u64(x.local->data + 64), i);
		x.local_off = 0;
		put_u64(x.local->data, i + 1);
		op_post(&ops[OP_WRITE], &x);
		expect_done(x.by, CTX(i));
	}
	field_close(&f);
}

/* Of two writes to the same place the later one stays. */
static void write_after_write(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (uint64_t i = 0; i < repeat(ROUNDS); i++) {
		struct xfer x = field_xfer(&f, CLIENT, 100, CTX(i));

		for (size_t k = 0; k < 4; k++) {
			x.local_off = k * 128;
			fill(x.local->data + x.local_off, 100, 4 * i + k);
			x.flags = k < 3 ? RPMA_F_COMPLETION_ON_ERROR : RPMA_F_COMPLETION_ALWAYS;
			op_post(&ops[OP_WRITE], &x);
		}
		expect_done(x.by, CTX(i));
		arrive(x.by);
		assert_filled(f.mem[SERVER].data, 100, 4 * i + 3);
	}
	field_close(&f);
}

/* ---- data before its announcement ---------------------------------------- */

static void announced(const struct op *op)
{
	struct field f;

	field_open(&f, NULL, SIZE);
	for (uint64_t i = 0; i < repeat(ROUNDS); i++) {
		int from = (int)(i % SIDES);
		struct xfer x = field_xfer(&f, from, 1000, CTX(i));

		post_recv(&f.pair.side[!from], op->imm ? NULL : &f.mem[!from], op->imm ? 0 : 8,
			CTX(i));
		fill(x.local->data + 1024, 1000, i);
		x.local_off = x.remote_off = 1024;
		x.flags = RPMA_F_COMPLETION_ON_ERROR;
		if (op != &ops[OP_WRITE_IMM]) {
			op_post(&ops[OP_WRITE], &x);
			x.local_off = x.remote_off = 0;
			x.len = op->imm ? 0 : 8;
		}
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		op_post(op, &x);
		expect_recv(&f.pair.side[!from], CTX(i));
		assert_filled(f.mem[!from].data + 1024, 1000, i);
		expect_done(x.by, CTX(i));
	}
	field_close(&f);
}

static void send_after_write(void **state)
{
	(void)state;
	announced(&ops[OP_SEND]);
}

static void send_with_imm_after_write(void **state)
{
	(void)state;
	require_trait(immediate);
	announced(&ops[OP_SEND_IMM]);
}

static void imm_after_its_write(void **state)
{
	(void)state;
	require_trait(immediate);
	announced(&ops[OP_WRITE_IMM]);
}

/* Write, flush, atomic write of a number: who sees the number sees the data. */
static void atomic_write_after_flush(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (uint64_t i = 1; i <= repeat(ROUNDS); i++) {
		struct xfer x = field_xfer(&f, CLIENT, 1000, CTX(i));
		int64_t deadline = clock_ms() + test_timeout_ms();

		x.local_off = x.remote_off = 64;
		fill(x.local->data + 64, 1000, i);
		x.flags = RPMA_F_COMPLETION_ON_ERROR;
		op_post(&ops[OP_WRITE], &x);
		op_post(&ops[i % 2 ? OP_FLUSH_VISIBILITY : OP_FLUSH_PERSISTENT], &x);
		x.local_off = x.remote_off = 0;
		put_u64(x.local->data, i);
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		op_post(&ops[OP_ATOMIC_WRITE], &x);
		while (get_u64(f.mem[SERVER].data) != i)
			assert_true(clock_ms() < deadline);
		assert_filled(f.mem[SERVER].data + 64, 1000, i);
		expect_done(x.by, CTX(i));
	}
	field_close(&f);
}

/* The completion of a flush, or of a write, means that the bytes are there. */
static void there_when_completed(void **state)
{
	const int last[] = { OP_WRITE, OP_FLUSH_VISIBILITY, OP_FLUSH_PERSISTENT, OP_READ };
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (uint64_t i = 0; i < repeat(ROUNDS); i++) {
		const struct op *op = &ops[last[i % ARRAY_LEN(last)]];
		struct xfer x = field_xfer(&f, CLIENT, 1000, CTX(i));
		bool alone = op == &ops[OP_WRITE];

		if (alone && !traits()->acknowledged)
			continue;
		fill(x.local->data, 1000, i);
		x.flags = alone ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
		op_post(&ops[OP_WRITE], &x);
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		if (!alone)
			op_post(op, &x);
		expect_done(x.by, CTX(i));
		assert_filled(f.mem[SERVER].data, 1000, i);
	}
	field_close(&f);
}

/* ---- immediate data ------------------------------------------------------ */

static void imm_in_order(void **state)
{
	const uint32_t rounds = repeat(ROUNDS);
	struct field f;

	(void)state;
	require_trait(immediate);
	field_open(&f, NULL, SIZE);
	for (uint32_t i = 0; i < 10; i++)
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(i));
	for (uint32_t n = 0; n < rounds; n++) {
		struct xfer x = field_xfer(&f, CLIENT, n % 65, CTX(n));
		struct ibv_wc wc;

		x.imm = n == rounds - 1 ? UINT32_MAX : n;
		op_post(&ops[n % 3 ? OP_WRITE_IMM : OP_SEND_IMM], &x);
		expect_done(x.by, CTX(n));
		wc = expect_recv(&f.pair.side[SERVER], CTX(n % 10));
		assert_int_equal(ntohl(wc.imm_data), x.imm);
		assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
		assert_int_equal(wc.byte_len, n % 65);
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(n % 10));
	}
	field_close(&f);
}

/* ---- completions --------------------------------------------------------- */

/* Requests of all kinds complete in the order of posting. */
static void completions_in_order(void **state)
{
	struct pair_opts o = { 0 };
	struct field f;

	(void)state;
	require_trait(in_order);
	for (int i = 0; i < SIDES; i++) {
		o.side[i].sq_size = o.side[i].rq_size = 64;
		o.side[i].cq_size = 128;
	}
	field_open(&f, &o, SIZE);
	for (uint64_t round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 64; i++) {
			const struct op *op = &ops[(i * 7 + round) % OP_COUNT];
			struct xfer x = field_xfer(&f, CLIENT, op->unit ? 8 : 200, CTX(i));

			if (!op_exists(op))
				op = &ops[OP_WRITE];
			if (op->recv_opcode >= 0)
				post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 256, CTX(i));
			op_post(op, &x);
		}
		for (uint64_t i = 0; i < 64; i++) {
			const struct op *op = &ops[(i * 7 + round) % OP_COUNT];

			expect_done(&f.pair.side[CLIENT], CTX(i));
			if (op_exists(op) && op->recv_opcode >= 0)
				expect_recv(&f.pair.side[SERVER], CTX(i));
		}
	}
	field_close(&f);
}

/* Both sides fill every buffer between them before anyone looks. */
static void both_ways_unattended(void **state)
{
	const size_t len = 4 << 20;
	struct field f;

	(void)state;
	field_open(&f, NULL, 2 * len);
	for (int from = 0; from < SIDES; from++)
		fill(f.mem[from].data, len, (uint64_t)from);
	for (uint64_t i = 0; i < 10; i++) {
		for (int from = 0; from < SIDES; from++) {
			struct xfer x = field_xfer(&f, from, len, CTX(i));

			x.remote_off = len;
			op_post(&ops[i == 9 ? OP_READ : OP_WRITE], &x);
		}
	}
	for (uint64_t i = 0; i < 10; i++)
		for (int from = 0; from < SIDES; from++)
			expect_done(&f.pair.side[from], CTX(i));
	for (int from = 0; from < SIDES; from++) {
		assert_filled(f.mem[!from].data + len, len, (uint64_t)from);
		assert_filled(f.mem[from].data, len, (uint64_t)from);
	}
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_after_write),
		cmocka_unit_test(write_after_completed_read),
		cmocka_unit_test(write_after_write),
		cmocka_unit_test(send_after_write),
		cmocka_unit_test(send_with_imm_after_write),
		cmocka_unit_test(imm_after_its_write),
		cmocka_unit_test(atomic_write_after_flush),
		cmocka_unit_test(there_when_completed),
		cmocka_unit_test(imm_in_order),
		cmocka_unit_test(completions_in_order),
		cmocka_unit_test(both_ways_unattended),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-order", tests, NULL, NULL);
}
