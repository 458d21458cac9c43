/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * providers.c -- the list of providers, the one place that knows them all
 */

#include "core/providers.h"

const struct rp_provider *const core_providers[] = {
	&rp_provider_verbs,
	&rp_provider_tcp,
	NULL,
};
