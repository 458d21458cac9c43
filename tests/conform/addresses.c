/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* addresses.c -- devices by address, and connections over every kind of it */

#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

/* ---- devices ------------------------------------------------------------- */

static void context_of_own_address(void **state)
{
	const enum rpma_util_ibv_context_type types[] = {
		RPMA_UTIL_IBV_CONTEXT_LOCAL,
		RPMA_UTIL_IBV_CONTEXT_REMOTE,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct ibv_context *ctx = NULL;
		int odp = -1;

		assert_ok(rpma_utils_get_ibv_context(test_addr(), types[i], &ctx));
		assert_non_null(ctx);
		assert_non_null(ctx->device);
		assert_true(strlen(ctx->device->name) > 0);
		assert_ok(rpma_utils_ibv_context_is_odp_capable(ctx, &odp));
		assert_true(odp == 0 || odp == 1);
	}
}

/* A label of 64 characters cannot be a host name: no resolver is asked. */
static void context_of_bad_address(void **state)
{
	const char *bad[] = {
		"0123456789012345678901234567890123456789012345678901234567890123",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct ibv_context *ctx = (struct ibv_context *)&bad;

		assert_rpma(RPMA_E_PROVIDER,
			rpma_utils_get_ibv_context(bad[i], RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx));
		assert_rpma(RPMA_E_PROVIDER,
			rpma_utils_get_ibv_context(bad[i], RPMA_UTIL_IBV_CONTEXT_REMOTE, &ctx));
		assert_ptr_equal(ctx, &bad);
	}
}

/* An address of a documentation network is nobody's own. */
static void context_of_foreign_address(void **state)
{
	struct ibv_context *ctx = NULL;

	(void)state;
	assert_rpma(RPMA_E_PROVIDER,
		rpma_utils_get_ibv_context("198.51.100.7", RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx));
	assert_null(ctx);
}

static void context_of_wildcard(void **state)
{
	struct ibv_context *ctx = NULL;

	(void)state;
	if (rpma_utils_get_ibv_context("0.0.0.0", RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx) == 0)
		assert_non_null(ctx);
	else
		assert_null(ctx);
}

static void many_peers_on_one_device(void **state)
{
	struct rpma_peer *peer[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(peer); i++)
		peer[i] = peer_at(test_addr(), RPMA_UTIL_IBV_CONTEXT_LOCAL);
	for (size_t i = 0; i < ARRAY_LEN(peer); i++) {
		assert_ok(rpma_peer_delete(&peer[i]));
		assert_null(peer[i]);
	}
}

/* ---- addresses ----------------------------------------------------------- */

static void connect_over(const char *listen_addr, const char *connect_addr)
{
	struct pair p;
	struct net n;

	net_open_over(&n, listen_addr, connect_addr);
	pair_connect(&p, &n, NULL);
	pair_exchange(&p);
	pair_close(&p);
	net_close(&n);
}

static void over_ipv4(void **state)
{
	(void)state;
	require_trait(any_address);
	connect_over("127.0.0.1", "127.0.0.1");
}

static void over_ipv6(void **state)
{
	(void)state;
	require_trait(any_address);
	connect_over("::1", "::1");
}

static void over_host_name(void **state)
{
	(void)state;
	require_trait(any_address);
	connect_over("localhost", "localhost");
}

static void over_any_ipv4(void **state)
{
	(void)state;
	require_trait(any_address);
	connect_over("0.0.0.0", "127.0.0.1");
}

static void over_any_ipv6(void **state)
{
	(void)state;
	require_trait(any_address);
	connect_over("::", "::1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_of_own_address),
		cmocka_unit_test(context_of_bad_address),
		cmocka_unit_test(context_of_foreign_address),
		cmocka_unit_test(context_of_wildcard),
		cmocka_unit_test(many_peers_on_one_device),
		cmocka_unit_test(over_ipv4),
		cmocka_unit_test(over_ipv6),
		cmocka_unit_test(over_host_name),
		cmocka_unit_test(over_any_ipv4),
		cmocka_unit_test(over_any_ipv6),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-addresses", tests, NULL, NULL);
}
