/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * writer ADDR PORT [ADDR PORT]... -- append the lines of standard input to the log
 *
 * The lines that come together are committed together. "found N": the log has N
 * records to begin with; "durable N": all up to the N-th are at a majority.
 */

#include <poll.h>

#include "common/common.h"
#include "replicated-log/rlog.h"

enum { PATIENCE_MS = 30000, LAST_MS = 1000 };

/* Append the whole lines of buf; what is left of it. */
static size_t append_lines(struct rlog *log, char *buf, size_t len)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
		int err = rlog_append(log, line, (uint32_t)(end - line));
		if (err)
			quit("writer: %s\n", strerror(err));
		line = end + 1;
	}
	len -= (size_t)(line - buf);
	memmove(buf, line, len);
	return len;
}

/* Replicas that come back meanwhile are looked after. */
static void await_input(struct rlog *log)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	while (poll(&in, 1, 20) == 0) {
		int err = rlog_tend(log, 0);
		if (err)
			quit("writer: %s\n", strerror(err));
	}
}

int main(int argc, char **argv)
{
	struct rlog_address replicas[RLOG_REPLICAS];
	static char buf[64 << 10];
	size_t count = 0, len = 0;
	struct rlog *log;
	ssize_t got;

	if (argc < 3 || argc % 2 == 0 || argc > 1 + 2 * RLOG_REPLICAS)
		quit("usage: writer ADDR PORT [ADDR PORT]...\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i += 2)
		replicas[count++] = (struct rlog_address){ argv[i], argv[i + 1] };
	int err = rlog_open(&log, replicas, count, PATIENCE_MS);
	if (err)
		quit("writer: cannot take over the log: %s\n", strerror(err));
	printf("found %llu\n", (unsigned long long)rlog_last(log));

	while (await_input(log), (got = read(STDIN_FILENO, buf + len, sizeof(buf) - len)) > 0) {
		size_t before = rlog_last(log);

		len = append_lines(log, buf, len + (size_t)got);
		if (len == sizeof(buf))
			quit("writer: a line is too long\n");
		if (rlog_last(log) == before)
			continue;
		err = rlog_commit(log, PATIENCE_MS);
		if (err)
			quit("writer: %s\n", strerror(err));
		printf("durable %llu\n", (unsigned long long)rlog_last(log));
	}
	rlog_tend(log, LAST_MS); /* who is behind may get the last records, too */
	rlog_close(log);
	return EXIT_SUCCESS;
}
