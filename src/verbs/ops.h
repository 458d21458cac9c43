/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * ops.h -- the operations of the verbs provider, provider.c
 */

#ifndef RPMA_VERBS_OPS_H
#define RPMA_VERBS_OPS_H 1

#include "provider.h"

extern const struct rp_ops rv_ops;

#endif /* RPMA_VERBS_OPS_H */
