/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * op_flush.c -- the requests that atomic writes and flushes become
 */

#include <string.h>

#include "posted.h"

/* ---- atomic write ------------------------------------------------------- */

static void atomic_write(void **state)
{
	static const struct {
		unsigned caps;
		enum rp_opcode opcode;
		unsigned flags;
	} cases[] = {
		{ 0, RP_OP_WRITE, RP_WR_INLINE | RP_WR_FENCE },
		{ RP_CAP_FLUSH, RP_OP_WRITE, RP_WR_INLINE | RP_WR_FENCE },
		/* The flush is a read, which this must not overtake. */
		{ RP_CAP_ATOMIC_WRITE, RP_OP_ATOMIC_WRITE, RP_WR_INLINE | RP_WR_FENCE },
		{ RP_CAP_ATOMIC_WRITE | RP_CAP_FLUSH, RP_OP_ATOMIC_WRITE, RP_WR_INLINE },
	};
	static const char src[8] = "atomic!";
	struct rp_send_wr want = {
		.addr = (uintptr_t)src,
		.length = 8,
		.remote_addr = RIG_REMOTE_ADDR + 24,
		.rkey = RIG_REMOTE_KEY,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * SIGNALLINGS; i++) {
		size_t c = i / SIGNALLINGS, s = i % SIGNALLINGS;

		fake_set_caps(0, cases[c].caps);
		want.opcode = cases[c].opcode;
		want.flags = cases[c].flags | signalling[s].signaled;
		want.wr_id = (uintptr_t)signalling[s].context;
		assert_ok(rpma_atomic_write(
			rig.conn, rig.remote, 24, src, signalling[s].flags, signalling[s].context));
		posted_check(&want);
		assert_memory_equal(fake_last(FAKE_POST_SEND)->inlined, src, 8);
	}
}

static void old_atomic_write(void **state)
{
	struct rp_send_wr want = {
		.opcode = RP_OP_WRITE,
		.lkey = posted_mr()->lkey,
		.addr = (uintptr_t)rig_memory + 3,
		.length = 8,
		.remote_addr = RIG_REMOTE_ADDR + 24,
		.rkey = RIG_REMOTE_KEY,
	};

	(void)state;
	for (size_t i = 0; i < SIGNALLINGS; i++) {
		fake_set_caps(0, i & 1 ? RP_CAP_ATOMIC_WRITE | RP_CAP_FLUSH : 0);
		want.flags = RP_WR_FENCE | signalling[i].signaled;
		want.wr_id = (uintptr_t)signalling[i].context;
		assert_ok(rpma_write_atomic(rig.conn, rig.remote, 24, rig.mr, 3,
			signalling[i].flags, signalling[i].context));
		posted_check(&want);
	}
}

/* ---- flush -------------------------------------------------------------- */

static void flush_native(void **state)
{
	struct rp_send_wr want = { .opcode = RP_OP_FLUSH, .rkey = RIG_REMOTE_KEY };
	static const size_t lengths[] = { 0, 1, 8, RIG_SIZE, (size_t)5 << 32, SIZE_MAX };

	(void)state;
	fake_set_caps(0, RP_CAP_FLUSH);
	for (size_t i = 0; i < SIGNALLINGS * 6; i++) {
		size_t l = i / SIGNALLINGS, s = i % SIGNALLINGS;

		want.flush_type = i & 1;
		want.remote_addr = RIG_REMOTE_ADDR + i;
		want.length = lengths[l];
		want.flags = signalling[s].signaled;
		want.wr_id = (uintptr_t)signalling[s].context;
		assert_ok(rpma_flush(rig.conn, rig.remote, i, lengths[l], i & 1,
			signalling[s].flags, signalling[s].context));
		posted_check(&want);
	}
}

/* What is read for a flush: never a byte outside of the region if the range is
 * inside of it, the first byte outside if not. */
static const struct clip {
	uint64_t size;
	uint64_t offset;
	uint64_t len;
	uint64_t read_offset;
	uint64_t read_length;
} clips[] = {
	{ 4096, 0, 4096, 0, 8 },
	{ 4096, 0, 1, 0, 8 },
	{ 4096, 0, 0, 0, 8 },
	{ 4096, 100, 3, 100, 8 },
	{ 4096, 4088, 8, 4088, 8 },
	{ 4096, 4089, 7, 4088, 8 },
	{ 4096, 4095, 1, 4088, 8 },
	{ 4096, 4096, 0, 4088, 8 },
	{ 8, 0, 8, 0, 8 },
	{ 8, 7, 1, 0, 8 },
	{ 7, 0, 7, 0, 7 },
	{ 7, 6, 1, 0, 7 },
	{ 1, 0, 1, 0, 1 },
	{ 1, 0, 0, 0, 1 },
	{ 1, 1, 0, 0, 1 },
	{ 0, 0, 0, 0, 0 },
	{ UINT64_MAX, 5ULL << 40, 9ULL << 40, 5ULL << 40, 8 },
	{ UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 8, 8 },
	/* outside */
	{ 4096, 4096, 1, 4096, 1 },
	{ 4096, 4095, 2, 4096, 1 },
	{ 4096, 0, 4097, 4096, 1 },
	{ 4096, 0, UINT64_MAX, 4096, 1 },
	{ 4096, 1, UINT64_MAX, 4096, 1 },
	{ 4096, 5000, 0, 5000, 1 },
	{ 4096, UINT64_MAX, 1, UINT64_MAX, 1 },
	{ 4096, UINT64_MAX - 7, 8, UINT64_MAX - 7, 1 },
	{ 1, 1, 1, 1, 1 },
	{ 1, 0, 2, 1, 1 },
	{ 0, 0, 1, 0, 1 },
	{ 0, 1, 0, 1, 1 },
};

static void flush_by_read(void **state)
{
	struct rp_send_wr want = { .opcode = RP_OP_READ, .rkey = RIG_REMOTE_KEY };
	struct rpma_mr_remote *remote;
	struct rp_mr *mr;

	(void)state;
	for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
		const struct clip *clip = &clips[i];
		size_t s = i % SIGNALLINGS;

		remote = rig_remote(clip->size, 0xff);
		assert_ok(rpma_flush(rig.conn, remote, clip->offset, clip->len,
			RPMA_FLUSH_TYPE_VISIBILITY, signalling[s].flags, signalling[s].context));
		want.wr_id = (uintptr_t)signalling[s].context;
		want.flags = signalling[s].signaled;
		want.length = clip->read_length;
		want.remote_addr = RIG_REMOTE_ADDR + clip->read_offset;
		/* Where it goes is core's own affair, but it has to fit there. */
		mr = fake_last(FAKE_POST_SEND)->mr;
		assert_true(!mr == !clip->read_length);
		want.lkey = mr ? mr->lkey : 0;
		want.addr = mr ? (uintptr_t)mr->addr : 0;
		posted_check(&want);
		assert_true(!mr || mr->length >= clip->read_length);
		assert_ok(rpma_mr_remote_delete(&remote));
	}
}

/* It lands in a region for that, not among the user's bytes. */
static void flush_sink(void **state)
{
	struct rp_mr *sink;

	(void)state;
	assert_ok(rpma_flush(rig.conn, rig.remote, 0, 1, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, NULL));
	sink = fake_last(FAKE_POST_SEND)->mr;
	assert_ptr_not_equal(sink, posted_mr());
	for (unsigned i = 0; i < fake_calls(); i++) {
		const struct fake_call *call = fake_call(i);

		if (call->op == FAKE_MR_REG && call->memory == (uintptr_t)sink->addr)
			assert_int_equal(call->type, RPMA_MR_USAGE_READ_DST);
	}
	memset(sink->addr, 0xa5, sink->length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		posted_test(atomic_write),
		posted_test(old_atomic_write),
		posted_test(flush_native),
		posted_test(flush_by_read),
		posted_test(flush_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
