/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_fpdu.c -- FPDUs as they must be, read and written */

#include "dumps.h"
#include "support.h"
#include "tcp/iwarp/fpdu.h"

#define ALL (RDMAP_SET_BASE | RDMAP_SET_IMM | RDMAP_SET_ATOMIC | RDMAP_SET_FLUSH)
#define TO UINT64_C(0x00007f0011223344)
#define SINK_TO UINT64_C(0x00005500aabbc000)

/* ---- every dump, read and written again ---------------------------------- */

/* The fields of the DDP header; those of the other kind are zero. */
static const struct sample {
	const char *dump;
	struct fpdu want;
} samples[] = {
	{ DUMP_WRITE_RTR, { RDMAP_WRITE, true, true, 14, .stag = 1 } },
	{ DUMP_READ_RTR,
		{ RDMAP_READ_REQ, false, true, 46, .qn = 1, .msn = 1, .payload_len = 28 } },
	{ DUMP_WRITE,
		{ RDMAP_WRITE, true, true, 19, .stag = 0xab3c07, .to = TO, .payload_len = 5 } },
	{ DUMP_WRITE_FIRST, { RDMAP_WRITE, true, false, 26, .stag = 0xab3c07, .to = 0x1000,
				    .payload_len = 12 } },
	{ DUMP_WRITE_LAST,
		{ RDMAP_WRITE, true, true, 22, .stag = 0xab3c07, .to = 0x100c, .payload_len = 8 } },
	{ DUMP_SEND, { RDMAP_SEND, false, true, 26, .msn = 1, .payload_len = 8 } },
	{ DUMP_SEND_SE_INV, { RDMAP_SEND_SE_INV, false, true, 20, .inv_stag = 0xab3c07, .msn = 2,
				    .payload_len = 2 } },
	{ DUMP_READ_REQ,
		{ RDMAP_READ_REQ, false, true, 46, .qn = 1, .msn = 1, .payload_len = 28 } },
	{ DUMP_READ_RESP, { RDMAP_READ_RESP, true, true, 22, .stag = 0x12f400, .to = SINK_TO,
				  .payload_len = 8 } },
	{ DUMP_READ_RESP_EMPTY, { RDMAP_READ_RESP, true, true, 14, .to = 0 } },
	{ DUMP_IMM, { RDMAP_IMM, false, true, 26, .msn = 3, .payload_len = 8 } },
	{ DUMP_CMP_SWAP,
		{ RDMAP_ATOMIC_REQ, false, true, 70, .qn = 1, .msn = 2, .payload_len = 52 } },
	{ DUMP_ATOMIC_RESP,
		{ RDMAP_ATOMIC_RESP, false, true, 30, .qn = 3, .msn = 1, .payload_len = 12 } },
	{ DUMP_FLUSH_REQ,
		{ RDMAP_FLUSH_REQ, false, true, 38, .qn = 1, .msn = 3, .payload_len = 20 } },
	{ DUMP_FLUSH_RESP, { RDMAP_FLUSH_RESP, false, true, 18, .qn = 3, .msn = 2 } },
	{ DUMP_TERM_WRITE,
		{ RDMAP_TERMINATE, false, true, 38, .qn = 2, .msn = 1, .payload_len = 20 } },
	{ DUMP_TERM_READ,
		{ RDMAP_TERMINATE, false, true, 70, .qn = 2, .msn = 1, .payload_len = 52 } },
	{ DUMP_TERM_CRC,
		{ RDMAP_TERMINATE, false, true, 22, .qn = 2, .msn = 1, .payload_len = 4 } },
	{ DUMP_TERM_OPCODE,
		{ RDMAP_TERMINATE, false, true, 22, .qn = 2, .msn = 1, .payload_len = 4 } },
};

static void assert_same(const struct fpdu *f, const struct fpdu *want)
{
	assert_int_equal(f->opcode, want->opcode);
	assert_int_equal(f->tagged, want->tagged);
	assert_int_equal(f->last, want->last);
	assert_int_equal(f->ulpdu_len, want->ulpdu_len);
	assert_int_equal(f->stag, want->stag);
	assert_int_equal(f->to, want->to);
	assert_int_equal(f->inv_stag, want->inv_stag);
	assert_int_equal(f->qn, want->qn);
	assert_int_equal(f->msn, want->msn);
	assert_int_equal(f->mo, want->mo);
	assert_int_equal(f->payload_len, want->payload_len);
}

static void dumps_are_read(void **state)
{
	uint8_t b[128];

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		size_t n = hex(samples[i].dump, b, sizeof(b));
		const uint8_t *p = guard_copy(b, n);
		struct fpdu f;

		assert_int_equal(fpdu_wire_size(fpdu_peek_len(p)), n);
		assert_int_equal(fpdu_decode(p, true, ALL, &f), IWARP_OK);
		assert_same(&f, &samples[i].want);
		assert_ptr_equal(f.ddp_hdr, p + 2);
		assert_ptr_equal(f.payload, p + (f.tagged ? FPDU_TAGGED_HDR : FPDU_UNTAGGED_HDR));
	}
}

static size_t put_ddp(uint8_t *p, const struct fpdu *f)
{
	if (f->tagged)
		return fpdu_put_tagged(p, f->opcode, f->last, f->stag, f->to, f->payload_len);
	return fpdu_put_untagged(p, f->opcode, f->last, f->qn, f->msn, f->mo, f->payload_len);
}

/* Header, payload and trailer as a sender puts them together. */
static void dumps_are_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct fpdu *f = &samples[i].want;
		uint8_t dump[128], out[128];
		size_t len;

		if (f->inv_stag != 0) /* read only: nobody here sends it */
			continue;
		hex(samples[i].dump, dump, sizeof(dump));
		len = put_ddp(out, f);
		memcpy(out + len, dump + len, f->payload_len);
		len += f->payload_len;
		len += fpdu_put_trailer(out + len, out, len, NULL, 0, true);
		assert_hex(out, len, samples[i].dump);
	}
}

/* ---- RDMAP headers, both directions -------------------------------------- */

static void read_dump(const char *dump, struct fpdu *f)
{
	static uint8_t b[128];

	hex(dump, b, sizeof(b));
	assert_int_equal(fpdu_decode(b, true, ALL, f), IWARP_OK);
}

static void assert_message(uint8_t *p, size_t hdr, const char *dump)
{
	assert_hex(p, hdr + fpdu_put_trailer(p + hdr, p, hdr, NULL, 0, true), dump);
}

static void read_request(void **state)
{
	struct rdmap_read_req r;
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	read_dump(DUMP_READ_REQ, &f);
	fpdu_get_read_req(&f, &r);
	assert_int_equal(r.sink_stag, 0x12f400);
	assert_int_equal(r.sink_to, SINK_TO);
	assert_int_equal(r.size, 64);
	assert_int_equal(r.src_stag, 0xab3c07);
	assert_int_equal(r.src_to, TO);
	assert_message(out, fpdu_put_read_req(out, 1, &r), DUMP_READ_REQ);
}

static void read_request_to_be_ready(void **state)
{
	const struct rdmap_read_req r = { .src_stag = 1 };
	uint8_t out[128];

	(void)state;
	assert_message(out, fpdu_put_read_req(out, 1, &r), DUMP_READ_RTR);
}

static void atomic_request(void **state)
{
	struct rdmap_atomic_req r;
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	read_dump(DUMP_CMP_SWAP, &f);
	fpdu_get_atomic_req(&f, &r);
	assert_int_equal(r.op, RDMAP_CMP_SWAP);
	assert_int_equal(r.id, 0x51);
	assert_int_equal(r.stag, 0xab3c07);
	assert_int_equal(r.to, UINT64_C(0x7f0011223340));
	assert_int_equal(r.data, UINT64_C(0x1122334455667788));
	assert_int_equal(r.mask, UINT64_MAX);
	assert_int_equal(r.compare, 0);
	assert_int_equal(r.compare_mask, 0);
	assert_message(out, fpdu_put_atomic_req(out, 2, &r), DUMP_CMP_SWAP);
}

/* The dump has the same bytes in several fields; these have not. */
static void atomic_request_fields_differ(void **state)
{
	const struct rdmap_atomic_req in = { RDMAP_FETCH_ADD, 1, 2, 3, 4, 5, 6, 7 };
	struct rdmap_atomic_req r;
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	assert_int_equal(fpdu_put_atomic_req(out, 9, &in), FPDU_ATOMIC_REQ_HDR);
	out[FPDU_UNTAGGED_HDR] = 0xff; /* reserved bits around the opcode */
	out[FPDU_UNTAGGED_HDR + 3] = 0xf0;
	seal(out);
	assert_int_equal(fpdu_decode(out, true, ALL, &f), IWARP_OK);
	fpdu_get_atomic_req(&f, &r);
	assert_int_equal(r.op, RDMAP_FETCH_ADD);
	assert_int_equal(r.id, 1);
	assert_int_equal(r.stag, 2);
	assert_int_equal(r.to, 3);
	assert_int_equal(r.data, 4);
	assert_int_equal(r.mask, 5);
	assert_int_equal(r.compare, 6);
	assert_int_equal(r.compare_mask, 7);
}

static void atomic_response(void **state)
{
	struct rdmap_atomic_resp r;
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	read_dump(DUMP_ATOMIC_RESP, &f);
	fpdu_get_atomic_resp(&f, &r);
	assert_int_equal(r.id, 0x51);
	assert_int_equal(r.original, 0xdeadbeef);
	assert_message(out, fpdu_put_atomic_resp(out, 1, &r), DUMP_ATOMIC_RESP);
}

static void flush_request_and_response(void **state)
{
	struct rdmap_flush_req r;
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	read_dump(DUMP_FLUSH_REQ, &f);
	fpdu_get_flush_req(&f, &r);
	assert_int_equal(r.stag, 0xab3c07);
	assert_int_equal(r.length, 4096);
	assert_int_equal(r.to, UINT64_C(0x7f0011223000));
	assert_int_equal(r.flags, RDMAP_FLUSH_PERSISTENT);
	assert_message(out, fpdu_put_flush_req(out, 3, &r), DUMP_FLUSH_REQ);
	assert_message(out, fpdu_put_flush_resp(out, 2), DUMP_FLUSH_RESP);
}

static void immediate_data(void **state)
{
	uint8_t out[128];
	struct fpdu f;

	(void)state;
	read_dump(DUMP_IMM, &f);
	assert_int_equal(fpdu_get_imm(&f), 1);
	assert_message(out, fpdu_put_imm(out, 3, 1), DUMP_IMM);
}

/* ---- sizes, pad, CRC ------------------------------------------------------ */

static void wire_sizes(void **state)
{
	(void)state;
	assert_int_equal(fpdu_wire_size(0), 8);
	assert_int_equal(fpdu_wire_size(1), 8);
	assert_int_equal(fpdu_wire_size(2), 8);
	assert_int_equal(fpdu_wire_size(3), 12);
	assert_int_equal(fpdu_wire_size(14), 20);
	assert_int_equal(fpdu_wire_size(FPDU_ULPDU_MAX), FPDU_MAX);
}

/* The payload stays where it is, header and trailer have memory of their own. */
static void check_payload(bool tagged, size_t len)
{
	uint8_t hdr[FPDU_HDR_MAX], data[64], trailer[FPDU_TRAILER_MAX], whole[128];
	size_t h, t, pad = -(2 + (tagged ? 14 : 18) + len) % 4;
	struct fpdu f;
	uint8_t *p;

	rnd_fill(data, sizeof(data));
	h = tagged ? fpdu_put_tagged(hdr, RDMAP_WRITE, true, 7, TO, (uint32_t)len)
		   : fpdu_put_untagged(hdr, RDMAP_SEND, true, DDP_QN_SEND, 1, 0, (uint32_t)len);
	t = fpdu_put_trailer(trailer, hdr, h, data, len, true);
	assert_int_equal(t, pad + 4);
	memcpy(whole, hdr, h);
	memcpy(whole + h, data, len);
	memcpy(whole + h + len, trailer, t);
	assert_memory_equal(trailer, "\0\0\0", pad);
	assert_int_equal(fpdu_peek_len(whole), h - 2 + len);
	assert_int_equal(fpdu_wire_size(fpdu_peek_len(whole)), h + len + t);
	p = guard_copy(whole, h + len + t);
	assert_int_equal(fpdu_decode(p, true, ALL, &f), IWARP_OK);
	assert_int_equal(f.payload_len, len);
	assert_memory_equal(f.payload, data, len);
	seal(whole);
	assert_memory_equal(whole, p, h + len + t);
}

static void payloads_of_0_to_64_bytes(void **state)
{
	(void)state;
	for (size_t len = 0; len <= 64; len++) {
		check_payload(true, len);
		check_payload(false, len);
	}
}

static void longest_fpdu(void **state)
{
	uint8_t *p = guard_end(FPDU_MAX);
	const size_t len = FPDU_ULPDU_MAX - DDP_TAGGED_HDR;
	struct fpdu f;

	(void)state;
	fpdu_put_tagged(p, RDMAP_WRITE, false, 1, 0, (uint32_t)len);
	rnd_fill(p + FPDU_TAGGED_HDR, len);
	fpdu_put_trailer(
		p + FPDU_TAGGED_HDR + len, p, FPDU_TAGGED_HDR, p + FPDU_TAGGED_HDR, len, true);
	assert_int_equal(fpdu_decode(p, true, ALL, &f), IWARP_OK);
	assert_int_equal(f.ulpdu_len, FPDU_ULPDU_MAX);
	assert_int_equal(f.payload_len, len);
}

static void crc_off_writes_zero_and_reads_anything(void **state)
{
	uint8_t b[32];
	struct fpdu f;

	(void)state;
	assert_int_equal(fpdu_put_tagged(b, RDMAP_WRITE, true, 1, 2, 5), 16);
	memcpy(b + 16, "Hello", 5);
	assert_int_equal(fpdu_put_trailer(b + 21, b, 21, NULL, 0, false), 7);
	assert_hex(b + 21, 7, "00 00 00 00 00 00 00");
	memset(b + 21, 0xa5, 7);
	assert_int_equal(fpdu_decode(b, false, ALL, &f), IWARP_OK);
	assert_memory_equal(f.payload, "Hello", 5);
	assert_int_equal(fpdu_decode(b, true, ALL, &f), IWARP_MPA_CRC);
}

static void segments_of_a_message(void **state)
{
	uint8_t b[128];
	struct fpdu f;

	(void)state;
	fpdu_put_untagged(b, RDMAP_SEND_SE, false, DDP_QN_SEND, 0xffffffff, 0xfffffff8, 8);
	memset(b + FPDU_UNTAGGED_HDR, 0, 8);
	seal(b);
	assert_int_equal(fpdu_decode(b, true, ALL, &f), IWARP_OK);
	assert_false(f.last);
	assert_int_equal(f.msn, 0xffffffff);
	assert_int_equal(f.mo, 0xfffffff8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dumps_are_read),
		cmocka_unit_test(dumps_are_written),
		cmocka_unit_test(read_request),
		cmocka_unit_test(read_request_to_be_ready),
		cmocka_unit_test(atomic_request),
		cmocka_unit_test(atomic_request_fields_differ),
		cmocka_unit_test(atomic_response),
		cmocka_unit_test(flush_request_and_response),
		cmocka_unit_test(immediate_data),
		cmocka_unit_test(wire_sizes),
		cmocka_unit_test(payloads_of_0_to_64_bytes),
		cmocka_unit_test(longest_fpdu),
		cmocka_unit_test(crc_off_writes_zero_and_reads_anything),
		cmocka_unit_test(segments_of_a_message),
	};

	return cmocka_run_group_tests_name("fpdu", tests, NULL, NULL);
}
