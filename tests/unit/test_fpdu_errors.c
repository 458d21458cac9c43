/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_fpdu_errors.c -- FPDUs as they must not be, and what is found in them */

#include "base/bytes.h"
#include "dumps.h"
#include "support.h"
#include "tcp/iwarp/fpdu.h"

#define ALL (RDMAP_SET_BASE | RDMAP_SET_IMM | RDMAP_SET_ATOMIC | RDMAP_SET_FLUSH)

/* The shape of each opcode's messages, once more and by hand. */
static const struct shape {
	enum rdmap_opcode opcode;
	bool tagged;
	unsigned qn;
	unsigned ulpdu_len; /* the shortest that is right */
	bool exact;	    /* the only one that is right */
	bool single;
	unsigned set;
} shapes[] = {
	{ RDMAP_WRITE, true, 0, 14, false, false, RDMAP_SET_BASE },
	{ RDMAP_READ_REQ, false, 1, 46, true, true, RDMAP_SET_BASE },
	{ RDMAP_READ_RESP, true, 0, 14, false, false, RDMAP_SET_BASE },
	{ RDMAP_SEND, false, 0, 18, false, false, RDMAP_SET_BASE },
	{ RDMAP_SEND_INV, false, 0, 18, false, false, RDMAP_SET_BASE },
	{ RDMAP_SEND_SE, false, 0, 18, false, false, RDMAP_SET_BASE },
	{ RDMAP_SEND_SE_INV, false, 0, 18, false, false, RDMAP_SET_BASE },
	{ RDMAP_TERMINATE, false, 2, 22, false, true, RDMAP_SET_BASE },
	{ RDMAP_IMM, false, 0, 26, true, true, RDMAP_SET_IMM },
	{ RDMAP_IMM_SE, false, 0, 26, true, true, RDMAP_SET_IMM },
	{ RDMAP_ATOMIC_REQ, false, 1, 70, true, true, RDMAP_SET_ATOMIC },
	{ RDMAP_ATOMIC_RESP, false, 3, 30, true, true, RDMAP_SET_ATOMIC },
	{ RDMAP_FLUSH_REQ, false, 1, 38, true, true, RDMAP_SET_FLUSH },
	{ RDMAP_FLUSH_RESP, false, 3, 18, true, true, RDMAP_SET_FLUSH },
};

#define each_shape(s) for (const struct shape *s = shapes; s < shapes + COUNT(shapes); s++)

enum { DDP = 2, RDMAP = 3, QN = 8, MSN = 12, MO = 16 };

/* A right FPDU of the shape at p (256 bytes), but for its CRC. */
static void put_shape(uint8_t *p, const struct shape *s)
{
	memset(p, 0, 256);
	put_be16(p, (uint16_t)s->ulpdu_len);
	p[DDP] = s->tagged ? 0xc1 : 0x41;
	p[RDMAP] = (uint8_t)(0x40 | s->opcode);
	put_be32(p + 4, 0x00ab3c07);
	if (!s->tagged) {
		put_be32(p + QN, s->qn);
		put_be32(p + MSN, 1);
	}
}

/* Give it a good CRC, move it to the end of its page, decode. */
static enum iwarp_err decode(uint8_t *p, unsigned enabled, struct fpdu *f)
{
	return fpdu_decode(guard_copy(p, seal(p)), true, enabled, f);
}

/* ---- length ---------------------------------------------------------------- */

static void too_short_for_a_ddp_header(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	for (unsigned tagged = 0; tagged < 2; tagged++) {
		for (unsigned len = 0; len < (tagged ? 14 : 18); len++) {
			put_shape(b, &shapes[tagged ? RDMAP_WRITE : RDMAP_SEND]);
			put_be16(b, (uint16_t)len);
			assert_int_equal(decode(b, ALL, &f), IWARP_MPA_LENGTH);
			assert_null(f.ddp_hdr);
			assert_int_equal(f.ulpdu_len, len);
		}
	}
}

static void too_short_for_its_opcode(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		put_shape(b, s);
		assert_int_equal(decode(b, ALL, &f), IWARP_OK);
		for (unsigned len = s->tagged ? 14 : 18; len < s->ulpdu_len; len++) {
			put_be16(b, (uint16_t)len);
			assert_int_equal(decode(b, ALL, &f), IWARP_MPA_LENGTH);
			assert_non_null(f.ddp_hdr);
			assert_int_equal(f.opcode, s->opcode);
		}
	}
}

static void too_long_for_its_opcode(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		for (unsigned more = 1; more < 100; more++) {
			put_shape(b, s);
			put_be16(b, (uint16_t)(s->ulpdu_len + more));
			assert_int_equal(
				decode(b, ALL, &f), s->exact ? IWARP_RDMAP_UNSPECIFIED : IWARP_OK);
			assert_non_null(f.ddp_hdr);
		}
	}
}

/* ---- CRC ------------------------------------------------------------------- */

static void any_flipped_bit_breaks_the_crc(void **state)
{
	/* a wrong length leads anywhere in here */
	static uint8_t b[FPDU_MAX];
	size_t n = hex(DUMP_WRITE, b, sizeof(b));
	struct fpdu f;

	(void)state;
	for (size_t bit = 0; bit < n * 8; bit++) {
		enum iwarp_err err;

		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		err = fpdu_decode(b, true, ALL, &f);
		/* A shorter length may not even hold the header. */
		if (err == IWARP_MPA_LENGTH)
			assert_true(bit < 16);
		else
			assert_int_equal(err, IWARP_MPA_CRC);
		assert_null(f.ddp_hdr);
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(fpdu_decode(b, true, ALL, &f), IWARP_OK);
}

static void pad_may_be_anything(void **state)
{
	uint8_t b[64];
	struct fpdu f;

	(void)state;
	hex(DUMP_WRITE, b, sizeof(b));
	memset(b + 21, 0xee, 3);
	put_le32(b + 24, crc_by_bits(0, b, 24));
	assert_int_equal(fpdu_decode(b, true, ALL, &f), IWARP_OK);
	assert_int_equal(f.payload_len, 5);
}

/* ---- control bytes ----------------------------------------------------------- */

static void versions(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		for (unsigned v = 0; v < 4; v++) {
			put_shape(b, s);
			b[DDP] = (uint8_t)((b[DDP] & ~0x03) | v);
			assert_int_equal(decode(b, ALL, &f), v == 1	 ? IWARP_OK
							     : s->tagged ? IWARP_DDP_T_VERSION
									 : IWARP_DDP_U_VERSION);
			put_shape(b, s);
			b[RDMAP] = (uint8_t)((b[RDMAP] & ~0xc0) | v << 6);
			assert_int_equal(
				decode(b, ALL, &f), v == 1 ? IWARP_OK : IWARP_RDMAP_VERSION);
		}
	}
}

static void reserved_bits_are_ignored(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		put_shape(b, s);
		b[DDP] |= 0x3c;
		b[RDMAP] |= 0x30;
		assert_int_equal(decode(b, ALL, &f), IWARP_OK);
		assert_int_equal(f.opcode, s->opcode);
	}
}

static void opcodes_that_are_not_enabled(void **state)
{
	static const unsigned sets[] = { RDMAP_SET_BASE, RDMAP_SET_IMM, RDMAP_SET_ATOMIC,
		RDMAP_SET_FLUSH };
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	for (unsigned mask = 0; mask < 16; mask++) {
		unsigned enabled = 0;

		for (unsigned i = 0; i < 4; i++)
			enabled |= mask & 1u << i ? sets[i] : 0;
		each_shape(s)
		{
			put_shape(b, s);
			assert_int_equal(decode(b, enabled, &f),
				enabled & s->set ? IWARP_OK : IWARP_RDMAP_OPCODE);
			assert_non_null(f.ddp_hdr);
		}
	}
}

static void opcodes_that_do_not_exist(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	for (unsigned opcode = 14; opcode < 16; opcode++) {
		for (unsigned tagged = 0; tagged < 2; tagged++) {
			put_shape(b, &shapes[tagged ? RDMAP_WRITE : RDMAP_SEND]);
			b[RDMAP] = (uint8_t)(0x40 | opcode);
			assert_int_equal(decode(b, ~0u, &f), IWARP_RDMAP_OPCODE);
		}
	}
}

static void t_flag_of_the_other_kind(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		put_shape(b, s);
		put_be16(b, 80);
		b[DDP] ^= 0x80;
		assert_int_equal(decode(b, ALL, &f), IWARP_RDMAP_OPCODE);
		assert_int_equal(f.tagged, !s->tagged);
	}
}

static void queue_of_another_opcode(void **state)
{
	static const uint32_t qns[] = { 0, 1, 2, 3, 4, 0x100, 0x1000000, 0xffffffff };
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		for (size_t i = 0; i < COUNT(qns) && !s->tagged; i++) {
			put_shape(b, s);
			put_be32(b + QN, qns[i]);
			assert_int_equal(
				decode(b, ALL, &f), qns[i] == s->qn ? IWARP_OK : IWARP_DDP_U_QN);
			assert_int_equal(f.qn, qns[i]);
		}
	}
}

static void messages_of_one_segment(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	each_shape(s)
	{
		put_shape(b, s);
		b[DDP] &= (uint8_t)~0x40;
		assert_int_equal(
			decode(b, ALL, &f), s->single ? IWARP_RDMAP_UNSPECIFIED : IWARP_OK);
		assert_false(f.last);
		if (s->tagged)
			continue;
		put_shape(b, s);
		put_be32(b + MO, 0x80000000);
		assert_int_equal(decode(b, ALL, &f), s->single ? IWARP_DDP_U_MO : IWARP_OK);
		assert_int_equal(f.mo, 0x80000000);
	}
}

/* ---- of several errors, the first in the order of the layers ------------------ */

static void first_error_wins(void **state)
{
	uint8_t b[256];
	struct fpdu f;

	(void)state;
	/* Everything is wrong with this Read Request; mend it step by step. */
	put_shape(b, &shapes[RDMAP_READ_REQ]);
	put_be16(b, 13);
	b[DDP] = 0x82;
	b[RDMAP] = 0x8e;
	put_be32(b + QN, 3);
	put_be32(b + MO, 1);
	assert_int_equal(fpdu_decode(b, true, RDMAP_SET_BASE, &f), IWARP_MPA_LENGTH);
	put_be16(b, 45);
	assert_int_equal(fpdu_decode(b, true, RDMAP_SET_BASE, &f), IWARP_MPA_CRC);
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_DDP_T_VERSION);
	b[DDP] = 0x81;
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_RDMAP_VERSION);
	b[RDMAP] = 0x4e;
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_RDMAP_OPCODE);
	b[RDMAP] = 0x41;
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_RDMAP_OPCODE);
	b[DDP] = 0x01;
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_DDP_U_QN);
	put_be32(b + QN, 1);
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_MPA_LENGTH);
	put_be16(b, 46);
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_RDMAP_UNSPECIFIED);
	b[DDP] = 0x41;
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_DDP_U_MO);
	put_be32(b + MO, 0);
	assert_int_equal(decode(b, RDMAP_SET_BASE, &f), IWARP_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_short_for_a_ddp_header),
		cmocka_unit_test(too_short_for_its_opcode),
		cmocka_unit_test(too_long_for_its_opcode),
		cmocka_unit_test(any_flipped_bit_breaks_the_crc),
		cmocka_unit_test(pad_may_be_anything),
		cmocka_unit_test(versions),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(opcodes_that_are_not_enabled),
		cmocka_unit_test(opcodes_that_do_not_exist),
		cmocka_unit_test(t_flag_of_the_other_kind),
		cmocka_unit_test(queue_of_another_opcode),
		cmocka_unit_test(messages_of_one_segment),
		cmocka_unit_test(first_error_wins),
	};

	return cmocka_run_group_tests_name("fpdu-errors", tests, NULL, NULL);
}
