/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pd.h -- who uses a protection domain: it cannot be freed while somebody does
 */

#ifndef RPMA_TCP_PD_H
#define RPMA_TCP_PD_H 1

#include "provider.h"

void pd_use(struct rp_pd *pd);
void pd_unuse(struct rp_pd *pd);

#endif /* RPMA_TCP_PD_H */
