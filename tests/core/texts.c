/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * texts.c -- the strings that programs may compare
 */

#include "rig.h"

static void errors(void **state)
{
	static const struct {
		int ret;
		const char *text;
	} cases[] = {
		{ 0, "Success" },
		{ RPMA_E_UNKNOWN, "Unknown error" },
		{ RPMA_E_NOSUPP, "Not supported" },
		{ RPMA_E_PROVIDER, "Provider error occurred" },
		{ RPMA_E_NOMEM, "Out of memory" },
		{ RPMA_E_INVAL, "Invalid argument" },
		{ RPMA_E_NO_COMPLETION, "No next completion available" },
		{ RPMA_E_NO_EVENT, "No next event available" },
		{ RPMA_E_AGAIN, "Temporary error, try again" },
		{ RPMA_E_SHARED_CHANNEL, "Completion channel is shared" },
		{ RPMA_E_NOT_SHARED_CHNL, "Completion channel is not shared" },
		{ 1, "Unknown error" },
		{ -1, "Unknown error" },
		{ -100010, "Unknown error" },
		{ -99999, "Unknown error" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(rpma_err_2str(cases[i].ret), cases[i].text);
	for (int i = 0; i < 11; i++)
		assert_true(i == 0 || cases[i].ret == -99999 - i);
}

static void conn_events(void **state)
{
	static const char *const texts[] = { "Undefined connection event", "Connection established",
		"Connection closed", "Connection lost", "Connection rejected",
		"Connection unreachable" };

	(void)state;
	for (int i = -1; i <= 4; i++)
		assert_string_equal(rpma_utils_conn_event_2str(i), texts[i + 1]);
	assert_string_equal(rpma_utils_conn_event_2str(-2), "Unsupported connection event");
	assert_string_equal(rpma_utils_conn_event_2str(5), "Unsupported connection event");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(errors),
		rig_test(conn_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
