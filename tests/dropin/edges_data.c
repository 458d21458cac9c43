/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* edges_data.c -- habits of programs on an established connection */

#include <arpa/inet.h>
#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 4096

/* The remote region is deleted as soon as the operation is posted. */
static void remote_deleted_after_posting(void **state)
{
	static const int kinds[] = { OP_READ, OP_WRITE, OP_ATOMIC_WRITE, OP_FLUSH_VISIBILITY,
		OP_WRITE_IMM };
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	post_recv(&f.pair.side[SERVER], &f.mem[SERVER], SIZE, NULL);
	fill(f.mem[CLIENT].data, SIZE, 1);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct op *op = &ops[kinds[i]];
		struct xfer x = field_xfer(&f, CLIENT, op->unit ? op->unit : SIZE, CTX(i));
		struct region far = { .remote = remote_of(f.mem[SERVER].mr) };

		case_is("%s", op->name);
		if (!op_exists(op))
			continue;
		x.remote = &far;
		op_post(op, &x);
		assert_ok(rpma_mr_remote_delete(&far.remote));
		assert_null(far.remote);
		expect_done(&f.pair.side[CLIENT], CTX(i));
	}
	field_close(&f);
}

/* A queue of each kind as large as the defaults say, every request signalled, and
 * nobody polls until all are there. */
static void defaults_with_everything_signalled(void **state)
{
	enum { DEFAULT = 10 };
	struct side *cli, *srv;
	struct ibv_wc wc[2 * DEFAULT];
	struct field f;
	int sends = 0;

	(void)state;
	field_open(&f, NULL, SIZE);
	cli = &f.pair.side[CLIENT];
	srv = &f.pair.side[SERVER];
	for (uintptr_t i = 0; i < DEFAULT; i++) {
		post_recv(srv, &f.mem[SERVER], 8, CTX(i));
		post_recv(cli, &f.mem[CLIENT], 8, CTX(i));
	}
	for (uintptr_t i = 0; i < DEFAULT; i++) {
		assert_ok(rpma_send(
			cli->conn, f.mem[CLIENT].mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, CTX(100 + i)));
		assert_ok(rpma_send(
			srv->conn, f.mem[SERVER].mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, CTX(100 + i)));
	}
	for (uintptr_t i = 0; i < 2 * DEFAULT; i++)
		next_wc(srv, srv->cq, &wc[i]);
	/* The client has looked at nothing yet. */
	for (uintptr_t i = 0; i < 2 * DEFAULT; i++) {
		next_wc(cli, cli->cq, &wc[i]);
		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		sends += wc[i].wr_id >= 100;
	}
	assert_int_equal(sends, DEFAULT);
	expect_no_wc(cli->cq);
	expect_no_wc(srv->cq);
	field_close(&f);
}

/* A flush between other operations is found again by its wr_id. */
static void flush_known_by_wr_id(void **state)
{
	static const int flush[] = { OP_FLUSH_VISIBILITY, OP_FLUSH_PERSISTENT };
	struct rpma_peer_cfg *pcfg = NULL;
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_conn_apply_remote_peer_cfg(f.pair.side[CLIENT].conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	for (size_t i = 0; i < ARRAY_LEN(flush); i++) {
		struct xfer x = field_xfer(&f, CLIENT, SIZE, CTX(1));
		struct side *s = &f.pair.side[CLIENT];
		struct ibv_wc wc;

		op_post(&ops[OP_WRITE], &x);
		x.ctx = s;
		op_post(&ops[flush[i]], &x);
		x.ctx = CTX(3);
		op_post(&ops[OP_READ], &x);
		do {
			next_wc(s, s->cq, &wc);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
		} while (wc.wr_id != (uintptr_t)s);
		expect_done(s, CTX(3));
	}
	field_close(&f);
}

/* Write, then read a little of the same connection: what was written is there. */
static void home_made_flush(void **state)
{
	struct side *s;
	struct field f;

	(void)state;
	field_open(&f, NULL, SIZE);
	s = &f.pair.side[CLIENT];
	fill(f.mem[CLIENT].data, SIZE / 2, 5);
	assert_ok(rpma_write(s->conn, f.mem[SERVER].remote, 0, f.mem[CLIENT].mr, 0, SIZE / 2,
		RPMA_F_COMPLETION_ON_ERROR, NULL));
	assert_ok(rpma_read(s->conn, f.mem[CLIENT].mr, SIZE - 8, f.mem[SERVER].remote, SIZE / 2 - 8,
		8, RPMA_F_COMPLETION_ALWAYS, CTX(2)));
	expect_done(s, CTX(2));
	assert_filled(f.mem[SERVER].data, SIZE / 2, 5);
	assert_memory_equal(f.mem[CLIENT].data + SIZE - 8, f.mem[CLIENT].data + SIZE / 2 - 8, 8);
	field_close(&f);
}

/* Wait, then poll until there is nothing; the count is preset. */
static void wait_then_poll(void **state)
{
	struct xfer x;
	struct side *s;
	struct field f;
	int seen = 0;

	(void)state;
	field_open(&f, NULL, SIZE);
	s = &f.pair.side[CLIENT];
	x = field_xfer(&f, CLIENT, SIZE, NULL);
	for (int i = 0; i < 8; i++)
		op_post(&ops[OP_WRITE], &x);
	while (seen < 8) {
		struct ibv_wc wc[3];
		int got = 0, ret;

		assert_ok(rpma_cq_wait(s->cq));
		while ((ret = rpma_cq_get_wc(s->cq, 3, wc, &got)) == 0)
			seen += got;
		assert_int_equal(ret, RPMA_E_NO_COMPLETION);
	}
	assert_int_equal(seen, 8);
	field_close(&f);
}

/* The immediate data in network order, into a receive without memory */
static void imm_into_nothing(void **state)
{
	struct xfer x;
	struct ibv_wc wc;
	struct field f;

	(void)state;
	require_trait(immediate);
	field_open(&f, NULL, SIZE);
	post_recv(&f.pair.side[SERVER], NULL, 0, CTX(4));
	x = field_xfer(&f, CLIENT, SIZE, NULL);
	x.imm = 0xdeadbeef;
	op_post(&ops[OP_WRITE_IMM], &x);
	wc = expect_recv(&f.pair.side[SERVER], CTX(4));
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
	assert_int_equal(ntohl(wc.imm_data), 0xdeadbeef);
	expect_done(&f.pair.side[CLIENT], NULL);
	field_close(&f);
}

/* Both descriptors and their sizes, back to back in 28 bytes of private data */
struct greeting {
	uint8_t mr_size;
	uint8_t pcfg_size;
	uint8_t desc[26];
};

static void both_descriptors_in_private_data(void **state)
{
	struct greeting g = { 0 };
	struct pair_opts o = { 0 };
	struct rpma_conn_private_data got;
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_mr_remote *mr = NULL;
	const struct greeting *seen;
	size_t size = 0;
	struct region r;
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	region_open(&r, n.peer[SERVER], SIZE, USAGE_ALL);
	assert_ok(rpma_mr_get_descriptor_size(r.mr, &size));
	g.mr_size = (uint8_t)size;
	assert_ok(rpma_mr_get_descriptor(r.mr, g.desc));
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_get_descriptor_size(pcfg, &size));
	g.pcfg_size = (uint8_t)size;
	assert_ok(rpma_peer_cfg_get_descriptor(pcfg, g.desc + g.mr_size));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	o.side[SERVER].data = &g;
	o.side[SERVER].data_len = sizeof(g);
	pair_connect(&p, &n, &o);

	assert_ok(rpma_conn_get_private_data(p.side[CLIENT].conn, &got));
	assert_true(got.len >= sizeof(*seen));
	seen = got.ptr;
	assert_ok(rpma_mr_remote_from_descriptor(seen->desc, seen->mr_size, &mr));
	assert_ok(
		rpma_peer_cfg_from_descriptor(seen->desc + seen->mr_size, seen->pcfg_size, &pcfg));
	assert_ok(rpma_conn_apply_remote_peer_cfg(p.side[CLIENT].conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	assert_ok(rpma_mr_remote_delete(&mr));
	pair_close(&p);
	region_close(&r);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remote_deleted_after_posting),
		cmocka_unit_test(defaults_with_everything_signalled),
		cmocka_unit_test(flush_known_by_wr_id),
		cmocka_unit_test(home_made_flush),
		cmocka_unit_test(wait_then_poll),
		cmocka_unit_test(imm_into_nothing),
		cmocka_unit_test(both_descriptors_in_private_data),
	};

	test_init();
	return cmocka_run_group_tests_name("dropin-edges-data", tests, NULL, NULL);
}
