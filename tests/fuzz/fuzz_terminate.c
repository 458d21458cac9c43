/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fuzz_terminate.c -- any bytes as a Terminate, and as the segment that one is about */

#include "codec.h"
#include "tcp/iwarp/terminate.h"

static void read_it(const uint8_t *data, size_t size, bool fpdu_mode)
{
	uint8_t *p = exact_copy(data, size);
	struct terminate_info t;

	MUST(terminate_decode(p, size, fpdu_mode, &t) == (size >= 4));
	MUST(t.err < IWARP_ERR_MAX);
	MUST(!t.has_read_req || t.has_ddp);
	free(p);
}

/* Of those without headers these belong to the start-up; later they read as siw's. */
static bool is_of_start_up(enum iwarp_err err)
{
	return err == IWARP_MPA_LOCAL || err == IWARP_MPA_IRD || err == IWARP_MPA_RTR;
}

/* What we say about a segment is understood by us. */
static void about(const uint8_t *data, size_t size, enum iwarp_err err)
{
	uint8_t out[FPDU_TERMINATE_MAX];
	struct terminate_cause c;
	struct terminate_info t;
	struct fpdu f = { 0 };
	size_t len;

	if (!fpdu_get_ddp(data, size, &f))
		return;
	f.ulpdu_len = (uint16_t)size;
	terminate_cause_set(&c, err, &f);
	len = terminate_encode(out, &c);
	MUST(len <= sizeof(out));
	MUST(terminate_decode(
		out + FPDU_UNTAGGED_HDR, len - FPDU_UNTAGGED_HDR, !is_of_start_up(err), &t));
	MUST(t.err == err);
	if (!t.has_ddp)
		return;
	MUST(t.tagged == f.tagged && t.opcode == f.opcode && t.msn == f.msn && t.stag == f.stag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_it(data, size, false);
	read_it(data, size, true);
	if (size > 1 && size <= UINT16_MAX)
		about(data + 1, size - 1, (enum iwarp_err)(1 + data[0] % (IWARP_ERR_MAX - 1)));
	return 0;
}
