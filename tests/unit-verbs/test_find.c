/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_find.c -- on a machine without RDMA devices, and with foreign contexts */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "provider.h"
#include "support.h"

static int no_devices(void)
{
	DIR *dir = opendir("/sys/class/infiniband");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n == 0;
}

/* stderr goes into a pipe meanwhile: nothing may come out of it. */
static void nothing_is_found_and_nothing_said(void **state)
{
	int saved = dup(STDERR_FILENO), fds[2];
	struct ibv_context *ctx = NULL;
	char c;

	(void)state;
	if (!no_devices()) {
		print_message("there are RDMA devices\n");
		skip();
	}
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	dup2(fds[1], STDERR_FILENO);
	for (int type = RPMA_UTIL_IBV_CONTEXT_LOCAL; type <= RPMA_UTIL_IBV_CONTEXT_REMOTE; type++)
		assert_int_equal(rp_provider_verbs.find("127.0.0.1", type, 1000, &ctx), -ENODEV);
	dup2(saved, STDERR_FILENO);
	assert_int_equal(read(fds[0], &c, 1), -1);
	assert_null(ctx);
	close(saved);
	close(fds[0]);
	close(fds[1]);
}

static void a_context_of_others_is_refused(void **state)
{
	struct ibv_device device = { .name = "other" };
	struct ibv_context context = { .device = &device };
	struct rp_device *dev = NULL;

	(void)state;
	assert_int_equal(rp_provider_verbs.open(&context, &dev), -ENODEV);
	assert_null(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_and_nothing_said),
		cmocka_unit_test(a_context_of_others_is_refused),
	};

	return cmocka_run_group_tests_name("verbs: find", tests, NULL, NULL);
}
