/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * features.h -- what the installed rdma-core and a device can do
 *
 * The only place that knows that rdma-core comes in versions: elsewhere in
 * src/verbs are neither #ifs nor names that not every version has.
 */

#ifndef RPMA_VERBS_FEATURES_H
#define RPMA_VERBS_FEATURES_H 1

#include <stdbool.h>
#include <stdint.h>

#include "provider.h"

/* Not in the headers of every version; values of the kernel's interface. */
enum {
	RV_ACCESS_FLUSH_GLOBAL = 1 << 8,
	RV_ACCESS_FLUSH_PERSISTENT = 1 << 9,
};

struct rv_features {
	unsigned caps;	  /* enum rp_cap */
	uint32_t max_cqe; /* of one completion queue */
};

/*
 * RPMA_VERBS_NATIVE, read at the first use: when the device's own flush and
 * atomic write are used (where there are any)
 */
enum rv_native {
	RV_NATIVE_AUTO,	  /* towards a peer that says it knows them */
	RV_NATIVE_ALWAYS, /* towards every peer, as librpma 1.3 does */
	RV_NATIVE_NEVER,
};

enum rv_native rv_native(void);

int rv_features_query(struct ibv_context *context, struct rv_features *f);

int rv_access_on_demand(void); /* IBV_ACCESS_ON_DEMAND, or 0 */

/* 0 or -errno, -EOPNOTSUPP where it is not known. length: 32 bits, not 0. */
int rv_advise(struct ibv_mr *mr, uint64_t addr, uint32_t length, int advice, uint32_t flags);

/* For a queue pair that is to have caps. */
uint64_t rv_send_ops(unsigned caps);

/* FLUSH or ATOMIC_WRITE, on a queue pair that was made for it. */
int rv_post_native(struct ibv_qp *qp, const struct rp_send_wr *wr);

#endif /* RPMA_VERBS_FEATURES_H */
