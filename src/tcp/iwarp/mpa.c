/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mpa.c -- the MPA start-up frames and the capability trailer
 */

#include <assert.h>

#include "base/bytes.h"
#include "tcp/iwarp/crc.h"
#include "tcp/iwarp/mpa.h"

enum {
	KEY_SIZE = 16,
	OFF_FLAGS = 16,
	OFF_REVISION = 17,
	OFF_PD_LENGTH = 18,
	/* flags */
	MPA_M = 0x80,
	MPA_C = 0x40,
	MPA_R = 0x20,
	MPA_S = 0x10,
	/* the two words of the enhanced block: two flags, one depth each */
	BLOCK_HIGH = 0x8000, /* A in the first, C in the second */
	BLOCK_LOW = 0x4000,  /* B in the first, D in the second */
	BLOCK_DEPTH = 0x3fff,
	/* trailer */
	TRAILER_VERSION = 1,
	TRAILER_REQUEST = 1,
	TRAILER_REPLY = 2,
	TRAILER_CRC = 16, /* offset, and what it covers */
};

_Static_assert((int)MPA_DEPTH_NONE == (int)BLOCK_DEPTH, "the highest depth means none");

static const char *key_of(bool reply)
{
	return reply ? "MPA ID Rep Frame" : "MPA ID Req Frame";
}

bool mpa_trailer_fits(size_t data_len)
{
	return data_len <= MPA_TRAILER_PD_MAX - MPA_ENHANCED - MPA_TRAILER;
}

/* ---- encode ------------------------------------------------------------- */

static uint16_t block_word(bool high, bool low, uint16_t depth)
{
	return (uint16_t)((high ? BLOCK_HIGH : 0) | (low ? BLOCK_LOW : 0) | (depth & BLOCK_DEPTH));
}

static uint8_t *put_block(uint8_t *p, const struct mpa_frame *f)
{
	bool a = f->peer_to_peer;

	put_be16(p, block_word(a, a && f->rtr_send, f->ird));
	put_be16(p + 2, block_word(a && f->rtr_write, a && f->rtr_read, f->ord));
	return p + MPA_ENHANCED;
}

static uint8_t *put_trailer(uint8_t *p, const struct mpa_frame *f)
{
	put_be64(p, MPA_CAP_MAGIC);
	p[8] = TRAILER_VERSION;
	p[9] = f->reply ? TRAILER_REPLY : TRAILER_REQUEST;
	put_be16(p + 10, f->caps);
	put_be16(p + 12, f->max_ulpdu);
	put_be16(p + 14, 0);
	put_le32(p + TRAILER_CRC, crc32c(0, p, TRAILER_CRC));
	return p + MPA_TRAILER;
}

size_t mpa_encode(uint8_t *out, const struct mpa_frame *f)
{
	uint8_t *p = out + MPA_HDR;

	assert(f->data_len <= MPA_DATA_MAX);
	memcpy(out, key_of(f->reply), KEY_SIZE);
	out[OFF_FLAGS] = (uint8_t)((f->markers ? MPA_M : 0) | (f->crc ? MPA_C : 0) |
				   (f->reply && f->reject ? MPA_R : 0) | (f->enhanced ? MPA_S : 0));
	out[OFF_REVISION] = f->revision;
	if (f->enhanced)
		p = put_block(p, f);
	if (f->data_len > 0)
		memcpy(p, f->data, f->data_len);
	p += f->data_len;
	if (f->has_trailer)
		p = put_trailer(p, f);
	put_be16(out + OFF_PD_LENGTH, (uint16_t)(p - out - MPA_HDR));
	return (size_t)(p - out);
}

/* ---- decode ------------------------------------------------------------- */

/* What is wrong with the first len bytes of a frame, MPA_MORE if they are not yet
 * the whole of it. */
static enum mpa_result check(const uint8_t *p, size_t len, bool reply)
{
	size_t key = len < KEY_SIZE ? len : KEY_SIZE;
	bool may_lack_block;
	uint16_t pd;

	if (key > 0 && memcmp(p, key_of(reply), key) != 0)
		return MPA_E_KEY;
	if (len > OFF_REVISION && p[OFF_REVISION] != 1 && p[OFF_REVISION] != 2)
		return MPA_E_REVISION;
	if (len < MPA_HDR)
		return MPA_MORE;
	pd = get_be16(p + OFF_PD_LENGTH);
	if (pd > MPA_PD_MAX)
		return MPA_E_LENGTH;
	may_lack_block = p[OFF_REVISION] == 1 || !(p[OFF_FLAGS] & MPA_S) ||
			 (reply && (p[OFF_FLAGS] & MPA_R));
	if (pd < MPA_ENHANCED && !may_lack_block)
		return MPA_E_ENHANCED;
	return len - MPA_HDR < pd ? MPA_MORE : MPA_OK;
}

/* Take the enhanced block from the front of the private data. */
static void get_block(struct mpa_frame *f)
{
	uint16_t first = get_be16(f->data);
	uint16_t second = get_be16(f->data + 2);

	f->enhanced = true;
	f->peer_to_peer = first & BLOCK_HIGH;
	if (f->peer_to_peer) {
		f->rtr_send = first & BLOCK_LOW;
		f->rtr_write = second & BLOCK_HIGH;
		f->rtr_read = second & BLOCK_LOW;
	}
	f->ird = first & BLOCK_DEPTH;
	f->ord = second & BLOCK_DEPTH;
	f->data += MPA_ENHANCED;
	f->data_len -= MPA_ENHANCED;
}

/* Take the trailer, if it is one, from the end of the private data. */
static void get_trailer(struct mpa_frame *f)
{
	const uint8_t *t = f->data + f->data_len - MPA_TRAILER;

	if (get_be64(t) != MPA_CAP_MAGIC || t[8] != TRAILER_VERSION ||
		t[9] != (f->reply ? TRAILER_REPLY : TRAILER_REQUEST) ||
		get_le32(t + TRAILER_CRC) != crc32c(0, t, TRAILER_CRC))
		return;
	f->has_trailer = true;
	f->caps = get_be16(t + 10);
	f->max_ulpdu = get_be16(t + 12);
	f->data_len -= MPA_TRAILER;
}

enum mpa_result mpa_decode(
	const uint8_t *p, size_t len, bool reply, struct mpa_frame *out, size_t *size)
{
	enum mpa_result result = check(p, len, reply);
	uint8_t flags;

	if (result != MPA_OK)
		return result;
	flags = p[OFF_FLAGS];
	*out = (struct mpa_frame){
		.reply = reply,
		.revision = p[OFF_REVISION],
		.markers = flags & MPA_M,
		.crc = flags & MPA_C,
		.reject = reply && (flags & MPA_R),
		.data = p + MPA_HDR,
		.data_len = get_be16(p + OFF_PD_LENGTH),
	};
	*size = MPA_HDR + out->data_len;
	if (out->revision == 2 && (flags & MPA_S) && out->data_len >= MPA_ENHANCED)
		get_block(out);
	if (out->data_len >= MPA_TRAILER)
		get_trailer(out);
	return MPA_OK;
}

size_t mpa_missing(const uint8_t *p, size_t len)
{
	return len < MPA_HDR ? MPA_HDR - len : MPA_HDR + (size_t)get_be16(p + 18) - len;
}
