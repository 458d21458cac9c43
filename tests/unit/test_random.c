/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * test_random.c -- noise and damaged messages through every decoder, at the end of a
 * page: no crash, nothing read outside, and no result that points there
 */

#include "base/bytes.h"
#include "dumps.h"
#include "mpa_frames.h"
#include "support.h"
#include "tcp/iwarp/mpa.h"
#include "tcp/iwarp/terminate.h"

#define ROUNDS 100000

static const char *const fpdus[] = { DUMP_WRITE_RTR, DUMP_READ_RTR, DUMP_WRITE, DUMP_WRITE_FIRST,
	DUMP_WRITE_LAST, DUMP_SEND, DUMP_SEND_SE_INV, DUMP_READ_REQ, DUMP_READ_RESP,
	DUMP_READ_RESP_EMPTY, DUMP_IMM, DUMP_CMP_SWAP, DUMP_ATOMIC_RESP, DUMP_FLUSH_REQ,
	DUMP_FLUSH_RESP, DUMP_TERM_WRITE, DUMP_TERM_READ, DUMP_TERM_CRC, DUMP_TERM_OPCODE };

static void damage(uint8_t *p, size_t len)
{
	for (uint64_t n = rnd_below(4); n > 0 && len > 0; n--)
		p[rnd_below(len)] ^= (uint8_t)(1u << rnd_below(8));
}

/* The getters and the Terminate read what fpdu_decode() has let through. */
static void use(const struct fpdu *f)
{
	struct rdmap_atomic_resp atomic_resp;
	struct rdmap_atomic_req atomic_req;
	struct rdmap_flush_req flush_req;
	struct rdmap_read_req read_req;
	struct terminate_info info;

	switch (f->opcode) {
	case RDMAP_READ_REQ:
		fpdu_get_read_req(f, &read_req);
		break;
	case RDMAP_ATOMIC_REQ:
		fpdu_get_atomic_req(f, &atomic_req);
		assert_true(atomic_req.op < 16);
		break;
	case RDMAP_ATOMIC_RESP:
		fpdu_get_atomic_resp(f, &atomic_resp);
		break;
	case RDMAP_FLUSH_REQ:
		fpdu_get_flush_req(f, &flush_req);
		break;
	case RDMAP_IMM:
	case RDMAP_IMM_SE:
		fpdu_get_imm(f);
		break;
	case RDMAP_TERMINATE:
		assert_true(terminate_decode(f->payload, f->payload_len, true, &info));
		break;
	default:
		break;
	}
}

/* Returns the verdict on the FPDU at p, which ends with its page. */
static enum iwarp_err judge(const uint8_t *p, bool crc)
{
	const uint8_t *end = p + fpdu_wire_size(fpdu_peek_len(p)) - 4;
	uint8_t out[FPDU_TERMINATE_MAX];
	struct terminate_cause cause;
	struct fpdu f;
	enum iwarp_err err = fpdu_decode(p, crc, (unsigned)rnd() & 0xffff, &f);

	assert_in_range(err, IWARP_OK, IWARP_ERR_MAX - 1);
	assert_true(!f.ddp_hdr || f.ddp_hdr == p + 2);
	if (f.ddp_hdr && err != IWARP_MPA_CRC) {
		assert_true(f.payload > p && f.payload + f.payload_len <= end);
		assert_int_equal(f.payload - f.ddp_hdr + f.payload_len, f.ulpdu_len);
	}
	if (err == IWARP_OK) {
		assert_non_null(f.ddp_hdr);
		use(&f);
	}
	terminate_cause_set(&cause, (enum iwarp_err)(1 + rnd_below(IWARP_ERR_MAX - 1)), &f);
	assert_in_range(terminate_encode(out, &cause), 24, FPDU_TERMINATE_MAX);
	return err;
}

/* Noise with the right versions and mostly short, so that it gets past the first
 * checks now and then. */
static void fpdu_noise(void **state)
{
	unsigned passed = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint16_t len = (uint16_t)(i % 1000 ? rnd_below(100) : rnd());
		size_t size = fpdu_wire_size(len);
		uint8_t *p = guard_end(size);

		rnd_fill(p, size < 200 ? size : 200);
		put_be16(p, len);
		if (rnd_below(4)) {
			p[2] = (uint8_t)((p[2] & ~0x03) | 0x01);
			p[3] = (uint8_t)((p[3] & ~0xc0) | 0x40);
		}
		if (size >= 24 && rnd_below(2))
			put_be64(p + 8, rnd_below(4) << 32 | rnd_below(8));
		if (size >= 24 && rnd_below(2))
			put_be32(p + 16, 0);
		passed += judge(p, i % 8 == 0) == IWARP_OK;
	}
	assert_in_range(passed, ROUNDS / 100, ROUNDS / 2);
}

static void fpdu_damaged(void **state)
{
	unsigned passed = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t b[128];
		uint16_t len;
		size_t n = hex(fpdus[rnd_below(COUNT(fpdus))], b, sizeof(b)), size;
		bool crc = rnd_below(2);
		uint8_t *p;

		damage(b, n);
		len = fpdu_peek_len(b);
		size = fpdu_wire_size(len);
		p = guard_end(size);
		memcpy(p, b, n < size ? n : size);
		passed += judge(p, crc) == IWARP_OK;
	}
	assert_in_range(passed, ROUNDS / 100, ROUNDS / 2);
}

static const char *const frames[] = {
	MPA_REQ "10 02 00 04 00 02 00 02",
	MPA_REP "70 02 00 04 00 00 00 00",
	MPA_REQ "40 01 00 02 68 69",
	MPA_REQ "50 02 00 1b 80 10 c0 10 61 62 63" MPA_TRAILER_REQ,
};

/* Decode, and encode what was found: it reads the same again. */
static enum mpa_result judge_frame(const uint8_t *p, size_t len, bool reply)
{
	uint8_t out[MPA_FRAME_MAX];
	struct mpa_frame f, again;
	size_t size, written;
	enum mpa_result result = mpa_decode(p, len, reply, &f, &size);

	if (result != MPA_OK)
		return result;
	assert_in_range(size, MPA_HDR, len);
	assert_true(f.data >= p + MPA_HDR && f.data + f.data_len <= p + size);
	if (f.data_len > MPA_DATA_MAX)
		return result;
	written = mpa_encode(out, &f);
	assert_int_equal(written, size);
	assert_int_equal(mpa_decode(out, written, reply, &again, &size), MPA_OK);
	assert_int_equal(again.enhanced, f.enhanced);
	assert_int_equal(again.has_trailer, f.has_trailer);
	assert_int_equal(again.caps, f.caps);
	assert_int_equal(again.data_len, f.data_len);
	assert_memory_equal(again.data, f.data, f.data_len);
	return result;
}

static void mpa_noise(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		size_t len = rnd_below(MPA_FRAME_MAX + 10);
		uint8_t *p = guard_end(len);
		bool reply = rnd_below(2);

		rnd_fill(p, len);
		if (len >= MPA_HDR && rnd_below(8)) {
			memcpy(p, reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
			p[16] = (uint8_t)rnd();
			p[17] = (uint8_t)(1 + rnd_below(2));
			put_be16(p + 18, (uint16_t)rnd_below(600));
			rnd_fill(p + MPA_HDR, len - MPA_HDR);
		}
		judge_frame(p, len, reply);
	}
}

static void mpa_damaged(void **state)
{
	unsigned passed = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t b[128];
		size_t n = hex(frames[rnd_below(COUNT(frames))], b, sizeof(b));

		damage(b, n);
		n -= rnd_below(4) ? 0 : rnd_below(n);
		passed += judge_frame(guard_copy(b, n), n, rnd_below(2)) == MPA_OK;
	}
	assert_in_range(passed, ROUNDS / 100, ROUNDS);
}

static void terminate_noise(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		size_t len = rnd_below(64);
		uint8_t *p = guard_end(len);
		struct terminate_info t;

		rnd_fill(p, len);
		assert_int_equal(terminate_decode(p, len, rnd_below(2), &t), len >= 4);
		assert_true(t.has_ddp || !t.has_read_req);
		assert_true(t.opcode < RDMAP_OPCODES);
		assert_in_range(t.err, IWARP_OK, IWARP_ERR_MAX - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fpdu_noise),
		cmocka_unit_test(fpdu_damaged),
		cmocka_unit_test(mpa_noise),
		cmocka_unit_test(mpa_damaged),
		cmocka_unit_test(terminate_noise),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
