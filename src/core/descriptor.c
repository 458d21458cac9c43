/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * descriptor.c -- what one side tells the other about its memory and itself
 *
 * A region, 21 bytes, little endian, packed:
 *	0	address		8
 *	8	length		8
 *	16	key		4
 *	20	usage		1
 * A peer, 1 byte: not 0 when it declares direct write to pmem.
 *
 * Both sizes are part of users' own layouts and cannot change.
 */

#include "base/bytes.h"
#include "core/core.h"

enum {
	ADDR = 0,
	LENGTH = 8,
	KEY = 16,
	USAGE = 20,
};

_Static_assert(USAGE + 1 == CORE_MR_DESC_SIZE, "the last field ends the descriptor");

void core_mr_desc_encode(void *desc, const struct rpma_mr_remote *mr)
{
	uint8_t *p = desc;

	put_le64(p + ADDR, mr->addr);
	put_le64(p + LENGTH, mr->size);
	put_le32(p + KEY, mr->rkey);
	p[USAGE] = mr->usage;
}

void core_mr_desc_decode(const void *desc, struct rpma_mr_remote *mr)
{
	const uint8_t *p = desc;

	mr->addr = get_le64(p + ADDR);
	mr->size = get_le64(p + LENGTH);
	mr->rkey = get_le32(p + KEY);
	mr->usage = p[USAGE];
}

void core_peer_cfg_desc_encode(void *desc, bool direct_write_to_pmem)
{
	*(uint8_t *)desc = direct_write_to_pmem;
}

bool core_peer_cfg_desc_decode(const void *desc)
{
	return *(const uint8_t *)desc != 0;
}
