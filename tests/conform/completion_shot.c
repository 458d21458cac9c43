/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* completion_shot.c -- see completion_shot.h */

#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "completion_shot.h"
#include "pair_wait.h"

enum { DONE = 0xd0, EARLIER, LAST };

/* Parts of the memories. The inbox is the second one of the other side. */
enum { DATA = 0, SINK = 1, NOTE = 2, ELSEWHERE = 3 };

struct far far;

static bool is_send(int op)
{
	return op == OP_SEND || op == OP_SEND_IMM;
}

bool shot_is_flush(int op)
{
	return op == OP_FLUSH_VISIBILITY || op == OP_FLUSH_PERSISTENT;
}

static char *local(int part)
{
	return far.mem.data + (size_t)part * FAR_PART;
}

static void stop(struct shot *s)
{
	s->stopped = !traits()->device;
	if (s->stopped)
		child_stop(&far.child);
}

static void go_on(struct shot *s)
{
	if (s->stopped)
		child_continue(&far.child);
	s->stopped = false;
}

/* The receive that op takes at the other side */
static void prepare(struct shot *s, int op)
{
	if (ops[op].recv_opcode < 0)
		return;
	far_receive(&far);
	s->receives++;
}

/* New data, and nothing of it is there. */
static void aim(struct shot *s)
{
	static uint64_t seed;

	s->seed = ++seed;
	s->off = is_send(s->carrier) ? FAR_INBOX : 0;
	s->len = ops[s->carrier].unit ? ops[s->carrier].unit : FAR_PART;
	s->syncs = far_syncs(&far);
	fill(local(DATA), s->len, s->seed);
	if (far.target.data)
		memcpy(s->before, far.target.data + s->off, s->len);
	prepare(s, s->op);
	if (s->ahead)
		prepare(s, s->carrier);
}

static void post(struct shot *s, int op, bool data, int flags, uint64_t ctx)
{
	struct xfer x = {
		.by = &far.side,
		.local = &far.mem,
		.local_off = (data ? DATA : ELSEWHERE) * FAR_PART,
		.remote = &far.target,
		.remote_off = data || shot_is_flush(op) ? s->off : ELSEWHERE * FAR_PART,
		.len = ops[op].unit ? ops[op].unit : s->len,
		.flags = flags,
		.ctx = CTX(ctx),
	};

	op_post(&ops[op], &x);
}

static void fire(struct shot *s)
{
	if (s->ahead)
		post(s, s->carrier, true, RPMA_F_COMPLETION_ON_ERROR, EARLIER);
	post(s, s->op, !s->ahead, s->flags, DONE);
}

/* All is over, in silence, when a read that comes last is. */
static void settle(struct shot *s)
{
	assert_ok(rpma_read(far.side.conn, far.mem.mr, NOTE * FAR_PART, far.target.remote,
		NOTE * FAR_PART, 8, RPMA_F_COMPLETION_ALWAYS, CTX(LAST)));
	expect_done(&far.side, CTX(LAST));
	expect_no_wc(far.side.cq);
	for (; s->receives > 0; s->receives--)
		far_take(&far);
}

/* ---- what is looked at --------------------------------------------------- */

static void look_by_read(const struct shot *s)
{
	assert_ok(rpma_read(far.observer.conn, far.eye.mr, 0, far.target.remote, s->off, s->len,
		RPMA_F_COMPLETION_ALWAYS, CTX(LAST)));
	expect_done(&far.observer, CTX(LAST));
	assert_filled(far.eye.data, s->len, s->seed);
}

static void check_arrived(const struct shot *s)
{
	if (far.target.data)
		assert_filled(far.target.data + s->off, s->len, s->seed);
	if (s->column == VISIBLE || !far.target.data)
		look_by_read(s);
}

static void check_not_arrived(const struct shot *s)
{
	if (s->stopped)
		assert_memory_equal(far.target.data + s->off, s->before, s->len);
}

static bool file_in_memory(void)
{
	struct statfs fs;

	return fstatfs(far.fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Without a flush of the connection's own it is the other side that has to promise. */
static void check_durable(const struct shot *s)
{
	if (!traits()->native_flush)
		assert_rpma(RPMA_E_NOSUPP,
			rpma_flush(far.observer.conn, far.target.remote, s->off, s->len,
				RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, NULL));
	else if (far.target.data && !file_in_memory())
		assert_true(far_synced(&far, s->syncs, s->off, s->len));
	check_arrived(s);
}

static void check_survives(struct shot *s)
{
	if (!far.target.data)
		return;
	far_kill(&far);
	assert_int_equal(pread(far.fd, s->before, s->len, (off_t)s->off), s->len);
	assert_filled(s->before, s->len, s->seed);
	far_close(&far);
	far_open(&far);
}

static void look(struct shot *s)
{
	if (s->column == LOCAL && s->yes)
		memset(local(DATA), 0xee, s->len);
	else if (s->column == LOCAL && s->stopped && traits()->acknowledged)
		expect_no_wc(far.side.cq);
	else if (s->column == DURABLE && s->yes)
		check_durable(s);
	else if (s->column == DURABLE)
		assert_int_equal(far_syncs(&far), s->syncs);
	else if (s->column != LOCAL && s->yes)
		check_arrived(s);
	else if (s->column != LOCAL)
		check_not_arrived(s);
}

void shot_run(struct shot *s)
{
	aim(s);
	if (s->returned || (!s->yes && s->column != DURABLE))
		stop(s);
	fire(s);
	if (!s->returned)
		expect_done(&far.side, CTX(DONE));
	look(s);
	go_on(s);
	if (s->returned && s->flags == RPMA_F_COMPLETION_ALWAYS)
		expect_done(&far.side, CTX(DONE));
	settle(s);
	check_arrived(s);
	if (s->column == DURABLE && s->yes)
		check_survives(s);
}

/* ---- reads and receives: the local memory is the target ------------------- */

void shot_read(struct shot *s)
{
	struct xfer x = {
		.by = &far.side,
		.local = &far.mem,
		.local_off = SINK * FAR_PART,
		.remote = &far.target,
		.len = FAR_PART,
		.flags = s->flags,
		.ctx = CTX(DONE),
	};

	s->carrier = s->op = OP_WRITE;
	aim(s);
	post(s, OP_WRITE, true, RPMA_F_COMPLETION_ON_ERROR, 0);
	settle(s);
	memset(local(SINK), 0xaa, s->len);
	if (!s->yes)
		stop(s);
	op_post(&ops[OP_READ], &x);
	if (s->stopped) {
		assert_all(local(SINK), s->len, 0xaa);
		expect_no_wc(far.side.cq);
	}
	go_on(s);
	if (s->flags == RPMA_F_COMPLETION_ALWAYS)
		expect_done(&far.side, CTX(DONE));
	else
		settle(s);
	assert_filled(local(SINK), s->len, s->seed);
}

void shot_receive(struct shot *s)
{
	s->carrier = s->op = OP_WRITE;
	aim(s);
	post(s, OP_WRITE, true, RPMA_F_COMPLETION_ON_ERROR, 0);
	settle(s);
	memset(local(SINK), 0xaa, s->len);
	assert_ok(recv_at(&far.side, &far.mem, SINK * FAR_PART, s->len, CTX(DONE)));
	assert_all(local(SINK), s->len, 0xaa);
	expect_no_wc(far.side.rcq);
	far_send(&far);
	expect_recv(&far.side, CTX(DONE));
	assert_filled(local(SINK), s->len, s->seed);
}

void shot_refused(int op)
{
	struct xfer x = {
		.by = &far.side,
		.local = &far.mem,
		.remote = &far.target,
		.len = FAR_PART,
	};

	if (traits()->device)
		require_trait(immediate);
	assert_rpma(RPMA_E_PROVIDER, ops[op].post(&x));
	expect_no_wc(far.side.cq);
}
