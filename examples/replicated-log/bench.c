/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench rlog|plain COMMITS RECORDS ADDR PORT [ADDR PORT]... -- how long a commit takes
 *
 * Each commit has RECORDS records of 100 bytes and is over when a majority of the
 * servers has it durable: with rlog the servers of this log, with plain as many
 * plain-servers, to which the same bytes are sent at once. The measure script runs it.
 */

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/common.h"
#include "replicated-log/rlog.h"

enum { RECORD = 100, PATIENCE_MS = 30000 };

struct bench {
	struct rlog_address addresses[RLOG_REPLICAS];
	size_t count;
	size_t records;
	struct rlog *log;
	struct pollfd fds[RLOG_REPLICAS];
	size_t owed[RLOG_REPLICAS]; /* acknowledgements that have not come */
	char *batch;
};

static const char data[RECORD] = "a record";

static void rlog_commit_one(struct bench *b)
{
	int err = 0;

	for (size_t i = 0; i < b->records && !err; i++)
		err = rlog_append(b->log, data, RECORD);
	if (!err)
		err = rlog_commit(b->log, PATIENCE_MS);
	if (err)
		quit("bench: %s\n", strerror(err));
}

static void plain_open(struct bench *b)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	int on = 1;

	for (size_t i = 0; i < b->count; i++) {
		if (getaddrinfo(b->addresses[i].addr, b->addresses[i].port, &hints, &ai))
			quit("bench: %s is no address\n", b->addresses[i].addr);
		int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, ai->ai_addr, ai->ai_addrlen))
			quit("bench: %s\n", strerror(errno));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		freeaddrinfo(ai);
		b->fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
}

static size_t up_to_date(const struct bench *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->count; i++)
		n += b->owed[i] == 0;
	return n;
}

static void plain_commit_one(struct bench *b)
{
	uint32_t len = (uint32_t)(b->records * RECORD);
	char acks[64];

	for (size_t i = 0; i < b->count; i++) {
		if (send(b->fds[i].fd, &len, sizeof(len), MSG_MORE) != sizeof(len) ||
			send(b->fds[i].fd, b->batch, len, 0) != (ssize_t)len)
			quit("bench: %s\n", strerror(errno));
		b->owed[i]++;
	}
	while (up_to_date(b) <= b->count / 2) {
		poll(b->fds, b->count, -1);
		for (size_t i = 0; i < b->count; i++)
			if (b->fds[i].revents)
				b->owed[i] -= (size_t)recv(b->fds[i].fd, acks, sizeof(acks), 0);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };

	if (argc < 6 || argc > 4 + 2 * RLOG_REPLICAS || argc % 2)
		quit("usage: bench rlog|plain COMMITS RECORDS ADDR PORT [ADDR PORT]...\n");
	size_t commits = strtoul(argv[2], NULL, 10);
	b.records = strtoul(argv[3], NULL, 10);
	for (int i = 4; i < argc; i += 2)
		b.addresses[b.count++] = (struct rlog_address){ argv[i], argv[i + 1] };
	b.batch = calloc(b.records, RECORD);
	double *took = calloc(commits, sizeof(*took));
	if (!b.batch || !took || !commits)
		quit("bench: nothing to do\n");
	bool rlog = !strcmp(argv[1], "rlog");
	if (!rlog)
		plain_open(&b);
	else if (rlog_open(&b.log, b.addresses, b.count, PATIENCE_MS))
		quit("bench: no log\n");

	double start = seconds(), before = start;
	for (size_t i = 0; i < commits; i++) {
		(rlog ? rlog_commit_one : plain_commit_one)(&b);
		double now = seconds();
		took[i] = now - before;
		before = now;
	}
	qsort(took, commits, sizeof(*took), by_size);
	printf("%-5s %4zu records a commit: median %8.3f ms, 99 %% %8.3f ms, %8.0f records/s\n",
		argv[1], b.records, took[commits / 2] * 1e3, took[commits * 99 / 100] * 1e3,
		(double)(commits * b.records) / (before - start));
	if (b.log)
		rlog_close(b.log);
	return EXIT_SUCCESS;
}
