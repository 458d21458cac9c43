/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * describe.h -- what kind of memory there is, in words
 */

#ifndef DESCRIBE_H
#define DESCRIBE_H 1

/* spec as for --mem of rpma serve. Changes nothing. */
void describe_memory(const char *spec);

#endif /* DESCRIBE_H */
