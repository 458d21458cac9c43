/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* terminate.c -- the end that is explained: items 90 to 94, 97 */

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "pair_log.h"
#include "rig.h"

/* ---- Terminates that are sent -------------------------------------------------------- */

/* Whole dumps: layout, numbers, CRC. What follows an error is not answered. */
static void item_090_layout(void **state)
{
	static const struct {
		const char *segment;
		const char *terminate;
	} cases[] = {
		{ "c140 dead0000 0000000000001000 68656c6c6f",
			"00264147 00000000 00000002 00000001 00000000 1100c000 0013"
			"c140 dead0000 0000000000001000 c6633db6" },
		{ "4141 00000000 00000001 00000001 00000000 0012f400 00005500aabbc000 00000040"
		  "dead0000 00007f0011223344",
			"00464147 00000000 00000002 00000001 00000000 0100e000 002e"
			"4141 00000000 00000001 00000001 00000000 0012f400 00005500aabbc000"
			"00000040 dead0000 00007f0011223344 1728c36b" },
		{ "4148 00000000 00000000 00000001 00000000 0000000000000000",
			"00164147 00000000 00000002 00000001 00000000 02060000 6f77b973" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, cases[i].segment);
		raw_expect(&g.raw, cases[i].terminate);
		raw_expect_fin(&g.raw);
		expect_event(g.side.conn, RPMA_CONN_LOST);
		rig_drop(&g);
	}
}

static void item_090_layout_crc(void **state)
{
	struct rig g;

	rig_open(&g, state, NULL);
	raw_send(&g.raw, "000ec140 00000001 0000000000000000 ebd34c5e");
	raw_expect(&g.raw, "00164147 00000000 00000002 00000001 00000000 20020000 7fe42585");
	raw_expect_fin(&g.raw);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	rig_drop(&g);
}

static void item_091_first_error_is_told(void **state)
{
	struct bytes b = { 0 };
	struct rig g;

	rig_open(&g, state, NULL);
	bytes_fpdu(&g.raw.last, "c1 40 %4 %8 deadbeef", g.stag ^ 0x100, g.to);
	bytes_add(&b, "%p", g.raw.last.p, g.raw.last.len);
	bytes_fpdu(&b, "c1 00 %4 %8 deadbeef", g.stag, g.to);
	bytes_fpdu(&b, "c1 40 %4 %8 deadbeef", g.stag, g.to);
	raw_send_bytes(&g.raw, b.p, b.len);
	bytes_free(&b);
	rig_dies(&g, "11 00", TERM_DDP);
}

/* ---- Terminates that are received ------------------------------------------------------ */

/* The log says how it was understood. */
static struct {
	pthread_mutex_t lock;
	char text[1024];
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void hear(const char *text)
{
	pthread_mutex_lock(&heard.lock);
	if (strstr(text, "Terminate"))
		snprintf(heard.text, sizeof(heard.text), "%s", text);
	pthread_mutex_unlock(&heard.lock);
}

static void nothing_heard(void)
{
	pthread_mutex_lock(&heard.lock);
	heard.text[0] = '\0';
	pthread_mutex_unlock(&heard.lock);
	log_hear(RPMA_LOG_LEVEL_DEBUG, hear);
}

/* The library writes it after it has told the end: wait. */
static void assert_heard(const char *words)
{
	int64_t deadline = clock_ms() + test_timeout_ms();
	bool found;

	do {
		pthread_mutex_lock(&heard.lock);
		found = strstr(heard.text, words) != NULL;
		pthread_mutex_unlock(&heard.lock);
		sched_yield();
	} while (!found && clock_ms() < deadline);
	if (!found)
		fail_msg("'%s' is not in the log", words);
}

#define TERM "41 47 00000000 00000002 00000001 00000000"
#define READ_HDR "4141 00000000 00000001 00000002 00000000"
#define READ_REST "72706d61 0000000000000000 00000004 00ab3c07 00007f0011223344"

/* Reads 1 and 2 are under way, then this comes; status: of the second. */
static void terminated(
	void **state, const char *payload, const char *triple, enum ibv_wc_status status)
{
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	nothing_heard();
	rig_open(&g, state, NULL);
	for (uint64_t i = 1; i <= 3; i++)
		assert_ok(rpma_read(
			g.side.conn, g.mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(i)));
	for (int i = 1; i <= 3; i++) {
		struct bytes f = raw_read_fpdu(&g.raw);

		bytes_free(&f);
	}
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000 00000000");
	expect_done(&g.side, CTX(1));
	raw_fpdu(&g.raw, payload);
	raw_expect_fin(&g.raw);
	expect_status(&g.side, CTX(2), status);
	expect_status(&g.side, CTX(3), IBV_WC_WR_FLUSH_ERR);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	assert_heard(triple);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

static void item_092_terminate_received(void **state)
{
	/* by the RFC */
	terminated(
		state, TERM "01 00 e0 00 002e" READ_HDR READ_REST, "0/1/00", IBV_WC_REM_ACCESS_ERR);
	terminated(state, TERM "01 02 c0 00 002e" READ_HDR, "0/1/02", IBV_WC_REM_ACCESS_ERR);
	terminated(state, TERM "02 07 c0 00 002e" READ_HDR, "0/2/07", IBV_WC_REM_OP_ERR);
	terminated(state, TERM "20 02 00 00", "2/0/02", IBV_WC_WR_FLUSH_ERR);
	/* siw: nibbles and header bits the other way round, a length for a number */
	terminated(state,
		TERM "10 00 07 00 0000 4141 00000000 00000001 00000004 00000000" READ_REST,
		"0/1/00", IBV_WC_REM_ACCESS_ERR);
	terminated(state, TERM "02 02 00 00", "2/0/02", IBV_WC_WR_FLUSH_ERR);
	/* adapters: MPA errors have type 3 */
	terminated(state, TERM "23 02 00 00", "2/0/02", IBV_WC_WR_FLUSH_ERR);
}

/* About a Read that is not on the way yet: nobody's failure. */
static void item_092_about_the_future(void **state)
{
	struct rig_opts o = { .depth = 1 };
	struct rpma_mr_remote *far = far_region(),
			      *other = remote_from((const uint8_t[DESC_SIZE]){ 0, 0x10, 0, 0, 0, 0,
				      0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, USAGE_ALL });
	struct bytes f;
	struct rig g;

	rig_open(&g, state, &o);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	assert_ok(
		rpma_write(g.side.conn, far, 0, g.mem.mr, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(2)));
	assert_ok(
		rpma_read(g.side.conn, g.mem.mr, 0, other, 0, 4, RPMA_F_COMPLETION_ALWAYS, CTX(3)));
	f = raw_read_fpdu(&g.raw);
	bytes_free(&f);
	f = raw_read_fpdu(&g.raw);
	bytes_free(&f);
	raw_fpdu(&g.raw, TERM "10 00 07 00 0000 4141 00000000 00000001 00000004 00000000"
			      "72706d61 0000000000000000 00000004 00000007 0000000000001000");
	raw_expect_fin(&g.raw);
	for (uint64_t i = 1; i <= 3; i++)
		expect_status(&g.side, CTX(i), IBV_WC_WR_FLUSH_ERR);
	assert_ok(rpma_mr_remote_delete(&far));
	assert_ok(rpma_mr_remote_delete(&other));
	rig_drop(&g);
}

static void item_093_truncated_headers(void **state)
{
	static const char *const bits[] = { "80", "c0", "e0", "a0", "40", "07", "02", "ff" };

	for (size_t i = 0; i < ARRAY_LEN(bits); i++)
		for (size_t len = 0; len < 48; len += len < 20 ? 1 : 9) {
			struct bytes b = { 0 };
			struct rig g;

			bytes_add(&b, TERM "01 00");
			bytes_add(&b, bits[i]);
			bytes_add(&b, "00 %z", len);
			rig_open(&g, state, NULL);
			raw_fpdu(&g.raw, "%p", b.p, b.len);
			raw_expect_fin(&g.raw);
			expect_event(g.side.conn, RPMA_CONN_LOST);
			bytes_free(&b);
			rig_drop(&g);
		}
}

/* A Terminate that is itself wrong is a wrong message like others. */
static void item_094_terminate_out_of_place(void **state)
{
	static const struct {
		const char *segment;
		const char *triple; /* NULL: taken as it is meant */
		enum term_hdr hdr;
	} cases[] = {
		{ "41 47 00000000 00000000 00000001 00000000 20020000", "12 01", TERM_DDP },
		{ "41 47 00000000 00000002 00000002 00000000 20020000", NULL, TERM_BARE },
		{ "41 47 00000000 00000002 00000000 00000000 20020000", NULL, TERM_BARE },
		{ "41 47 00000000 00000002 00000001 00000004 20020000", "12 04", TERM_DDP },
		{ "01 47 00000000 00000002 00000001 00000000 20020000", "02 ff", TERM_DDP },
		{ "41 47 00000000 00000002 00000001 00000000 200200", "20 03", TERM_BARE },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_fpdu(&g.raw, cases[i].segment);
		if (cases[i].triple) {
			rig_dies(&g, cases[i].triple, cases[i].hdr);
			continue;
		}
		raw_expect_fin(&g.raw);
		expect_event(g.side.conn, RPMA_CONN_LOST);
		rig_drop(&g);
	}
}

/* A Terminate in the receive buffer, a RST behind it, and the library in the middle of
 * sending: it says why it ended. */
static void item_097_reset_while_sending(void **state)
{
	struct rig_opts o = { .size = 24 << 20 };
	struct rpma_mr_remote *far = far_region();
	struct rig g;

	nothing_heard();
	rig_open(&g, state, &o);
	for (uint64_t i = 1; i <= 2; i++)
		assert_ok(rpma_write(g.side.conn, far, 0, g.mem.mr, 0, o.size,
			RPMA_F_COMPLETION_ALWAYS, CTX(i)));
	raw_fpdu(&g.raw, TERM "11 00 00 00");
	raw_reset(&g.raw);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	for (uint64_t i = 1; i <= 2; i++)
		expect_status(&g.side, CTX(i), IBV_WC_WR_FLUSH_ERR);
	expect_no_wc(g.side.cq);
	assert_heard("1/1/00");
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(item_090_layout),
		BOTH(item_090_layout_crc),
		BOTH(item_091_first_error_is_told),
		BOTH(item_092_terminate_received),
		BOTH(item_092_about_the_future),
		BOTH(item_093_truncated_headers),
		BOTH(item_094_terminate_out_of_place),
		BOTH(item_097_reset_while_sending),
	};

	wire_init();
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING);
	return cmocka_run_group_tests_name("wire-terminate", tests, NULL, NULL);
}
