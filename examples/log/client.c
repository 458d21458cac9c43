/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- take the records of the library into one's own hands
 */

#include "common/steps.h"

static const char *const names[] = { "FATAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG" };
static unsigned counts[RPMA_LOG_LEVEL_DEBUG + 1];

/* Called by whatever thread has something to tell, also by several at once. file is
 * NULL in records that name no place. */
__attribute__((format(printf, 5, 6))) static void record(enum rpma_log_level level,
	const char *file, const int line, const char *function, const char *format, ...)
{
	char text[512];
	va_list args;

	__atomic_fetch_add(&counts[level], 1, __ATOMIC_RELAXED);
	if (level > RPMA_LOG_LEVEL_ERROR)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s %s:%d %s: %s", names[level], file ? file : "", line,
		function ? function : "", text);
	printf("client: a record of level %s\n", names[level]);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	must(rpma_log_set_function(record));
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);

	/* More than the queue takes, since no completion is ever taken: the code says
	 * that it failed, the record says why. (A write of nothing needs no memory.) */
	struct rpma_conn *conn = join(peer, argv, NULL);
	int ret = 0;
	for (int i = 0; i < 1000 && !ret; i++)
		ret = rpma_write(conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ON_ERROR, NULL);
	printf("client: %s\n", rpma_err_2str(ret));

	/* NULL: the built-in function again. */
	must(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED));
	printf("client: %u ERROR\n", counts[RPMA_LOG_LEVEL_ERROR]);
	leave(&conn);
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
