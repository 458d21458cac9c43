/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * offer.h -- what the server tells the client: its region, and what it declares of
 * itself
 */

#ifndef EXAMPLES_FLUSH_OFFER_H
#define EXAMPLES_FLUSH_OFFER_H 1

#include <stdint.h>

struct offer {
	uint8_t region_len;
	uint8_t self_len;
	uint8_t bytes[30]; /* both descriptors, one behind the other */
};

#endif /* EXAMPLES_FLUSH_OFFER_H */
