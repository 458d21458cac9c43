/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * select.c -- which provider serves an address
 *
 * RPMA_PROVIDER is read once, so each value is a run of its own: the argument
 * names the tests, the environment has the value.
 */

#include <errno.h>
#include <string.h>

#include "core/providers.h"
#include "rig.h"

/* ---- two providers, by the names of the real ones ----------------------- */

struct half {
	int rc; /* of find and open */
	unsigned finds;
	struct ibv_context context;
	struct rp_device device;
};

static struct half verbs, tcp;

static int find(struct half *half, const char *addr, struct ibv_context **context)
{
	assert_string_equal(addr, "192.0.2.1");
	half->finds++;
	if (!half->rc)
		*context = &half->context;
	return half->rc;
}

static int open_own(struct half *half, const struct ibv_context *context, struct rp_device **dev)
{
	if (context != &half->context)
		return -ENODEV;
	if (!half->rc)
		*dev = &half->device;
	return half->rc;
}

#define HALF(noun)                                                                                 \
	static int noun##_find(const char *addr, enum rpma_util_ibv_context_type type,             \
		int timeout_ms, struct ibv_context **context)                                      \
	{                                                                                          \
		(void)type;                                                                        \
		(void)timeout_ms;                                                                  \
		return find(&noun, addr, context);                                                 \
	}                                                                                          \
                                                                                                   \
	static int noun##_open(struct ibv_context *context, struct rp_device **dev)                \
	{                                                                                          \
		return open_own(&noun, context, dev);                                              \
	}                                                                                          \
                                                                                                   \
	const struct rp_provider rp_provider_##noun = { #noun, noun##_find, noun##_open };

HALF(verbs)
HALF(tcp)

static int up(void **state)
{
	verbs.rc = tcp.rc = 0;
	verbs.finds = tcp.finds = 0;
	verbs.device.caps = RP_CAP_ODP;
	return rig_up(state);
}

static int look(struct ibv_context **context)
{
	*context = POISON;
	return rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, context);
}

/* ---- auto --------------------------------------------------------------- */

static void first_choice(void **state)
{
	struct ibv_context *context;

	(void)state;
	assert_ok(look(&context));
	assert_ptr_equal(context, &verbs.context);
	assert_int_equal(tcp.finds, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 0);
}

static void falls_back(void **state)
{
	struct ibv_context *context;

	(void)state;
	verbs.rc = -ENODEV;
	assert_ok(look(&context));
	assert_ptr_equal(context, &tcp.context);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 1);
	assert_non_null(strstr(rig_log_text(), "192.0.2.1"));
	assert_non_null(strstr(rig_log_text(), "tcp"));
	assert_non_null(strstr(rig_log_text(), "verbs"));
}

/* The address is no good for anybody. */
static void does_not_fall_back(void **state)
{
	struct ibv_context *context;

	(void)state;
	verbs.rc = -EADDRNOTAVAIL;
	assert_int_equal(look(&context), RPMA_E_PROVIDER);
	assert_ptr_equal(context, POISON);
	assert_int_equal(tcp.finds, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_non_null(strstr(rig_log_text(), strerror(EADDRNOTAVAIL)));
}

static void nobody(void **state)
{
	struct ibv_context *context;

	(void)state;
	verbs.rc = tcp.rc = -ENODEV;
	assert_int_equal(look(&context), RPMA_E_PROVIDER);
	assert_ptr_equal(context, POISON);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 0);
}

/* ---- forced ------------------------------------------------------------- */

static void only_tcp(void **state)
{
	struct ibv_context *context;

	(void)state;
	assert_ok(look(&context));
	assert_ptr_equal(context, &tcp.context);
	assert_int_equal(verbs.finds, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 0);
	tcp.rc = -ENODEV;
	assert_int_equal(look(&context), RPMA_E_PROVIDER);
	assert_int_equal(verbs.finds, 0);
}

static void only_verbs(void **state)
{
	struct ibv_context *context;

	(void)state;
	assert_ok(look(&context));
	assert_ptr_equal(context, &verbs.context);
	verbs.rc = -ENODEV;
	assert_int_equal(look(&context), RPMA_E_PROVIDER);
	assert_int_equal(tcp.finds, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
}

static void unknown_name(void **state)
{
	struct ibv_context *context;

	(void)state;
	assert_int_equal(look(&context), RPMA_E_PROVIDER);
	assert_ptr_equal(context, POISON);
	assert_int_equal(verbs.finds + tcp.finds, 0);
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_non_null(strstr(rig_log_text(), "RPMA_PROVIDER"));
}

/* ---- always ------------------------------------------------------------- */

/* A context is its provider's, whoever is to be asked for new ones. */
static void open_by_owner(void **state)
{
	struct ibv_context foreign;
	struct rp_device *dev = POISON;

	(void)state;
	assert_ok(core_provider_open(&verbs.context, &dev));
	assert_ptr_equal(dev, &verbs.device);
	assert_ok(core_provider_open(&tcp.context, &dev));
	assert_ptr_equal(dev, &tcp.device);
	dev = POISON;
	assert_int_equal(core_provider_open(&foreign, &dev), RPMA_E_PROVIDER);
	verbs.rc = -EIO;
	assert_int_equal(core_provider_open(&verbs.context, &dev), RPMA_E_PROVIDER);
	assert_ptr_equal(dev, POISON);
}

#define select_test(f) cmocka_unit_test_setup_teardown(f, up, rig_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest automatic[] = {
		select_test(first_choice),
		select_test(falls_back),
		select_test(does_not_fall_back),
		select_test(nobody),
		select_test(open_by_owner),
	};
	const struct CMUnitTest forced_tcp[] = {
		select_test(only_tcp),
		select_test(open_by_owner),
	};
	const struct CMUnitTest forced_verbs[] = {
		select_test(only_verbs),
		select_test(open_by_owner),
	};
	const struct CMUnitTest unknown[] = {
		select_test(unknown_name),
		select_test(open_by_owner),
	};
	const char *which = argc > 1 ? argv[1] : "auto";

	if (strcmp(which, "tcp") == 0)
		return cmocka_run_group_tests(forced_tcp, NULL, NULL);
	if (strcmp(which, "verbs") == 0)
		return cmocka_run_group_tests(forced_verbs, NULL, NULL);
	if (strcmp(which, "unknown") == 0)
		return cmocka_run_group_tests(unknown, NULL, NULL);
	return cmocka_run_group_tests(automatic, NULL, NULL);
}
