/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hash.c -- see hash.h
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hash.h"

static void store(XXH128_hash_t value, uint8_t hash[HASH_SIZE])
{
	XXH128_canonical_t bytes;

	XXH128_canonicalFromHash(&bytes, value);
	memcpy(hash, bytes.digest, HASH_SIZE);
}

bool hash_file(int fd, uint64_t offset, uint64_t length, uint8_t hash[HASH_SIZE])
{
	XXH3_state_t *state = XXH3_createState();
	char buf[65536];
	ssize_t n = 1;

	if (!state)
		return false;
	XXH3_128bits_reset(state);
	for (uint64_t done = 0; done < length; done += (uint64_t)n) {
		uint64_t rest = length - done;

		do
			n = pread(fd, buf, rest < sizeof(buf) ? rest : sizeof(buf),
				(off_t)(offset + done));
		while (n < 0 && errno == EINTR);
		if (n <= 0)
			break;
		XXH3_128bits_update(state, buf, (size_t)n);
	}
	store(XXH3_128bits_digest(state), hash);
	XXH3_freeState(state);
	return n > 0;
}

bool hash_memory(const struct mem *m, uint64_t offset, uint64_t length, uint8_t hash[HASH_SIZE])
{
	if (m->fd >= 0 && (!m->path || strncmp(m->path, "/dev/dax", 8)))
		return hash_file(m->fd, offset, length, hash);
	store(XXH3_128bits((const char *)m->ptr + offset, length), hash);
	return true;
}
