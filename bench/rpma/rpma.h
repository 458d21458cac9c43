/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rpma.h -- the benchmarks of the library; arguments are told in rpma.c
 */

#ifndef BENCH_RPMA_RPMA_H
#define BENCH_RPMA_RPMA_H 1

#include "rpma/link.h"

void latency(char **argv);
void idle(char **argv);
void stream(char **argv);
void durable(char **argv);
void registration(char **argv);
void setup(char **argv);
void setup_target(char **argv);

#endif /* BENCH_RPMA_RPMA_H */
