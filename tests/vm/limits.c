/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * limits.c -- what a real device refuses, how it is told, and that all is well
 * afterwards: addresses without a device, and more memory than may be locked
 *
 * Environment, beside that of pair_env.h
 *   RPMA_LIMITS_OWN	an address of this machine at a network without RDMA device
 */

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair_log.h"
#include "pair_ops.h"
#include "pair_wait.h"

/* ---- what is logged -------------------------------------------------------- */

static char logged[1 << 16];

static void keep(const char *text)
{
	strncat(logged, text, sizeof(logged) - strlen(logged) - 1);
}

/* What users read, for who wants to know. */
static int log_show(void **state)
{
	(void)state;
	print_message("%s", logged);
	logged[0] = '\0';
	return 0;
}

static void log_begin(void)
{
	log_show(NULL);
	log_hear(RPMA_LOG_LEVEL_NOTICE, keep);
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE));
}

static void log_has(const char *words)
{
	if (strstr(logged, words) == NULL)
		fail_msg("\"%s\" is not in the log:\n%s", words, logged);
}

/* ---- addresses ------------------------------------------------------------- */

static void no_device_for(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *ctx = NULL;

	log_begin();
	assert_rpma(RPMA_E_PROVIDER, rpma_utils_get_ibv_context(addr, type, &ctx));
	assert_null(ctx);
	log_has(type == RPMA_UTIL_IBV_CONTEXT_LOCAL ? "no RDMA device owns "
						    : "no RDMA device reaches ");
	log_has(addr);
	log_has("cannot find a device for ");
	log_has("RPMA_PROVIDER=verbs");
}

static void and_yet_there_is_one_for_others(void)
{
	struct pair p;

	pair_open(&p, NULL);
	pair_exchange(&p);
	pair_close(&p);
}

static void address_of_nobody(void **state)
{
	(void)state;
	no_device_for("192.0.2.7", RPMA_UTIL_IBV_CONTEXT_LOCAL);
	no_device_for("192.0.2.7", RPMA_UTIL_IBV_CONTEXT_REMOTE);
	and_yet_there_is_one_for_others();
}

static void address_of_the_loopback(void **state)
{
	(void)state;
	no_device_for("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL);
	no_device_for("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_REMOTE);
	no_device_for("::1", RPMA_UTIL_IBV_CONTEXT_LOCAL);
	and_yet_there_is_one_for_others();
}

static void address_of_another_network(void **state)
{
	const char *own = getenv("RPMA_LIMITS_OWN");

	(void)state;
	if (own == NULL) {
		print_message("RPMA_LIMITS_OWN is not set\n");
		skip();
	}
	no_device_for(own, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	no_device_for(own, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	and_yet_there_is_one_for_others();
}

/* ---- locked memory --------------------------------------------------------- */

#define REGION ((size_t)1 << 20)

/* Root may lock what it likes, by a capability. The kernel takes no requests from who
 * has changed its rights since it opened a device. */
static void as_users_do(void)
{
	struct __user_cap_header_struct who = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	assert_int_equal(syscall(SYS_capget, &who, caps), 0);
	caps[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	assert_int_equal(syscall(SYS_capset, &who, caps), 0);
}

static void lock_at_most(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

static void tells_of_the_limit(const char *bytes)
{
	log_has("the limit is ");
	log_has(bytes);
	log_has("ulimit -l");
}

static void too_large_to_be_locked(void **state)
{
	struct rpma_mr_local *mr = NULL;
	char *memory = calloc(1, REGION);
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	lock_at_most(256 << 10);
	log_begin();
	assert_rpma(RPMA_E_PROVIDER,
		rpma_mr_reg(p.side[CLIENT].peer, memory, REGION, RPMA_MR_USAGE_READ_DST, &mr));
	assert_null(mr);
	tells_of_the_limit("262144");
	log_has("1048576 bytes");
	/* what fits is taken still, and what stands goes on */
	assert_ok(rpma_mr_reg(p.side[CLIENT].peer, memory, 4096, RPMA_MR_USAGE_READ_DST, &mr));
	assert_ok(rpma_mr_dereg(&mr));
	pair_exchange(&p);
	lock_at_most(64 << 20);
	assert_ok(rpma_mr_reg(p.side[CLIENT].peer, memory, REGION, RPMA_MR_USAGE_READ_DST, &mr));
	assert_ok(rpma_mr_dereg(&mr));
	pair_close(&p);
	free(memory);
}

static void nothing_can_be_locked(void **state)
{
	struct ibv_context *ctx = NULL;
	struct rpma_peer *peer = NULL;

	(void)state;
	lock_at_most(0);
	log_begin();
	assert_ok(rpma_utils_get_ibv_context(test_addr(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx));
	assert_rpma(RPMA_E_PROVIDER, rpma_peer_new(ctx, &peer));
	assert_null(peer);
	tells_of_the_limit("limit is 0 ");
	lock_at_most(64 << 20);
	and_yet_there_is_one_for_others();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(address_of_nobody, log_show),
		cmocka_unit_test_teardown(address_of_the_loopback, log_show),
		cmocka_unit_test_teardown(address_of_another_network, log_show),
		cmocka_unit_test_teardown(too_large_to_be_locked, log_show),
		cmocka_unit_test_teardown(nothing_can_be_locked, log_show),
	};

	as_users_do();
	test_init();
	return cmocka_run_group_tests_name("vm-limits", tests, NULL, NULL);
}
