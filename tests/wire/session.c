/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * session.c -- every operation once, in a known order, for judge.py to look at from
 * outside
 *
 * Prints the port before it connects, and the facts that the judge compares: STags and
 * addresses. Waits for a line on its standard input before it connects.
 */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE ((size_t)1 << 20)

static void do_op(struct field *f, int op, int from, size_t len)
{
	struct xfer x = field_xfer(f, from, ops[op].unit ? ops[op].unit : len, CTX(1));

	x.imm = 0x01020304;
	if (ops[op].recv_opcode >= 0)
		post_recv(&f->pair.side[!from], &f->mem[!from], SIZE, CTX(2));
	op_post(&ops[op], &x);
	expect_done(x.by, CTX(1));
	if (ops[op].recv_opcode >= 0)
		expect_recv(&f->pair.side[!from], CTX(2));
}

int main(void)
{
	static const size_t lens[] = { 0, 1, 5, 1000, 200000 };
	struct pair_opts o = { 0 };
	struct field f;
	struct net n;
	char go;

	test_init();
	net_open(&n);
	printf("%s\n", n.port);
	if (read(0, &go, 1) != 1)
		return 1;
	field_connect(&f, &n, &o, SIZE);
	for (int s = 0; s < SIDES; s++) {
		uint8_t desc[DESC_SIZE];

		desc_of(f.mem[s].mr, desc);
		printf("%02x%02x%02x%02x\n", desc[19], desc[18], desc[17], desc[16]);
		fill(f.mem[s].data, SIZE, 9);
	}
	for (int from = 0; from < SIDES; from++)
		for (size_t i = 0; i < ARRAY_LEN(lens); i++)
			for (int op = 0; op < OP_COUNT; op++)
				if (i == 0 || !ops[op].unit)
					do_op(&f, op, from, lens[i]);
	field_close(&f);
	net_close(&n);
	return 0;
}
