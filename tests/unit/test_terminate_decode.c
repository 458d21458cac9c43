/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * test_terminate_decode.c -- Terminate messages of others and what they mean: in the
 * layout of the RFCs, of the kernel's siw driver, of adapters
 */

#include "support.h"
#include "tcp/iwarp/terminate.h"
#include "term_headers.h"

/* ---- codes ----------------------------------------------------------------- */

/* Every registered code, also those this library never sends: layer and type as in
 * the first byte of the RFCs, code in the second. */
static const unsigned codes[] = {
	0x0000, 0x0042, 0x00ff,					/* RDMAP, local */
	0x0100, 0x0101, 0x0102, 0x0103, 0x0104, 0x0109, 0x01ff, /* protection */
	0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x02ff,		/* operation */
	0x1000,							/* DDP, local */
	0x1100, 0x1101, 0x1102, 0x1103, 0x1104,			/* tagged */
	0x1201, 0x1202, 0x1203, 0x1204, 0x1205, 0x1206,		/* untagged */
	0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, /* MPA */
};

#define each_code(c) for (const unsigned *c = codes; c < codes + COUNT(codes); c++)

/* The same with the nibbles as siw has them. */
static unsigned swapped(unsigned c)
{
	return (c & 0xf000) >> 4 | (c & 0x0f00) << 4 | (c & 0xff);
}

static bool of_start_up(unsigned c)
{
	return c >= 0x2005;
}

/* *t says what c says, and so does the row it leads to. */
static void assert_code(const struct terminate_info *t, unsigned c)
{
	const struct iwarp_err_info *info = &iwarp_err_info[t->err];
	bool local = c >> 8 == 0; /* any code says the same there */

	assert_int_equal((unsigned)t->layer << 12 | (unsigned)t->etype << 8 | t->code, c);
	if (t->err == IWARP_OK)
		return;
	assert_int_equal(info->layer, t->layer);
	assert_int_equal(info->etype, t->etype);
	assert_true(local || info->code == t->code);
}

static void decode(struct terminate_info *t, unsigned bytes, unsigned hdrct, const char *headers,
	bool fpdu_mode)
{
	uint8_t b[64] = { (uint8_t)(bytes >> 8), (uint8_t)bytes, (uint8_t)hdrct, 0 };
	size_t len = 4 + hex(headers, b + 4, sizeof(b) - 4);

	assert_true(terminate_decode(guard_copy(b, len), len, fpdu_mode, t));
}

/* With header bits there is no doubt about the order. */
static void codes_with_headers(void **state)
{
	(void)state;
	each_code(c)
	{
		struct terminate_info t;

		for (unsigned fpdu_mode = 0; fpdu_mode < 2; fpdu_mode++) {
			decode(&t, *c, 0xc0, "00 13" HDR_WRITE, fpdu_mode);
			assert_code(&t, *c);
			assert_true(t.has_ddp);
			decode(&t, swapped(*c), 0x03, "00 05" HDR_WRITE, fpdu_mode);
			assert_code(&t, *c);
			assert_true(t.has_ddp);
		}
	}
}

static void codes_of_the_rfcs_without_headers(void **state)
{
	(void)state;
	each_code(c)
	{
		struct terminate_info t;

		decode(&t, *c, 0, "", !of_start_up(*c));
		assert_code(&t, *c);
		assert_false(t.has_ddp);
		if (*c >= 0x1000 && *c != 0x2001) /* of RDMAP not all are in our table */
			assert_int_not_equal(t.err, IWARP_OK);
	}
}

/* Those that kernel siw sends bare; the others always have header bits there. */
static void codes_of_siw_without_headers(void **state)
{
	static const unsigned bare[] = { 0x00ff, 0x0205, 0x0206, 0x2002, 0x2003, 0x2004, 0x2006,
		0x2007 };

	(void)state;
	for (size_t i = 0; i < COUNT(bare); i++) {
		struct terminate_info t;

		decode(&t, swapped(bare[i]), 0, "", !of_start_up(bare[i]));
		assert_code(&t, bare[i]);
		assert_int_not_equal(t.err, IWARP_OK);
	}
}

/* The same as siw puts them on the wire. */
static void siw_bytes(void **state)
{
	static const struct {
		unsigned bytes;
		unsigned hdrct;
		bool fpdu_mode;
		enum iwarp_err err;
	} rows[] = {
		{ 0x1100, 0x03, true, IWARP_DDP_T_STAG },
		{ 0x1101, 0x03, true, IWARP_DDP_T_BOUNDS },
		{ 0x1102, 0x03, true, IWARP_DDP_T_STREAM },
		{ 0x2101, 0x03, true, IWARP_DDP_U_QN },
		{ 0x2102, 0x03, true, IWARP_DDP_U_NO_BUFFER },
		{ 0x2103, 0x03, true, IWARP_DDP_U_MSN },
		{ 0x2104, 0x03, true, IWARP_DDP_U_MO },
		{ 0x0100, 0x03, true, IWARP_DDP_LOCAL },
		{ 0x1000, 0x07, true, IWARP_RDMAP_STAG },
		{ 0x1001, 0x07, true, IWARP_RDMAP_BOUNDS },
		{ 0x1003, 0x07, true, IWARP_RDMAP_STREAM },
		{ 0x1009, 0x07, true, IWARP_RDMAP_INVALIDATE },
		{ 0x2005, 0x00, true, IWARP_RDMAP_VERSION },
		{ 0x2006, 0x00, true, IWARP_RDMAP_OPCODE },
		{ 0x2007, 0x03, true, IWARP_RDMAP_CATASTROPHIC },
		{ 0x00ff, 0x00, true, IWARP_RDMAP_LOCAL },
		{ 0x0202, 0x00, true, IWARP_MPA_CRC },
		{ 0x0203, 0x00, true, IWARP_MPA_LENGTH },
		{ 0x0204, 0x00, false, IWARP_MPA_FRAME },
		{ 0x0206, 0x00, false, IWARP_MPA_IRD },
		{ 0x0207, 0x00, false, IWARP_MPA_RTR },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *headers = rows[i].hdrct ? "00 00" HDR_SEND : "";
		struct terminate_info t;

		decode(&t, rows[i].bytes, rows[i].hdrct, headers, rows[i].fpdu_mode);
		assert_int_equal(t.err, rows[i].err);
	}
	each_code(c)
	{
		struct terminate_info t;

		decode(&t, swapped(*c), 0x07, "00 00" HDR_READ READ_REQ, true);
		assert_code(&t, *c);
	}
}

/* Adapters call MPA errors type 3, with headers or without. */
static void adapter_codes(void **state)
{
	(void)state;
	for (unsigned code = 0; code <= 7; code++) {
		struct terminate_info t;

		for (unsigned fpdu_mode = 0; fpdu_mode < 2; fpdu_mode++) {
			decode(&t, 0x2300 | code, 0, "", fpdu_mode);
			assert_code(&t, 0x2000 | code);
			assert_int_equal(t.err == IWARP_OK, code < 2);
			decode(&t, 0x2300 | code, 0xc0, "00 13" HDR_WRITE, fpdu_mode);
			assert_code(&t, 0x2000 | code);
			assert_true(t.has_ddp);
		}
	}
}

static bool is_registered(unsigned c)
{
	each_code(r)
	{
		if (*r == c)
			return true;
	}
	return c >> 8 == 0;
}

/* Which of its two readings a Terminate without headers has. */
static unsigned meaning(unsigned bytes, bool fpdu_mode)
{
	unsigned rfc = bytes, siw = swapped(bytes);
	bool rfc_is_mpa, siw_is_mpa;

	if (rfc >> 8 == 0x23) /* the adapters' */
		rfc -= 0x300;
	if (siw >> 8 == 0x23)
		siw -= 0x300;
	rfc_is_mpa = rfc >> 12 == 2;
	siw_is_mpa = siw >> 12 == 2;
	if (!is_registered(siw))
		return rfc;
	if (!is_registered(rfc))
		return siw;
	if (rfc_is_mpa == siw_is_mpa)
		return rfc;
	return rfc_is_mpa == fpdu_mode ? siw : rfc;
}

static void every_code_without_headers(void **state)
{
	(void)state;
	for (unsigned bytes = 0; bytes <= 0xffff; bytes++) {
		for (unsigned fpdu_mode = 0; fpdu_mode < 2; fpdu_mode++) {
			struct terminate_info t;

			decode(&t, bytes, 0, "", fpdu_mode);
			assert_code(&t, meaning(bytes, fpdu_mode));
		}
	}
}

static void codes_that_nobody_registered(void **state)
{
	static const unsigned unknown[] = { 0x0177, 0x0277, 0x1300, 0x3000, 0x4477, 0xffff };
	struct terminate_info t;

	(void)state;
	for (size_t i = 0; i < COUNT(unknown); i++) {
		decode(&t, unknown[i], 0, "", true);
		assert_code(&t, unknown[i]);
		assert_int_equal(t.err, IWARP_OK);
	}
}

/* ---- headers --------------------------------------------------------------- */

static void headers_of_a_tagged_segment(void **state)
{
	struct terminate_info t;

	(void)state;
	decode(&t, 0x1101, 0xc0, "00 13" HDR_WRITE, true);
	assert_int_equal(t.err, IWARP_DDP_T_BOUNDS);
	assert_true(t.has_ddp && t.tagged);
	assert_int_equal(t.opcode, RDMAP_WRITE);
	assert_int_equal(t.stag, 0xdead0000);
	assert_int_equal(t.to, 0x1000);
	assert_false(t.has_read_req);
}

static void headers_of_an_untagged_segment(void **state)
{
	struct terminate_info t;

	(void)state;
	decode(&t, 0x1202, 0xc0, "00 1a" HDR_SEND, true);
	assert_int_equal(t.err, IWARP_DDP_U_NO_BUFFER);
	assert_true(t.has_ddp);
	assert_false(t.tagged);
	assert_int_equal(t.opcode, RDMAP_SEND);
	assert_int_equal(t.qn, 0);
	assert_int_equal(t.msn, 5);
}

static void assert_read_request(const struct terminate_info *t, uint32_t msn)
{
	assert_true(t->has_ddp);
	assert_int_equal(t->opcode, RDMAP_READ_REQ);
	assert_int_equal(t->qn, 1);
	assert_int_equal(t->msn, msn);
	assert_true(t->has_read_req);
	assert_int_equal(t->read_req.sink_stag, 0x12f400);
	assert_int_equal(t->read_req.sink_to, UINT64_C(0x5500aabbc000));
	assert_int_equal(t->read_req.size, 64);
	assert_int_equal(t->read_req.src_stag, 0xdead0000);
	assert_int_equal(t->read_req.src_to, UINT64_C(0x7f0011223344));
}

static void headers_of_a_read_request(void **state)
{
	struct terminate_info t;

	(void)state;
	decode(&t, 0x0100, 0xe0, "00 2e" HDR_READ READ_REQ, true);
	assert_int_equal(t.err, IWARP_RDMAP_STAG);
	assert_read_request(&t, 7);
	/* siw has a read size where the MSN was */
	decode(&t, 0x1000, 0x07, "00 00" HDR_READ READ_REQ, true);
	assert_int_equal(t.err, IWARP_RDMAP_STAG);
	assert_read_request(&t, 0);
}

/* R is set by some where no Read Request is: nothing is made up then. */
static void read_bit_without_a_read_request(void **state)
{
	struct terminate_info t;

	(void)state;
	decode(&t, 0x1009, 0x07, "00 00" HDR_SEND READ_REQ, true);
	assert_true(t.has_ddp);
	assert_int_equal(t.msn, 5);
	assert_false(t.has_read_req);
	decode(&t, 0x0100, 0xe0, "00 13" HDR_WRITE READ_REQ, true);
	assert_true(t.has_ddp);
	assert_false(t.has_read_req);
	/* R without D: where would it be? */
	decode(&t, 0x0100, 0x20, READ_REQ, true);
	assert_false(t.has_ddp || t.has_read_req);
}

/* For every code and layout: all lengths from nothing to the whole, each at the end
 * of its page, tell what is whole and no more. */
static void assert_truncations(const uint8_t *b, size_t whole, size_t ddp_end, size_t read_end)
{
	for (size_t len = 0; len <= whole; len++) {
		struct terminate_info t;

		memset(&t, 0xff, sizeof(t));
		assert_int_equal(terminate_decode(guard_copy(b, len), len, true, &t), len >= 4);
		if (len < 4)
			assert_int_equal(t.layer | t.etype | t.code | t.err | t.opcode | t.msn, 0);
		assert_int_equal(t.has_ddp, len >= ddp_end);
		assert_int_equal(t.has_read_req, len >= read_end);
	}
}

static void truncated_at_every_length(void **state)
{
	(void)state;
	each_code(c)
	{
		uint8_t b[64] = { (uint8_t)(*c >> 8), (uint8_t)*c, 0xe0 };
		size_t n;

		for (unsigned siw = 0; siw < 2; siw++) {
			n = 4 + hex("00 2e" HDR_READ READ_REQ, b + 4, sizeof(b) - 4);
			assert_int_equal(n, 52);
			assert_truncations(b, n, 24, 52);
			n = 4 + hex("00 13" HDR_WRITE, b + 4, sizeof(b) - 4);
			assert_truncations(b, n, 20, SIZE_MAX);
			n = 4 + hex("00 1a" HDR_SEND, b + 4, sizeof(b) - 4);
			assert_truncations(b, n, 24, SIZE_MAX);
			b[0] = (uint8_t)(swapped(*c) >> 8);
			b[2] = 0x07;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_with_headers),
		cmocka_unit_test(codes_of_the_rfcs_without_headers),
		cmocka_unit_test(codes_of_siw_without_headers),
		cmocka_unit_test(siw_bytes),
		cmocka_unit_test(adapter_codes),
		cmocka_unit_test(every_code_without_headers),
		cmocka_unit_test(codes_that_nobody_registered),
		cmocka_unit_test(headers_of_a_tagged_segment),
		cmocka_unit_test(headers_of_an_untagged_segment),
		cmocka_unit_test(headers_of_a_read_request),
		cmocka_unit_test(read_bit_without_a_read_request),
		cmocka_unit_test(truncated_at_every_length),
	};

	return cmocka_run_group_tests_name("terminate-decode", tests, NULL, NULL);
}
