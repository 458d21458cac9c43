/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fuzz_mpa.c -- any bytes as a start-up frame, in any pieces; what is decoded can be
 * encoded to the same */

#include "codec.h"
#include "tcp/iwarp/mpa.h"

static void check(const struct mpa_frame *f)
{
	uint8_t out[MPA_FRAME_MAX];
	struct mpa_frame g;
	size_t size, again;

	if (f->data_len > MPA_DATA_MAX || (f->has_trailer && !mpa_trailer_fits(f->data_len)))
		return; /* nothing that we would send */
	size = mpa_encode(out, f);
	MUST(size <= sizeof(out));
	MUST(mpa_decode(out, size, f->reply, &g, &again) == MPA_OK && again == size);
	MUST(g.revision == f->revision && g.markers == f->markers && g.crc == f->crc);
	MUST(g.reject == f->reject && g.enhanced == f->enhanced);
	MUST(g.ird == f->ird && g.ord == f->ord);
	MUST(g.peer_to_peer == f->peer_to_peer && g.rtr_send == f->rtr_send);
	MUST(g.rtr_write == f->rtr_write && g.rtr_read == f->rtr_read);
	MUST(g.data_len == f->data_len || !f->has_trailer);
}

/* As the bytes come, never asking for more than the frame has. */
static void in_pieces(const uint8_t *data, size_t size, bool reply)
{
	size_t len = 0, whole = 0;
	struct mpa_frame f;

	for (;;) {
		uint8_t *p = exact_copy(data, len);
		enum mpa_result r = mpa_decode(p, len, reply, &f, &whole);

		if (r == MPA_MORE) {
			size_t more = mpa_missing(p, len);

			MUST(more > 0 && len + more <= MPA_FRAME_MAX);
			free(p);
			len += more > 3 ? more / 2 : more;
			if (len > size)
				return;
			continue;
		}
		if (r == MPA_OK) {
			MUST(whole == len);
			MUST(f.data >= p && f.data + f.data_len <= p + len);
			check(&f);
		}
		free(p);
		return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in_pieces(data, size, false);
	in_pieces(data, size, true);
	return 0;
}
