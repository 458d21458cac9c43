/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * record.h -- what both sides know
 */

#ifndef EXAMPLES_RECORD_H
#define EXAMPLES_RECORD_H 1

enum { RECORDS = 12, GROUP = 4 };

struct record {
	char text[32];
};

#endif /* EXAMPLES_RECORD_H */
