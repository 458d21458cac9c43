/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * reader ADDR PORT COUNT -- follow the log at one replica, up to record COUNT
 *
 * The replica takes no part: its state and its records are read from its memory. What
 * this shows is durable there, but it may be the last to be written before a writer
 * dies, and then the next writer may take it back. So when the epoch changes the reader
 * starts again from the first record and shows only what it has not shown; were that
 * different from what it had shown, it would say so.
 */

#include "common/steps.h"
#include "replicated-log/format.h"

struct reader {
	struct rpma_conn *conn;
	struct rpma_mr_remote *src;
	struct rpma_mr_local *header_mr;
	struct rpma_mr_local *log_mr;
	struct rlog_header header;
	char *log;
	uint64_t at; /* next to be looked at */
	uint64_t number;
	uint32_t shown; /* how many, and their sums */
	uint32_t *sums;
};

static void fetch(
	struct reader *r, struct rpma_mr_local *dst, uint64_t to, uint64_t from, size_t len)
{
	must(rpma_read(r->conn, dst, to, r->src, from, len, RPMA_F_COMPLETION_ALWAYS, NULL));
	take(cq_of(r->conn));
}

static void show(struct reader *r, const struct rlog_record *record)
{
	r->number++;
	if (r->number <= r->shown) {
		if (r->sums[r->number] != record->sum)
			quit("reader: record %u was taken back\n", (unsigned)r->number);
		return;
	}
	r->shown++;
	r->sums[r->number] = record->sum;
	printf("%.*s\n", (int)record->len, (const char *)(record + 1));
}

static uint64_t state(struct reader *r)
{
	fetch(r, r->header_mr, 0, 0, sizeof(r->header));
	if (rlog_end(r->header.state) > RLOG_ROOM)
		quit("reader: no log\n");
	return r->header.state;
}

/* Did nobody else begin to write, or the replica cut its log, since the state was old? */
static bool goes_on(uint64_t old, uint64_t new)
{
	return rlog_epoch(old) == rlog_epoch(new) && rlog_end(old) <= rlog_end(new);
}

/* The records before the end of the state were there when it was read, and still are
 * if the state afterwards goes on from it. */
static void follow(struct reader *r, uint32_t count)
{
	uint64_t old = r->header.state, now = state(r), end = rlog_end(now);

	if (!goes_on(old, now))
		r->at = r->number = 0;
	if (end == r->at) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		return;
	}
	fetch(r, r->log_mr, r->at, RLOG_HEADER + r->at, end - r->at);
	if (!goes_on(now, state(r))) {
		r->at = r->number = 0;
		return;
	}
	while (r->shown < count && r->at < end) {
		const struct rlog_record *record =
			rlog_record_at(r->log, r->at, end, r->number + 1);
		if (!record)
			quit("reader: record %u is damaged\n", (unsigned)r->number + 1);
		show(r, record);
		r->at += rlog_record_size(record->len);
	}
}

int main(int argc, char **argv)
{
	struct reader r = { 0 };

	if (argc != 4)
		quit("usage: reader ADDR PORT COUNT\n");
	uint32_t count = (uint32_t)strtoul(argv[3], NULL, 10);
	r.log = calloc(1, RLOG_ROOM);
	r.sums = calloc((size_t)count + 1, sizeof(*r.sums));
	if (!r.log || !r.sums)
		quit("reader: out of memory\n");
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, &r.header, sizeof(r.header), RPMA_MR_USAGE_READ_DST, &r.header_mr));
	must(rpma_mr_reg(peer, r.log, RLOG_ROOM, RPMA_MR_USAGE_READ_DST, &r.log_mr));
	r.conn = join(peer, argv, NULL);
	r.src = described(r.conn);
	while (r.shown < count)
		follow(&r, count);

	must(rpma_mr_remote_delete(&r.src));
	leave(&r.conn);
	must(rpma_mr_dereg(&r.log_mr));
	must(rpma_mr_dereg(&r.header_mr));
	must(rpma_peer_delete(&peer));
	free(r.sums);
	free(r.log);
	return EXIT_SUCCESS;
}
