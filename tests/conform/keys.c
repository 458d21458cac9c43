/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* keys.c -- registrations: each has its own key, and an end */

#include <sys/mman.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define LEN 64

/* One buffer, registered often: each has its own key, each dies alone. */
static void every_registration_its_own_key(void **state)
{
	struct rpma_mr_remote *remote[16];
	struct rpma_mr_local *mr[16];
	uint8_t desc[16][DESC_SIZE];
	struct field f;

	(void)state;
	field_open(&f, NULL, LEN);
	for (size_t i = 0; i < ARRAY_LEN(mr); i++) {
		assert_ok(rpma_mr_reg(
			f.pair.side[SERVER].peer, f.mem[SERVER].data, LEN, USAGE_ALL, &mr[i]));
		desc_of(mr[i], desc[i]);
		remote[i] = remote_of(mr[i]);
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(desc[i] + 16, desc[k] + 16, 4);
	}
	for (size_t i = 0; i < ARRAY_LEN(mr); i++) {
		size_t die = i * 7 % ARRAY_LEN(mr), next = (i + 1) * 7 % ARRAY_LEN(mr);

		assert_ok(rpma_mr_dereg(&mr[die]));
		if (i + 1 == ARRAY_LEN(mr))
			break;
		fill(f.mem[CLIENT].data, LEN, i);
		assert_ok(rpma_write(f.pair.side[CLIENT].conn, remote[next], 0, f.mem[CLIENT].mr, 0,
			LEN, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		expect_done(&f.pair.side[CLIENT], CTX(i));
		arrive(&f.pair.side[CLIENT]);
		assert_filled(f.mem[SERVER].data, LEN, i);
	}
	for (size_t i = 0; i < ARRAY_LEN(mr); i++)
		assert_ok(rpma_mr_remote_delete(&remote[i]));
	field_close(&f);
}

/* When dereg has returned nobody writes there any more: the page may go. */
static void nothing_after_dereg(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int round = 0; round < 20; round++) {
		const size_t len = 1 << 20;
		struct rpma_mr_remote *remote;
		struct rpma_mr_local *mr = NULL;
		struct ibv_wc wc = { 0 };
		struct field f;
		void *p;

		field_connect(&f, &n, NULL, len);
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(p, MAP_FAILED);
		assert_ok(rpma_mr_reg(n.peer[SERVER], p, len, USAGE_PLAIN, &mr));
		remote = remote_of(mr);
		for (int i = 0; i < 8; i++)
			assert_ok(rpma_write(f.pair.side[CLIENT].conn, remote, 0, f.mem[CLIENT].mr,
				0, len, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
		for (int i = 0; i < round % 4; i++)
			expect_done(&f.pair.side[CLIENT], CTX(i));
		assert_ok(rpma_mr_dereg(&mr));
		assert_int_equal(munmap(p, len), 0);
		for (int i = round % 4; i < 8; i++) {
			next_wc(&f.pair.side[CLIENT], f.pair.side[CLIENT].cq, &wc);
			assert_int_equal(wc.wr_id, i);
		}
		expect_no_wc(f.pair.side[CLIENT].cq);
		assert_ok(rpma_mr_remote_delete(&remote));
		field_drop(&f);
	}
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_registration_its_own_key),
		cmocka_unit_test(nothing_after_dereg),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-keys", tests, NULL, NULL);
}
