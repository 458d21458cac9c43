/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * hello.h -- how two peers of this library on InfiniBand or RoCE learn of each
 * other what their devices can do
 *
 * A device's own flush and atomic write work only when the device of the other
 * side knows them too, and nothing in the life of a connection tells that. The
 * connection manager always carries a whole field of private data, filled up
 * with zeros behind what the user sends: 56 bytes in a request, 196 in a reply.
 * A peer that has something to tell puts it in the last 8 of these bytes:
 *
 *   magic (4) | capabilities (1) | length of the user's data (1) | 0 (1) | sum (1)
 *
 * The sum makes the 8 bytes add up to 255, modulo 256. A peer that knows nothing
 * of it sees bytes in what it has to take for padding; this library takes it off
 * and so also learns the exact length. When the user's data leave no room, the
 * other side is not told, and does without. iWARP has no such operations and no
 * padding, and nothing is added there.
 *
 * Pure functions.
 */

#ifndef RPMA_VERBS_HELLO_H
#define RPMA_VERBS_HELLO_H 1

#include <stdint.h>

enum {
	HELLO_SIZE = 8,
	HELLO_IN_REQUEST = 56,
	HELLO_IN_REPLY = 196,
	HELLO_DATA_MAX = 255, /* the most that any transport carries */
};

/* Capabilities, on the wire. */
enum {
	HELLO_FLUSH = 1 << 0,
	HELLO_ATOMIC_WRITE = 1 << 1,
};

/* Puts the hello behind the len bytes in data, into the field of that size that
 * data is the start of; returns the new length: field, or len (no room). */
uint8_t hello_put(uint8_t *data, uint8_t len, uint8_t field, uint8_t caps);

/* Looks for it in what came; returns the length without it. *caps is 0 when
 * there is none. */
uint8_t hello_get(const uint8_t *data, uint8_t len, uint8_t *caps);

#endif /* RPMA_VERBS_HELLO_H */
