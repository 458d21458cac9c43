/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_access.c -- usage of memory in the terms of verbs, as numbers */

#include "librpma.h"
#include "support.h"
#include "verbs/access.h"

enum {
	LOCAL_WRITE = 0x1,
	REMOTE_WRITE = 0x2,
	REMOTE_READ = 0x4,
	FLUSH_GLOBAL = 0x100,
	FLUSH_PERSISTENT = 0x200,
};

static const struct {
	int usage;
	int ib;
	int iwarp;
	int native; /* InfiniBand, with a flush of the device */
} table[] = {
	{ RPMA_MR_USAGE_READ_SRC, REMOTE_READ, REMOTE_READ, REMOTE_READ },
	{ RPMA_MR_USAGE_READ_DST, LOCAL_WRITE, LOCAL_WRITE | REMOTE_WRITE, LOCAL_WRITE },
	{ RPMA_MR_USAGE_WRITE_SRC, LOCAL_WRITE, LOCAL_WRITE, LOCAL_WRITE },
	{ RPMA_MR_USAGE_WRITE_DST, LOCAL_WRITE | REMOTE_WRITE, LOCAL_WRITE | REMOTE_WRITE,
		LOCAL_WRITE | REMOTE_WRITE },
	{ RPMA_MR_USAGE_SEND, 0, 0, 0 },
	{ RPMA_MR_USAGE_RECV, LOCAL_WRITE, LOCAL_WRITE, LOCAL_WRITE },
	{ RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, REMOTE_READ, REMOTE_READ,
		REMOTE_READ | FLUSH_GLOBAL },
	{ RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, REMOTE_READ, REMOTE_READ,
		REMOTE_READ | FLUSH_PERSISTENT },
};

static void each_usage_has_its_rights(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_int_equal(rv_access(table[i].usage, false, false), table[i].ib);
		assert_int_equal(rv_access(table[i].usage, true, false), table[i].iwarp);
		assert_int_equal(rv_access(table[i].usage, false, true), table[i].native);
	}
}

static void usages_add_up(void **state)
{
	(void)state;
	for (int usage = 0; usage <= 0xff; usage++) {
		int ib = 0, iwarp = 0, native = 0;

		for (size_t i = 0; i < ARRAY_LEN(table); i++) {
			if (!(usage & table[i].usage))
				continue;
			ib |= table[i].ib;
			iwarp |= table[i].iwarp;
			native |= table[i].native;
		}
		assert_int_equal(rv_access(usage, false, false), ib);
		assert_int_equal(rv_access(usage, true, false), iwarp);
		assert_int_equal(rv_access(usage, false, true), native);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_usage_has_its_rights),
		cmocka_unit_test(usages_add_up),
	};

	return cmocka_run_group_tests_name("verbs: access", tests, NULL, NULL);
}
