/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fake_list.c -- the fake is the only provider
 */

#include "core/providers.h"
#include "fake.h"

const struct rp_provider *const core_providers[] = { &fake_provider, NULL };
