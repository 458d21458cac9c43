/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * ask.h -- the messages by which a client has the server make a range durable
 */

#ifndef EXAMPLES_ASK_H
#define EXAMPLES_ASK_H 1

#include <stdint.h>

/* Both hosts have to be of one byte order; real protocols fix it. */
struct ask {
	uint64_t offset;
	uint64_t len;
};

struct answer {
	int64_t error; /* errno of the server, or 0 */
};

#endif /* EXAMPLES_ASK_H */
