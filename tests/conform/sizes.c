/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * sizes.c -- every class of length, from nothing to 64 MiB, byte by byte
 *
 * Environment, beside that of pair_env.h
 *   RPMA_TEST_LARGE	another length instead of 64 MiB, where these take minutes
 */

#include <stdlib.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define KiB ((size_t)1024)
#define MiB (KiB * 1024)
#define MARGIN 4096

/* Unaligned on purpose, and differently on both sides */
#define LOCAL_OFF 3
#define REMOTE_OFF 5

static const size_t small[] = {
	0,
	1,
	7,
	8,
	63,
	64,
	100,
	1000,
	4095,
	4096,
	4097,
	65535,
	65536,
	MiB,
};

static const int movers[] = { OP_READ, OP_WRITE, OP_WRITE_IMM, OP_SEND, OP_SEND_IMM };

/* Post, complete, receive where the operation takes one. */
static void run(struct field *f, int from, const struct op *op, struct xfer *x)
{
	struct side *to = &f->pair.side[!from];
	struct ibv_wc wc;

	if (op->recv_opcode >= 0)
		assert_ok(recv_at(to, x->remote, x->remote_off, x->len, CTX(9)));
	op_post(op, x);
	next_wc(x->by, x->by->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	if (op != &ops[OP_READ])
		arrive(x->by);
	if (op->recv_opcode < 0)
		return;
	wc = expect_recv(to, CTX(9));
	assert_int_equal(wc.byte_len, x->len);
}

/* Move len bytes and look at the whole neighbourhood of where they go. */
static void move(struct field *f, int from, const struct op *op, size_t len)
{
	bool back = op == &ops[OP_READ];
	struct region *src = &f->mem[back ? !from : from];
	struct region *dst = &f->mem[back ? from : !from];
	size_t src_off = back ? REMOTE_OFF : LOCAL_OFF;
	size_t dst_off = back ? LOCAL_OFF : REMOTE_OFF;
	struct xfer x = field_xfer(f, from, len, CTX(len));

	case_is("%s of %zu by %s", op->name, len, from == CLIENT ? "client" : "server");
	x.local_off = LOCAL_OFF;
	x.remote_off = REMOTE_OFF;
	fill(src->data + src_off, len, len + (uint64_t)from);
	run(f, from, op, &x);
	assert_all(dst->data, dst_off, 0);
	assert_filled(dst->data + dst_off, len, len + (uint64_t)from);
	assert_all(dst->data + dst_off + len, MARGIN - dst_off, 0);
	memset(src->data, 0, len + MARGIN);
	memset(dst->data, 0, len + MARGIN);
}

static void up_to_1_mib(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, MiB + MARGIN);
	for (size_t i = 0; i < ARRAY_LEN(movers) * ARRAY_LEN(small); i++)
		for (int from = 0; from < SIDES; from++)
			if (op_exists(&ops[movers[i / ARRAY_LEN(small)]]))
				move(&f, from, &ops[movers[i / ARRAY_LEN(small)]],
					small[i % ARRAY_LEN(small)]);
	field_close(&f);
}

/* Where frames are cut is found by going through every length. */
static void every_length_to_2000(void **state)
{
	const int which[] = { OP_READ, OP_WRITE, OP_SEND };
	const size_t step = 2000 / repeat(2000);
	struct field f;

	(void)state;
	field_open(&f, NULL, 2000 + MARGIN);
	for (size_t len = 0; len <= 2000; len += step)
		move(&f, (int)(len / 3 % 2), &ops[which[len % 3]], len);
	field_close(&f);
}

static void a_large_one(void **state)
{
	const int which[] = { OP_READ, OP_WRITE, OP_SEND };
	const char *other = getenv("RPMA_TEST_LARGE");
	const size_t len = other ? strtoul(other, NULL, 10) : 64 * MiB;
	struct field f;

	(void)state;
	field_open(&f, NULL, len + MARGIN);
	for (size_t i = 0; i < ARRAY_LEN(which); i++)
		for (int from = 0; from < SIDES; from++)
			move(&f, from, &ops[which[i]], len);
	field_close(&f);
}

/* The first and the last byte of a region, and a region as a whole */
static void edges_of_regions(void **state)
{
	const size_t size = 3 * 4096 + 17;
	struct field f;

	(void)state;
	field_open(&f, NULL, size);
	for (int from = 0; from < SIDES; from++) {
		struct xfer x = field_xfer(&f, from, size, CTX(1));

		fill(f.mem[from].data, size, 4);
		run(&f, from, &ops[OP_WRITE], &x);
		assert_filled(f.mem[!from].data, size, 4);
		x.len = 1;
		f.mem[from].data[0] = 'a';
		f.mem[from].data[size - 1] = 'z';
		run(&f, from, &ops[OP_WRITE], &x);
		x.local_off = x.remote_off = size - 1;
		run(&f, from, &ops[OP_WRITE], &x);
		assert_memory_equal(f.mem[!from].data, f.mem[from].data, size);
		f.mem[!from].data[size - 1] = '!';
		run(&f, from, &ops[OP_READ], &x);
		assert_int_equal(f.mem[from].data[size - 1], '!');
	}
	field_close(&f);
}

/* ---- nothing at all ------------------------------------------------------ */

/* Without memory on both sides: done, and nothing else. */
static void zero_without_memory(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, 64);
	for (size_t i = 0; i < ARRAY_LEN(movers) * SIDES; i++) {
		const struct op *op = &ops[movers[i / SIDES]];
		struct xfer x = field_xfer(&f, (int)(i % SIDES), 0, CTX(i));

		x.local = x.remote = NULL;
		if (op_exists(op))
			run(&f, (int)(i % SIDES), op, &x);
	}
	field_close(&f);
}

static void zero_without_memory_wants_zeros(void **state)
{
	struct field f;

	(void)state;
	field_open(&f, NULL, 64);
	for (size_t i = 0; i < ARRAY_LEN(movers); i++) {
		const struct op *op = &ops[movers[i]];
		bool message = op->recv_opcode == IBV_WC_RECV;

		for (unsigned bad = 0; bad < 5; bad++) {
			struct xfer x = field_xfer(&f, CLIENT, 0, NULL);

			if (message && (bad == 1 || bad == 3 || bad == 4))
				continue;
			x.local = bad == 3 ? x.local : NULL;
			x.remote = bad == 4 ? x.remote : NULL;
			x.local_off = bad == 0;
			x.remote_off = bad == 1;
			x.len = bad == 2;
			assert_rpma(RPMA_E_INVAL, op->post(&x));
		}
	}
	assert_rpma(RPMA_E_INVAL, recv_at(&f.pair.side[CLIENT], NULL, 1, 0, NULL));
	assert_rpma(RPMA_E_INVAL, recv_at(&f.pair.side[CLIENT], NULL, 0, 1, NULL));
	expect_no_wc(f.pair.side[CLIENT].cq);
	field_close(&f);
}

/* With memory, at its beginning and right behind its end */
static void zero_with_memory(void **state)
{
	const size_t offs[] = { 0, 1, 64 };
	struct field f;

	(void)state;
	field_open(&f, NULL, 64);
	for (size_t i = 0; i < ARRAY_LEN(movers) * ARRAY_LEN(offs); i++) {
		const struct op *op = &ops[movers[i / ARRAY_LEN(offs)]];
		struct xfer x = field_xfer(&f, CLIENT, 0, CTX(i));

		x.local_off = x.remote_off = offs[i % ARRAY_LEN(offs)];
		if (op_exists(op))
			run(&f, CLIENT, op, &x);
	}
	field_close(&f);
}

/* A message of nothing takes a receive, in its turn. */
static void zero_among_others(void **state)
{
	const size_t lens[] = { 0, 10, 0, 0, 64, 0, 1, 0 };
	struct field f;

	(void)state;
	field_open(&f, NULL, 64);
	for (size_t i = 0; i < ARRAY_LEN(lens); i++)
		post_recv(&f.pair.side[SERVER], &f.mem[SERVER], 64, CTX(i));
	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		struct xfer x = field_xfer(&f, CLIENT, lens[i], CTX(i));

		if (lens[i] == 0)
			x.local = NULL;
		op_post(&ops[OP_SEND], &x);
	}
	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		assert_int_equal(expect_recv(&f.pair.side[SERVER], CTX(i)).byte_len, lens[i]);
		expect_done(&f.pair.side[CLIENT], CTX(i));
	}
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(up_to_1_mib),
		cmocka_unit_test(every_length_to_2000),
		cmocka_unit_test(a_large_one),
		cmocka_unit_test(edges_of_regions),
		cmocka_unit_test(zero_without_memory),
		cmocka_unit_test(zero_without_memory_wants_zeros),
		cmocka_unit_test(zero_with_memory),
		cmocka_unit_test(zero_among_others),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-sizes", tests, NULL, NULL);
}
