/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * stub.h -- what the two halves of the stub share
 */

#ifndef BENCH_STUB_STUB_H
#define BENCH_STUB_STUB_H 1

#include <infiniband/verbs.h>

struct ibv_context *stub_context(void);

#endif /* BENCH_STUB_STUB_H */
