/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* flush.c -- flushes: who may ask, what range, what is there afterwards */

#include <sys/mman.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096

#define VISIBILITY RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define PERSISTENT RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT

static const enum rpma_flush_type types[] = {
	RPMA_FLUSH_TYPE_PERSISTENT,
	RPMA_FLUSH_TYPE_VISIBILITY,
};

static int flush_range(
	struct side *s, struct region *r, size_t off, size_t len, enum rpma_flush_type type)
{
	return rpma_flush(s->conn, r->remote, off, len, type, RPMA_F_COMPLETION_ALWAYS, CTX(0xf1));
}

static void flush_done(
	struct side *s, struct region *r, size_t off, size_t len, enum rpma_flush_type type)
{
	struct ibv_wc wc;

	assert_ok(flush_range(s, r, off, len, type));
	next_wc(s, s->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, 0xf1);
	assert_int_equal(wc.opcode, op_opcode(&ops[OP_FLUSH_VISIBILITY]));
}

static void apply_direct_write(struct rpma_conn *conn, bool direct)
{
	struct rpma_peer_cfg *pcfg = NULL;

	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, direct));
	assert_ok(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
}

/* ---- who may ask --------------------------------------------------------- */

static int expected(int usage, bool direct, enum rpma_flush_type type)
{
	if (type == RPMA_FLUSH_TYPE_PERSISTENT)
		return usage & PERSISTENT && (direct || traits()->native_flush) ? 0 : RPMA_E_NOSUPP;
	return usage & VISIBILITY ? 0 : RPMA_E_NOSUPP;
}

/* Each type, each usage, each declaration of the other side */
static void every_permission(void **state)
{
	const int usages[] = { 0, VISIBILITY, PERSISTENT, VISIBILITY | PERSISTENT };
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t u = 0; u < ARRAY_LEN(usages); u++) {
		struct region r;

		region_open(&r, n.peer[SERVER], SIZE, usages[u] | RPMA_MR_USAGE_WRITE_DST);
		for (int declared = -1; declared < 2; declared++) {
			struct pair p;

			pair_connect(&p, &n, NULL);
			if (declared >= 0)
				apply_direct_write(p.side[CLIENT].conn, declared);
			for (size_t t = 0; t < ARRAY_LEN(types); t++) {
				int want = expected(usages[u], declared == 1, types[t]);

				if (want == 0)
					flush_done(&p.side[CLIENT], &r, 0, SIZE, types[t]);
				else
					assert_rpma(want, flush_range(&p.side[CLIENT], &r, 0, SIZE,
								  types[t]));
				expect_no_wc(p.side[CLIENT].cq);
			}
			pair_close(&p);
		}
		region_close(&r);
	}
	net_close(&n);
}

static void flush_types_in_descriptor(void **state)
{
	const int usages[] = { 0, VISIBILITY, PERSISTENT, VISIBILITY | PERSISTENT };
	struct rpma_peer *peer = peer_at(test_addr(), RPMA_UTIL_IBV_CONTEXT_LOCAL);

	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(usages); u++) {
		struct region r;
		int got = -1;

		region_open(&r, peer, SIZE, usages[u] | RPMA_MR_USAGE_READ_SRC);
		assert_ok(rpma_mr_remote_get_flush_type(r.remote, &got));
		assert_int_equal(got, usages[u]);
		region_close(&r);
	}
	assert_ok(rpma_peer_delete(&peer));
}

static void unknown_type(void **state)
{
	const int bad[] = { -1, 2, 3, 77 };
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_rpma(RPMA_E_INVAL, flush_range(&f.pair.side[CLIENT], &f.mem[SERVER], 0, 8,
						  (enum rpma_flush_type)bad[i]));
	expect_no_wc(f.pair.side[CLIENT].cq);
	field_close(&f);
}

/* ---- what range ---------------------------------------------------------- */

static void flush_everywhere(struct field *f, size_t size)
{
	const struct {
		size_t off;
		size_t len;
	} ranges[] = {
		{ 0, size },
		{ 0, 1 },
		{ size - 1, 1 },
		{ size / 2, size - size / 2 },
		{ 0, 0 },
		{ size, 0 },
		{ size > 7 ? size - 7 : 0, size > 7 ? 7 : size },
	};

	for (int from = 0; from < SIDES; from++) {
		for (size_t i = 0; i < ARRAY_LEN(ranges) * ARRAY_LEN(types); i++) {
			size_t off = ranges[i / ARRAY_LEN(types)].off;
			size_t len = ranges[i / ARRAY_LEN(types)].len;

			flush_done(&f->pair.side[from], &f->mem[!from], off, len,
				types[i % ARRAY_LEN(types)]);
		}
	}
}

/* However small the region, nothing outside of it is touched or asked for. */
static void every_range(void **state)
{
	const size_t sizes[] = { 1, 2, 7, 8, 9, 63, 64, 4095, 4096, 4097, 1 << 20 };
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct field f;

		field_connect(&f, &n, NULL, sizes[i]);
		flush_everywhere(&f, sizes[i]);
		field_close(&f);
	}
	net_close(&n);
}

/* More than 32 bits of length; nothing of it is ever populated. */
static void larger_than_4_gib(void **state)
{
	const size_t size = (size_t)5 << 30;
	struct rpma_mr_local *mr = NULL;
	struct region r = { .size = size };
	struct pair p;
	void *map;

	(void)state;
	require_trait(native_flush);
	require_trait(any_file);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	if (map == MAP_FAILED) {
		print_message("no address space for %zu bytes\n", size);
		skip();
	}
	pair_open(&p, NULL);
	assert_ok(rpma_mr_reg(p.side[SERVER].peer, map, size, USAGE_ALL, &mr));
	r.remote = remote_of(mr);
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		flush_done(&p.side[CLIENT], &r, 0, size, types[t]);
		flush_done(&p.side[CLIENT], &r, size - 1, 1, types[t]);
		flush_done(&p.side[CLIENT], &r, 1, (size_t)1 << 32, types[t]);
	}
	assert_ok(rpma_mr_remote_delete(&r.remote));
	assert_ok(rpma_mr_dereg(&mr));
	pair_close(&p);
	munmap(map, size);
}

/* ---- many ---------------------------------------------------------------- */

/* A full queue of writes and flushes completes in order. */
static void many_outstanding(void **state)
{
	struct pair_opts o = { .side[CLIENT] = { .sq_size = 200, .cq_size = 200 } };
	struct field f;

	(void)state;
	require_trait(in_order);
	field_open(&f, &o, SIZE);
	fill(f.mem[CLIENT].data, SIZE, 6);
	for (uint64_t round = 0; round < 10; round++) {
		for (uint64_t i = 0; i < 200; i++) {
			struct xfer x = field_xfer(&f, CLIENT, 20, CTX(i));
			int flush = round % 2 ? OP_FLUSH_PERSISTENT : OP_FLUSH_VISIBILITY;

			x.local_off = x.remote_off = i * 20;
			op_post(&ops[i % 2 ? flush : OP_WRITE], &x);
		}
		for (uint64_t i = 0; i < 200; i++)
			expect_done(&f.pair.side[CLIENT], CTX(i));
	}
	for (uint64_t i = 0; i < 200; i += 2)
		assert_memory_equal(f.mem[SERVER].data + i * 20, f.mem[CLIENT].data + i * 20, 20);
	field_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_permission),
		cmocka_unit_test(flush_types_in_descriptor),
		cmocka_unit_test(unknown_type),
		cmocka_unit_test(every_range),
		cmocka_unit_test(larger_than_4_gib),
		cmocka_unit_test(many_outstanding),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-flush", tests, NULL, NULL);
}
