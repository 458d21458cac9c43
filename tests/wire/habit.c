/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * habit.c -- a thread that waits or polls all the time moves its connection alone
 * (src/tcp/drive.c); when it stops, or sleeps, nothing is left lying
 *
 * Whether the thread had the habit at that moment is for the machine to say: on a busy one it
 * is slower than a habit is. All that is asserted holds either way.
 */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "pair_thread.h"
#include "rig.h"

#define SINK "72706d61"
#define READ_AT "41 41 00000000 00000001 %4 00000000" SINK "0000000000000000 %4 %4 %8"

enum {
	SIZE = 3 << 20, /* more than the sockets take while nobody reads */
	ROUNDS = 100,
	MANY_LOOKS = 20000,
};

static const struct rig_opts large = { .size = SIZE };

/* A Read of 4 bytes, number msn, that the peer has answered */
static void read_answered(struct rig *g, uint32_t msn)
{
	struct rpma_mr_remote *far = far_region();

	assert_ok(rpma_read(
		g->side.conn, g->mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(msn)));
	raw_expect_fpdu(&g->raw, READ_AT, msn, 4, FAR_STAG, FAR_TO);
	raw_fpdu(&g->raw, "c1 42" SINK "0000000000000000 676f6f64");
	assert_ok(rpma_mr_remote_delete(&far));
}

static void wait_all_the_time(struct rig *g)
{
	struct ibv_wc wc;

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		read_answered(g, i);
		assert_ok(rpma_cq_wait(g->side.cq));
		assert_ok(rpma_cq_get_wc(g->side.cq, 1, &wc, NULL));
		assert_int_equal(wc.wr_id, i);
	}
}

static void poll_all_the_time(struct rig *g)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		read_answered(g, i);
		expect_done(&g->side, CTX(i));
	}
	for (int i = 0; i < MANY_LOOKS; i++)
		expect_no_wc(g->side.cq);
}

static void (*const habits[])(struct rig *) = { wait_all_the_time, poll_all_the_time };

static void post_large(struct rig *g)
{
	struct rpma_mr_remote *far = far_region();

	fill(g->mem.data, SIZE, 1);
	assert_ok(rpma_write(
		g->side.conn, far, 0, g->mem.mr, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, CTX(7)));
	assert_ok(rpma_mr_remote_delete(&far));
}

/* The peer reads all of the large Write. */
static void expect_large(struct rig *g)
{
	char *got = malloc(SIZE);
	size_t done = 0;

	assert_non_null(got);
	while (done < SIZE) {
		struct bytes f = raw_read_fpdu(&g->raw);
		size_t len = ((size_t)f.p[0] << 8 | f.p[1]) - 14;

		assert_in_range(len, 1, SIZE - done);
		memcpy(got + done, f.p + 16, len);
		done += len;
		bytes_free(&f);
	}
	assert_filled(got, SIZE, 1);
	free(got);
}

/* ---- the thread stops ----------------------------------------------------------------- */

/* No call of ours, and yet the peer is answered. */
static void requests_are_answered(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
		struct rig g;

		rig_open(&g, state, &large);
		habits[i](&g);
		for (uint32_t msn = 1; msn <= 3; msn++)
			rig_fence(&g, msn);
		rig_close(&g);
	}
}

/* More than the sockets take, and nobody waits for its end. */
static void what_is_posted_goes_out(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
		struct rig g;

		rig_open(&g, state, &large);
		habits[i](&g);
		post_large(&g);
		expect_large(&g);
		expect_done(&g.side, CTX(7));
		rig_close(&g);
	}
}

static void completions_are_told(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
		struct rig g;

		rig_open(&g, state, &large);
		habits[i](&g);
		read_answered(&g, ROUNDS + 1);
		expect_done(&g.side, CTX(ROUNDS + 1)); /* waits for the descriptor, at first */
		rig_close(&g);
	}
}

static void ends_are_told(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
		struct rig g;

		rig_open(&g, state, &large);
		habits[i](&g);
		rig_close(&g);
		rig_open(&g, state, &large);
		habits[i](&g);
		raw_reset(&g.raw);
		expect_event(g.side.conn, RPMA_CONN_LOST);
		rig_drop(&g);
	}
}

/* ---- it sleeps ------------------------------------------------------------------------ */

struct sleeper {
	struct rig *g;
	_Atomic pid_t tid;
};

static void *sleep_until_done(void *arg)
{
	struct sleeper *s = arg;

	s->tid = (pid_t)syscall(SYS_gettid);
	assert_ok(rpma_cq_wait(s->g->side.cq));
	return NULL;
}

static pthread_t start_sleeper(struct sleeper *s, struct rig *g)
{
	*s = (struct sleeper){ .g = g };
	return thread_start(sleep_until_done, s);
}

/* It sleeps at the socket, knows nothing of the Write that another thread posts then, and
 * this does not fit into the socket. */
static void what_another_thread_posts_goes_out(void **state)
{
	struct sleeper s;
	struct rig g;
	pthread_t t;

	rig_open(&g, state, &large);
	wait_all_the_time(&g);
	t = start_sleeper(&s, &g);
	while (s.tid == 0)
		sched_yield();
	thread_wait_asleep(s.tid);
	post_large(&g);
	expect_large(&g);
	thread_join(t);
	expect_done(&g.side, CTX(7));
	rig_close(&g);
}

/* It waits for the end of what was posted before, and the socket is full. */
static void what_was_posted_before_goes_out(void **state)
{
	struct sleeper s;
	struct rig g;
	pthread_t t;

	rig_open(&g, state, &large);
	wait_all_the_time(&g);
	post_large(&g);
	t = start_sleeper(&s, &g);
	expect_large(&g);
	thread_join(t);
	expect_done(&g.side, CTX(7));
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(requests_are_answered),
		BOTH(what_is_posted_goes_out),
		BOTH(completions_are_told),
		BOTH(ends_are_told),
		BOTH(what_another_thread_posts_goes_out),
		BOTH(what_was_posted_before_goes_out),
	};

	threads_init();
	wire_init();
	return cmocka_run_group_tests_name("wire-habit", tests, NULL, NULL);
}
