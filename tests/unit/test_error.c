/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_error.c -- the error table, row by row, in the numbers of the RFCs */

#include "support.h"
#include "tcp/iwarp/error.h"

static const struct {
	enum iwarp_err err;
	unsigned triple; /* layer, type, code: four, four, eight bits */
	enum iwarp_term_hdr headers;
} rows[] = {
	{ IWARP_MPA_CRC, 0x2002, IWARP_TERM_NONE },
	{ IWARP_MPA_LENGTH, 0x2003, IWARP_TERM_NONE },
	{ IWARP_MPA_FRAME, 0x2004, IWARP_TERM_NONE },
	{ IWARP_MPA_LOCAL, 0x2005, IWARP_TERM_NONE },
	{ IWARP_MPA_IRD, 0x2006, IWARP_TERM_NONE },
	{ IWARP_MPA_RTR, 0x2007, IWARP_TERM_NONE },
	{ IWARP_DDP_LOCAL, 0x1000, IWARP_TERM_NONE },
	{ IWARP_DDP_T_STAG, 0x1100, IWARP_TERM_DDP },
	{ IWARP_DDP_T_BOUNDS, 0x1101, IWARP_TERM_DDP },
	{ IWARP_DDP_T_STREAM, 0x1102, IWARP_TERM_DDP },
	{ IWARP_DDP_T_WRAP, 0x1103, IWARP_TERM_DDP },
	{ IWARP_DDP_T_VERSION, 0x1104, IWARP_TERM_NONE },
	{ IWARP_DDP_U_QN, 0x1201, IWARP_TERM_DDP },
	{ IWARP_DDP_U_NO_BUFFER, 0x1202, IWARP_TERM_DDP },
	{ IWARP_DDP_U_MSN, 0x1203, IWARP_TERM_DDP },
	{ IWARP_DDP_U_MO, 0x1204, IWARP_TERM_DDP },
	{ IWARP_DDP_U_LENGTH, 0x1205, IWARP_TERM_DDP },
	{ IWARP_DDP_U_VERSION, 0x1206, IWARP_TERM_NONE },
	{ IWARP_RDMAP_LOCAL, 0x00ff, IWARP_TERM_NONE },
	{ IWARP_RDMAP_STAG, 0x0100, IWARP_TERM_DDP_READ },
	{ IWARP_RDMAP_BOUNDS, 0x0101, IWARP_TERM_DDP_READ },
	{ IWARP_RDMAP_ACCESS, 0x0102, IWARP_TERM_DDP_READ },
	{ IWARP_RDMAP_STREAM, 0x0103, IWARP_TERM_DDP_READ },
	{ IWARP_RDMAP_WRAP, 0x0104, IWARP_TERM_DDP_READ },
	{ IWARP_RDMAP_INVALIDATE, 0x0109, IWARP_TERM_DDP },
	{ IWARP_RDMAP_VERSION, 0x0205, IWARP_TERM_NONE },
	{ IWARP_RDMAP_OPCODE, 0x0206, IWARP_TERM_NONE },
	{ IWARP_RDMAP_CATASTROPHIC, 0x0207, IWARP_TERM_DDP },
	{ IWARP_RDMAP_UNSPECIFIED, 0x02ff, IWARP_TERM_DDP },
};

_Static_assert(COUNT(rows) == IWARP_ERR_MAX - 1, "all of them but IWARP_OK");

static void rows_are_as_registered(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct iwarp_err_info *info = &iwarp_err_info[rows[i].err];

		assert_int_equal(rows[i].err, i + 1);
		assert_int_equal(info->layer, rows[i].triple >> 12);
		assert_int_equal(info->etype, rows[i].triple >> 8 & 0xf);
		assert_int_equal(info->code, rows[i].triple & 0xff);
		assert_int_equal(info->headers, rows[i].headers);
	}
}

static void rows_have_words_for_the_log(void **state)
{
	(void)state;
	for (int i = IWARP_OK; i < IWARP_ERR_MAX; i++) {
		const char *text = iwarp_err_info[i].text;

		assert_non_null(text);
		assert_in_range(strlen(text), 5, 60);
		assert_null(strchr(text, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_as_registered),
		cmocka_unit_test(rows_have_words_for_the_log),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
