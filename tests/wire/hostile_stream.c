/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* hostile_stream.c -- peers that were let in and behave badly */

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rig.h"

static void drain(struct raw *r)
{
	uint8_t scrap[65536];

	while (recv(r->fd, scrap, sizeof(scrap), 0) > 0)
		;
}

/* The same FPDU by the thousand, then the end: nothing of it changes memory. */
static void flood(void **state, bool own, const char *format, ...)
{
	struct rig_opts o = { .own = own };
	struct bytes b = { 0 };
	va_list args, again;
	struct rig g;

	rig_open(&g, state, &o);
	va_start(args, format);
	for (int i = 0; i < 5000; i++) {
		va_copy(again, args);
		bytes_fpduv(&b, format, again);
		va_end(again);
	}
	va_end(args);
	raw_send_maybe(&g.raw, b.p, b.len);
	bytes_free(&b);
	shutdown(g.raw.fd, SHUT_WR);
	drain(&g.raw);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	assert_all(g.mem.data, g.mem.size, 0);
	rig_drop(&g);
}

static void floods(void **state)
{
	for (int own = 0; own < 2; own++) {
		flood(state, own, "41 47 00000000 00000002 00000001 00000000 1100e000");
		flood(state, own, "41 47 00000000 00000009 00000001 00000000 ffffffff");
		flood(state, own, "c1 42 72706d61 0000000000000000 deadbeef");
		flood(state, own, "41 4d 00000000 00000003 00000001 00000000");
		flood(state, own,
			"41 4b 00000000 00000003 00000001 00000000 00000001 deadbeefdeadbeef");
		flood(state, own, "c1 40 deadbeef 0000000000001000 deadbeef");
		flood(state, own, "81 42 72706d61 0000000000000000");
	}
}

/* ---- answers to real requests, from somebody who lies -------------------------------- */

/* To each kind of request an answer of each other kind, and one too many. */
static void answers_of_the_wrong_kind(void **state)
{
	static const struct {
		int op; /* 0 read, 1 flush, 2 atomic */
		const char *answer;
		bool malformed; /* and not merely out of place */
	} cases[] = {
		{ 0, "41 4d 00000000 00000003 00000001 00000000", false },
		{ 0, "41 4b 00000000 00000003 00000001 00000000 00000001 deadbeefdeadbeef", false },
		{ 1, "c1 42 72706d61 0000000000000000 deadbeefdeadbeef", false },
		{ 1, "41 4b 00000000 00000003 00000001 00000000 00000001 deadbeefdeadbeef", false },
		{ 2, "c1 42 72706d61 0000000000000000 deadbeefdeadbeef", false },
		{ 2, "41 4d 00000000 00000003 00000001 00000000", false },
		{ 2, "41 4b 00000000 00000003 00000001 00000000 eeeeeeee deadbeefdeadbeef", true },
	};
	struct rpma_mr_remote *far = remote_from((const uint8_t[DESC_SIZE]){
		0, 0x10, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, USAGE_ALL });
	struct rig_opts o = { .own = true };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bytes f;
		struct rig g;
		int ret;

		rig_open(&g, state, &o);
		if (cases[i].op == 0)
			ret = rpma_read(g.side.conn, g.mem.mr, 8, far, 0, 8,
				RPMA_F_COMPLETION_ALWAYS, CTX(1));
		else if (cases[i].op == 1)
			ret = rpma_flush(g.side.conn, far, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
				RPMA_F_COMPLETION_ALWAYS, CTX(1));
		else
			ret = rpma_atomic_write(
				g.side.conn, far, 0, "01234567", RPMA_F_COMPLETION_ALWAYS, CTX(1));
		assert_ok(ret);
		f = raw_read_fpdu(&g.raw);
		bytes_free(&f);
		raw_fpdu(&g.raw, cases[i].answer);
		if (cases[i].malformed)
			raw_expect_term(&g.raw, "02 ff", TERM_DDP);
		else
			raw_expect_term(&g.raw, "02 06", TERM_BARE);
		expect_event(g.side.conn, RPMA_CONN_LOST);
		expect_status(&g.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
		assert_all(g.mem.data, g.mem.size, 0);
		rig_drop(&g);
	}
	assert_ok(rpma_mr_remote_delete(&far));
}

/* An answer that comes when its request is over, and its memory another's. */
static void answer_after_the_end(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct bytes f;
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 8, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	f = raw_read_fpdu(&g.raw);
	raw_fpdu(&g.raw, "c1 40 dead0000 0000000000000000 deadbeef");
	expect_status(&g.side, CTX(1), IBV_WC_WR_FLUSH_ERR);
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000 deadbeefdeadbeef");
	bytes_free(&f);
	f = raw_read_fpdu(&g.raw);
	bytes_free(&f);
	raw_expect_fin(&g.raw);
	expect_event(g.side.conn, RPMA_CONN_LOST);
	assert_all(g.mem.data, g.mem.size, 0);
	assert_ok(rpma_mr_remote_delete(&far));
	rig_drop(&g);
}

/* The sink is given up between request and answer. */
static void answer_without_a_sink(void **state)
{
	struct rpma_mr_remote *far = far_region();
	struct bytes f;
	struct rig g;

	rig_open(&g, state, NULL);
	assert_ok(rpma_read(g.side.conn, g.mem.mr, 0, far, 0, 8, RPMA_F_COMPLETION_ALWAYS, CTX(1)));
	f = raw_read_fpdu(&g.raw);
	bytes_free(&f);
	region_dereg(&g.mem);
	raw_fpdu(&g.raw, "c1 42 72706d61 0000000000000000 deadbeefdeadbeef");
	expect_status(&g.side, CTX(1), IBV_WC_LOC_PROT_ERR);
	rig_dies(&g, "10 00", TERM_BARE);
	assert_ok(rpma_mr_remote_delete(&far));
}

/* ---- numbers at their ends --------------------------------------------------------------- */

static const uint64_t ends[] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000),
	UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX - 7, UINT64_MAX };

/* Every field of these, at every end, with a right CRC. */
static const struct {
	const char *fpdu;
	const char *widths; /* of the fields, in order */
} fields[] = {
	{ "c1 40 %p deadbeef", "48" },
	{ "41 43 %p deadbeef", "4444" },
	{ "41 41 00000000 00000001 00000001 00000000 %p", "48448" },
	{ "41 4a 00000000 00000001 00000001 00000000 %p", "44488888" },
	{ "41 4c 00000000 00000001 00000001 00000000 %p", "4484" },
	{ "41 48 00000000 %p 0000000000000000", "444" },
	{ "41 47 00000000 00000002 00000001 00000000 %p", "22" },
	{ "c1 42 %p deadbeef", "48" },
};

static void put(struct bytes *b, char width, uint64_t value)
{
	if (width == '2')
		bytes_add(b, "%2", (int)(value & 0xffff));
	else if (width == '4')
		bytes_add(b, "%4", (uint32_t)value);
	else
		bytes_add(b, "%8", value);
}

static void field_at_its_ends(void **state, size_t kind, size_t field)
{
	struct rig_opts o = { .own = true };
	size_t n = strlen(fields[kind].widths);

	for (size_t e = 0; e < ARRAY_LEN(ends); e++) {
		struct bytes b = { 0 };
		struct rig g;

		rig_open(&g, state, &o);
		for (size_t i = 0; i < n; i++)
			put(&b, fields[kind].widths[i], i == field ? ends[e] : g.stag);
		raw_fpdu(&g.raw, fields[kind].fpdu, b.p, b.len);
		raw_fin(&g.raw);
		drain(&g.raw);
		expect_end(g.side.conn);
		assert_all(g.mem.data, g.mem.size, 0);
		bytes_free(&b);
		rig_drop(&g);
	}
}

static void numbers_at_their_ends(void **state)
{
	for (size_t kind = 0; kind < ARRAY_LEN(fields); kind++)
		for (size_t field = 0; field < strlen(fields[kind].widths); field++)
			field_at_its_ends(state, kind, field);
}

/* A length that promises more than comes, at every size of the promise. */
static void length_lies(void **state)
{
	for (int len = 1; len < 65536; len = 2 * len + 1) {
		struct rig g;

		rig_open(&g, state, NULL);
		raw_send(&g.raw, "%2 c140 %4 %8", len, g.stag, g.to);
		raw_fin(&g.raw);
		drain(&g.raw);
		expect_event(g.side.conn, RPMA_CONN_LOST);
		assert_all(g.mem.data, g.mem.size, 0);
		rig_drop(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(floods),
		BOTH(answers_of_the_wrong_kind),
		BOTH(answer_after_the_end),
		BOTH(answer_without_a_sink),
		BOTH(numbers_at_their_ends),
		BOTH(length_lies),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-hostile-stream", tests, NULL, NULL);
}
