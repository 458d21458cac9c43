/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * select.c -- which provider
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/core.h"
#include "core/providers.h"

/* What RPMA_PROVIDER says; read once, at the first use. */
static struct {
	pthread_once_t once;
	bool automatic;
	const struct rp_provider *forced; /* otherwise; NULL: there is none of that name */
	char name[32];			  /* what was asked for, perhaps cut */
} choice = { .once = PTHREAD_ONCE_INIT };

static void read_choice(void)
{
	const char *name = secure_getenv("RPMA_PROVIDER");

	choice.automatic = !name || !*name || strcmp(name, "auto") == 0;
	if (choice.automatic)
		return;
	snprintf(choice.name, sizeof(choice.name), "%s", name);
	for (size_t i = 0; core_providers[i]; i++) {
		if (strcmp(name, core_providers[i]->name) == 0)
			choice.forced = core_providers[i];
	}
}

static int find_by(const struct rp_provider *provider, const char *addr,
	enum rpma_util_ibv_context_type type, struct ibv_context **context)
{
	return provider->find(addr, type, RPMA_DEFAULT_TIMEOUT_MS, context);
}

/* The first one that has a device for the address. */
static int find_any(
	const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **context)
{
	const struct rp_provider *const *p = core_providers;
	int rc = -ENODEV;

	for (; *p; p++) {
		rc = find_by(*p, addr, type, context);
		if (rc != -ENODEV)
			break;
	}
	if (!rc && p != core_providers)
		rp_log_notice("%s is served by provider %s: no device of provider %s %s it", addr,
			(*p)->name, core_providers[0]->name,
			type == RPMA_UTIL_IBV_CONTEXT_LOCAL ? "owns" : "reaches");
	return rc;
}

int core_provider_find(
	const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **context)
{
	int rc;

	pthread_once(&choice.once, read_choice);
	if (!choice.automatic && !choice.forced) {
		rp_log_error("RPMA_PROVIDER: there is no provider \"%s\"", choice.name);
		return RPMA_E_PROVIDER;
	}

	rc = choice.automatic ? find_any(addr, type, context)
			      : find_by(choice.forced, addr, type, context);
	return core_result(CORE_CALL, rc, "cannot find a device for %s (RPMA_PROVIDER=%s)", addr,
		choice.automatic ? "auto" : choice.name);
}

int core_provider_open(struct ibv_context *context, struct rp_device **dev)
{
	int rc = -ENODEV;

	for (size_t i = 0; core_providers[i] && rc == -ENODEV; i++)
		rc = core_providers[i]->open(context, dev);
	return core_result(CORE_CALL, rc, "cannot open a device");
}
