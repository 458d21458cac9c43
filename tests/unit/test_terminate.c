/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_terminate.c -- Terminate messages that this library sends */

#include "base/bytes.h"
#include "dumps.h"
#include "support.h"
#include "tcp/iwarp/terminate.h"
#include "term_headers.h"

#define ALL (RDMAP_SET_BASE | RDMAP_SET_IMM | RDMAP_SET_ATOMIC | RDMAP_SET_FLUSH)

static void cause_from(struct terminate_cause *c, enum iwarp_err err, const char *fpdu)
{
	static uint8_t b[256];
	struct fpdu f;

	hex(fpdu, b, sizeof(b));
	assert_int_equal(fpdu_decode(b, false, ALL, &f), IWARP_OK);
	terminate_cause_set(c, err, &f);
}

static void assert_encoded(const struct terminate_cause *c, const char *dump)
{
	uint8_t out[FPDU_TERMINATE_MAX + FPDU_TRAILER_MAX];
	size_t len = terminate_encode(out, c);

	assert_true(len <= FPDU_TERMINATE_MAX);
	len += fpdu_put_trailer(out + len, out, len, NULL, 0, true);
	assert_hex(out, len, dump);
}

static void write_to_unknown_stag(void **state)
{
	struct terminate_cause c;

	(void)state;
	cause_from(&c, IWARP_DDP_T_STAG, "00 13" HDR_WRITE "48 65 6c 6c 6f 00 00 00 00 00 00 00");
	assert_encoded(&c, DUMP_TERM_WRITE);
}

static void read_from_unknown_stag(void **state)
{
	struct terminate_cause c;

	(void)state;
	cause_from(&c, IWARP_RDMAP_STAG,
		"00 2e 41 41 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 00" READ_REQ
		"00 00 00 00");
	assert_encoded(&c, DUMP_TERM_READ);
}

static void errors_without_headers(void **state)
{
	struct terminate_cause c;

	(void)state;
	cause_from(&c, IWARP_MPA_CRC, DUMP_READ_REQ);
	assert_encoded(&c, DUMP_TERM_CRC);
	cause_from(&c, IWARP_RDMAP_OPCODE, DUMP_READ_REQ);
	assert_encoded(&c, DUMP_TERM_OPCODE);
	terminate_cause_set(&c, IWARP_MPA_CRC, NULL);
	assert_encoded(&c, DUMP_TERM_CRC);
}

/* A Read that failed half-way tells what was left of it. */
static void read_request_may_be_advanced(void **state)
{
	struct terminate_cause c;
	struct terminate_info t;
	uint8_t out[FPDU_TERMINATE_MAX];
	size_t len;

	(void)state;
	cause_from(&c, IWARP_RDMAP_BOUNDS, DUMP_READ_REQ);
	c.read_req.sink_to += 48;
	c.read_req.src_to += 48;
	c.read_req.size -= 48;
	len = terminate_encode(out, &c);
	assert_int_equal(len, FPDU_TERMINATE_MAX);
	assert_true(terminate_decode(out + 20, len - 20, true, &t));
	assert_true(t.has_read_req);
	assert_int_equal(t.read_req.sink_stag, c.read_req.sink_stag);
	assert_int_equal(t.read_req.sink_to, c.read_req.sink_to);
	assert_int_equal(t.read_req.size, 64 - 48);
	assert_int_equal(t.read_req.src_stag, c.read_req.src_stag);
	assert_int_equal(t.read_req.src_to, c.read_req.src_to);
}

/* No segment, a tagged one, an untagged one, a Read Request: each error takes along
 * what its row says and what there is. */
static void every_error_with_every_segment(void **state)
{
	static const char *const segments[] = { NULL, DUMP_WRITE, DUMP_SEND, DUMP_READ_REQ };
	static const size_t sizes[IWARP_TERM_DDP_READ + 1][COUNT(segments)] = {
		[IWARP_TERM_NONE] = { 24, 24, 24, 24 },
		[IWARP_TERM_DDP] = { 24, 40, 44, 44 },
		[IWARP_TERM_DDP_READ] = { 24, 40, 44, 72 },
	};

	(void)state;
	for (enum iwarp_err err = IWARP_OK + 1; err < IWARP_ERR_MAX; err++) {
		const struct iwarp_err_info *info = &iwarp_err_info[err];
		/* these are of the start-up, which no FPDU of ours came before */
		bool fpdu_mode = info->layer != 2 || info->code < 5;

		for (size_t i = 0; i < COUNT(segments); i++) {
			uint8_t out[FPDU_TERMINATE_MAX + FPDU_TRAILER_MAX];
			struct terminate_cause c;
			struct terminate_info t;
			struct fpdu f;
			size_t len;

			if (segments[i])
				cause_from(&c, err, segments[i]);
			else
				terminate_cause_set(&c, err, NULL);
			len = terminate_encode(out, &c);
			assert_int_equal(len, sizes[info->headers][i]);
			fpdu_put_trailer(out + len, out, len, NULL, 0, true);
			assert_int_equal(fpdu_decode(out, true, RDMAP_SET_BASE, &f), IWARP_OK);
			assert_true(terminate_decode(f.payload, f.payload_len, fpdu_mode, &t));
			assert_int_equal(t.err, err);
			assert_int_equal(t.layer, info->layer);
			assert_int_equal(t.etype, info->etype);
			assert_int_equal(t.code, info->code);
			assert_int_equal(t.has_ddp, len > 24);
			assert_int_equal(t.has_read_req, len == 72);
		}
	}
}

static void cause_of_a_header_that_was_not_read(void **state)
{
	uint8_t b[32] = { 0 };
	struct terminate_cause c;
	struct fpdu f;

	(void)state;
	assert_int_equal(fpdu_decode(b, true, ALL, &f), IWARP_MPA_LENGTH);
	terminate_cause_set(&c, IWARP_RDMAP_UNSPECIFIED, &f);
	assert_int_equal(c.ddp_hdr_len, 0);
	assert_int_equal(terminate_encode(b, &c), 24);
	assert_hex(b + 20, 4, "02 ff 00 00");
}

/* A Read Request cut short has no header to tell. */
static void cause_of_a_short_read_request(void **state)
{
	struct terminate_cause c;
	struct fpdu f;
	uint8_t b[64];

	(void)state;
	hex(DUMP_READ_REQ, b, sizeof(b));
	put_be16(b, 45);
	assert_int_equal(fpdu_decode(b, false, ALL, &f), IWARP_MPA_LENGTH);
	terminate_cause_set(&c, IWARP_RDMAP_STAG, &f);
	assert_int_equal(c.ddp_hdr_len, DDP_UNTAGGED_HDR);
	assert_int_equal(c.ulpdu_len, 45);
	assert_false(c.has_read_req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_to_unknown_stag),
		cmocka_unit_test(read_from_unknown_stag),
		cmocka_unit_test(errors_without_headers),
		cmocka_unit_test(read_request_may_be_advanced),
		cmocka_unit_test(every_error_with_every_segment),
		cmocka_unit_test(cause_of_a_header_that_was_not_read),
		cmocka_unit_test(cause_of_a_short_read_request),
	};

	return cmocka_run_group_tests_name("terminate", tests, NULL, NULL);
}
