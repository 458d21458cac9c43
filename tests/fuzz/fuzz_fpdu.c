/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fuzz_fpdu.c -- any bytes as an FPDU; what is decoded can be encoded to the same */

#include "codec.h"
#include "tcp/iwarp/fpdu.h"

#define ALL 0xffffu

/* The 18 or 14 bytes of header, without what is reserved */
static void check_header(const struct fpdu *f, const uint8_t *again)
{
	MUST(f->opcode == (again[3] & 0x0f));
	MUST((f->ddp_hdr[0] & 0xc3) == again[2]);
	if (f->tagged)
		MUST(!memcmp(f->ddp_hdr + 2, again + 4, 12));
	else
		MUST(!memcmp(f->ddp_hdr + 6, again + 8, 12));
}

static void check_read_req(const struct fpdu *f)
{
	uint8_t again[FPDU_HDR_MAX];
	struct rdmap_read_req r;

	fpdu_get_read_req(f, &r);
	MUST(fpdu_put_read_req(again, f->msn, &r) == FPDU_READ_REQ_HDR);
	check_header(f, again);
	MUST(!memcmp(f->payload, again + FPDU_UNTAGGED_HDR, f->payload_len));
}

static void check_atomic_req(const struct fpdu *f)
{
	uint8_t again[FPDU_HDR_MAX];
	struct rdmap_atomic_req r;

	fpdu_get_atomic_req(f, &r);
	MUST(fpdu_put_atomic_req(again, f->msn, &r) == FPDU_ATOMIC_REQ_HDR);
	check_header(f, again);
	MUST(!memcmp(f->payload + 4, again + FPDU_UNTAGGED_HDR + 4, f->payload_len - 4));
}

static void check_flush_req(const struct fpdu *f)
{
	uint8_t again[FPDU_HDR_MAX];
	struct rdmap_flush_req r;

	fpdu_get_flush_req(f, &r);
	MUST(fpdu_put_flush_req(again, f->msn, &r) == FPDU_FLUSH_REQ_HDR);
	check_header(f, again);
	MUST(!memcmp(f->payload, again + FPDU_UNTAGGED_HDR, f->payload_len));
}

static void check(const struct fpdu *f)
{
	uint8_t again[FPDU_HDR_MAX];

	switch (f->opcode) {
	case RDMAP_READ_REQ:
		check_read_req(f);
		break;
	case RDMAP_ATOMIC_REQ:
		check_atomic_req(f);
		break;
	case RDMAP_FLUSH_REQ:
		check_flush_req(f);
		break;
	default:
		if (f->tagged)
			fpdu_put_tagged(again, f->opcode, f->last, f->stag, f->to, f->payload_len);
		else
			fpdu_put_untagged(
				again, f->opcode, f->last, f->qn, f->msn, f->mo, f->payload_len);
		check_header(f, again);
		MUST(again[0] << 8 == (f->ulpdu_len & 0xff00) && again[1] == (f->ulpdu_len & 0xff));
	}
}

static void decode(const uint8_t *p, size_t size, unsigned enabled)
{
	struct fpdu f, g;
	enum iwarp_err err = fpdu_decode(p, false, enabled, &f);

	MUST(err < IWARP_ERR_MAX);
	if (err != IWARP_OK)
		return;
	MUST(enabled & RDMAP_BIT(f.opcode));
	MUST(f.payload >= p && f.payload + f.payload_len <= p + size);
	check(&f);
	/* The CRC has no say in what it means, only whether it counts. */
	err = fpdu_decode(p, true, enabled, &g);
	MUST(err == IWARP_MPA_CRC || err == IWARP_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t whole;
	uint8_t *p;

	if (size < 2)
		return 0;
	whole = fpdu_wire_size(fpdu_peek_len(data));
	if (whole > size)
		return 0;
	p = exact_copy(data, whole);
	decode(p, whole, ALL);
	decode(p, whole, RDMAP_SET_BASE);
	free(p);
	return 0;
}
