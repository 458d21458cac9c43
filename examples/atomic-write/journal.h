/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * journal.h -- what both sides know of the memory they share
 *
 * Text is appended behind what is used already, and only then used moves on: who
 * looks at the journal at any moment finds whole entries.
 */

#ifndef EXAMPLES_JOURNAL_H
#define EXAMPLES_JOURNAL_H 1

#include <stdint.h>

struct journal {
	uint64_t used;
	char text[1024 - 8];
};

#endif /* EXAMPLES_JOURNAL_H */
