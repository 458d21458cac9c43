/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop.c -- the start of a connection, and every operation; see interop.h */

#include <string.h>

#include "interop.h"

#define LEN 4096

/* Of which the longest is sent in many segments. */
static const size_t lengths[] = { 0, 1, 8, 13, LEN, 65536, LINE_SIZE };

static void stage_open(struct duo *d, void **state)
{
	duo_open(d, role_of(state));
	line_connect(d, 0, 16, 16);
}

static void stage_close(struct duo *d)
{
	line_close(d, 0);
	duo_close(d);
}

/* ---- the start --------------------------------------------------------------- */

static void private_data(void **state)
{
	static const size_t sizes[] = { 0, 1, 231, 251 };
	struct duo d;

	duo_open(&d, role_of(state));
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		line_connect(&d, 0, sizes[i], sizes[ARRAY_LEN(sizes) - 1 - i]);
		line_close(&d, 0);
	}
	duo_close(&d);
}

static void operations_of_both(void **state)
{
	struct duo d;

	stage_open(&d, state);
	use_both_ways(&d, OP_WRITE, 10);
	use_both_ways(&d, OP_READ, 20);
	use_both_ways(&d, OP_SEND, 30);
	stage_close(&d);
}

/* ---- operations -------------------------------------------------------------- */

static void write_of_any_length(void **state)
{
	struct duo d;

	stage_open(&d, state);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct xfer x = line_xfer(&d, 0, lengths[i], CTX(i));

		fill(x.local->data, LINE_SIZE, i);
		op_post(&ops[OP_WRITE], &x);
		expect_done(x.by, CTX(i));
		arrive(x.by);
		assert_far_filled(&d, 0, lengths[i], (unsigned)i);
	}
	stage_close(&d);
}

static void read_of_any_length(void **state)
{
	struct duo d;

	stage_open(&d, state);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct xfer x = line_xfer(&d, 0, lengths[i], CTX(i));

		far_fill(&d, 0, lengths[i], (unsigned)i);
		op_post(&ops[OP_READ], &x);
		expect_done(x.by, CTX(i));
		assert_filled(x.local->data, lengths[i], i);
	}
	stage_close(&d);
}

static void send_of_any_length(void **state)
{
	char answer[CHILD_LINE];
	struct duo d;

	stage_open(&d, state);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct xfer x = line_xfer(&d, 0, lengths[i], CTX(i));
		int status, opcode;
		size_t len;

		fill(x.local->data, LINE_SIZE, i);
		far_tell(&d, "recv 0 %zu\n", LINE_SIZE);
		far_answer(&d, "recv", NULL);
		op_post(&ops[OP_SEND], &x);
		expect_done(x.by, CTX(i));
		far_tell(&d, "got 0\n");
		far_answer(&d, "got", answer);
		assert_int_equal(sscanf(answer, "%d %d %zu", &status, &opcode, &len), 3);
		assert_int_equal(status, IBV_WC_SUCCESS);
		assert_int_equal(len, lengths[i]);
		assert_far_filled(&d, 0, lengths[i], (unsigned)i);
	}
	stage_close(&d);
}

/* iWARP has none; the connection does not mind being asked. */
static void refused(void **state, int op)
{
	struct xfer x;
	struct duo d;

	stage_open(&d, state);
	x = line_xfer(&d, 0, LEN, CTX(1));
	assert_rpma(RPMA_E_PROVIDER, ops[op].post(&x));
	use_both_ways(&d, OP_WRITE, 5);
	stage_close(&d);
}

static void write_with_immediate_is_refused(void **state)
{
	refused(state, OP_WRITE_IMM);
}

static void send_with_immediate_is_refused(void **state)
{
	refused(state, OP_SEND_IMM);
}

/* A flush is a read; a persistent one needs the word of the other side. */
static void flush_by_read(void **state)
{
	struct rpma_peer_cfg *pcfg = NULL;
	struct xfer x;
	struct duo d;

	stage_open(&d, state);
	x = line_xfer(&d, 0, LEN, CTX(1));
	fill(x.local->data, LEN, 3);
	op_post(&ops[OP_WRITE], &x);
	expect_done(x.by, CTX(1));
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = { 0 };

		op_post(&ops[i ? OP_FLUSH_PERSISTENT : OP_FLUSH_VISIBILITY], &x);
		next_wc(x.by, x.by->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
		assert_far_filled(&d, 0, LEN, 3);
		if (i)
			break;
		assert_rpma(RPMA_E_NOSUPP, ops[OP_FLUSH_PERSISTENT].post(&x));
		assert_ok(rpma_peer_cfg_new(&pcfg));
		assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
		assert_ok(rpma_conn_apply_remote_peer_cfg(x.by->conn, pcfg));
		assert_ok(rpma_peer_cfg_delete(&pcfg));
	}
	stage_close(&d);
}

static void atomic_write_as_write(void **state)
{
	struct ibv_wc wc = { 0 };
	struct xfer x;
	struct duo d;

	stage_open(&d, state);
	x = line_xfer(&d, 0, 8, CTX(1));
	fill(x.local->data, 8, 9);
	op_post(&ops[OP_ATOMIC_WRITE], &x);
	next_wc(x.by, x.by->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	arrive(x.by);
	assert_far_filled(&d, 0, 8, 9);
	stage_close(&d);
}

/* Many more reads than may be under way at once */
static void reads_beyond_the_depth(void **state)
{
	struct duo d;

	stage_open(&d, state);
	far_fill(&d, 0, LINE_SIZE, 4);
	for (uint64_t i = 0; i < LINE_REQUESTS; i++) {
		struct xfer x = line_xfer(&d, 0, LINE_SIZE / LINE_REQUESTS, CTX(i));

		x.local_off = x.remote_off = i * x.len;
		op_post(&ops[OP_READ], &x);
	}
	for (uint64_t i = 0; i < LINE_REQUESTS; i++)
		expect_done(&d.line[0].side, CTX(i));
	assert_filled(d.line[0].mem.data, LINE_SIZE, 4);
	stage_close(&d);
}

/* Reads and writes in turn, without waiting for each */
static void all_at_once(void **state)
{
	const size_t len = LINE_SIZE / LINE_REQUESTS;
	struct duo d;

	stage_open(&d, state);
	for (unsigned round = 0; round < 4; round++) {
		fill(d.line[0].mem.data, LINE_SIZE, round);
		for (uint64_t i = 0; i < LINE_REQUESTS; i++) {
			struct xfer x = line_xfer(&d, 0, len, CTX(i));

			x.local_off = x.remote_off = i / 2 * len;
			if (i % 2)
				x.local_off += LINE_SIZE / 2;
			op_post(&ops[i % 2 ? OP_READ : OP_WRITE], &x);
		}
		for (uint64_t i = 0; i < LINE_REQUESTS; i++) {
			struct ibv_wc wc = { 0 };

			next_wc(&d.line[0].side, d.line[0].side.cq, &wc);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (traits()->in_order)
				assert_int_equal(wc.wr_id, i);
		}
		assert_filled(d.line[0].mem.data + LINE_SIZE / 2, LINE_SIZE / 2, round);
	}
	stage_close(&d);
}

/* A write and its flush posted together, the write of every length about that of a
 * segment of TCP, so that the flush would begin wherever in the next one */
static void flush_right_behind(void **state)
{
	struct duo d;

	stage_open(&d, state);
	for (size_t len = 4000; len < 4200; len += 3) {
		struct xfer x = line_xfer(&d, 0, len, CTX(len));

		fill(x.local->data, len, len);
		x.flags = RPMA_F_COMPLETION_ON_ERROR;
		op_post(&ops[OP_WRITE], &x);
		x.flags = RPMA_F_COMPLETION_ALWAYS;
		op_post(&ops[OP_FLUSH_VISIBILITY], &x);
		expect_done(x.by, CTX(len));
	}
	assert_far_filled(&d, 0, 4198, 4198);
	stage_close(&d);
}

/* As much as the queue takes, of odd lengths */
static void bursts_of_odd_lengths(void **state)
{
	struct duo d;

	stage_open(&d, state);
	for (unsigned round = 0; round < 8; round++) {
		const size_t len = 1001 + 1237 * round;

		fill(d.line[0].mem.data, LINE_SIZE, round);
		for (uint64_t i = 0; i < LINE_REQUESTS; i++) {
			struct xfer x = line_xfer(&d, 0, len, CTX(i));

			x.local_off = x.remote_off = i * len;
			x.flags = RPMA_F_COMPLETION_ON_ERROR;
			if (i == LINE_REQUESTS - 1)
				x.flags = RPMA_F_COMPLETION_ALWAYS;
			op_post(&ops[i == LINE_REQUESTS - 1 ? OP_READ : OP_WRITE], &x);
		}
		expect_done(&d.line[0].side, CTX(LINE_REQUESTS - 1));
		assert_far_filled(&d, 0, len * (LINE_REQUESTS - 1), round);
	}
	stage_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(private_data),
		BOTH(operations_of_both),
		BOTH(write_of_any_length),
		BOTH(read_of_any_length),
		BOTH(send_of_any_length),
		BOTH(write_with_immediate_is_refused),
		BOTH(send_with_immediate_is_refused),
		BOTH(flush_by_read),
		BOTH(atomic_write_as_write),
		BOTH(reads_beyond_the_depth),
		BOTH(all_at_once),
		BOTH(flush_right_behind),
		BOTH(bursts_of_odd_lengths),
	};

	if (duo_init(argc, argv))
		return 0;
	return cmocka_run_group_tests_name("vm-interop", tests, NULL, NULL);
}
