/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * providers.h -- which provider serves an address or owns a device
 */

#ifndef RPMA_CORE_PROVIDERS_H
#define RPMA_CORE_PROVIDERS_H 1

#include "provider.h"

/* providers.c, and a test's own: the first choice first, NULL ends it. */
extern const struct rp_provider *const core_providers[];

/*
 * select.c: the device for an address, from the provider that RPMA_PROVIDER
 * names; "auto", which is also the default: from the first one that has it.
 * Logs; the result is an RPMA_E_* code.
 */
int core_provider_find(
	const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **context);

/* The device of a context, whoever's it is and whatever RPMA_PROVIDER says.
 * Likewise. */
int core_provider_open(struct ibv_context *context, struct rp_device **dev);

#endif /* RPMA_CORE_PROVIDERS_H */
