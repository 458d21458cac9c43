/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * check FILE... -- recover the log from the files of a majority of its replicas
 *
 * Writes its records, one a line, and to standard error what each file has. Needs no
 * server, and changes nothing. What it says of files that are being written may be wrong.
 */

#include "common/common.h"
#include "replicated-log/format.h"

struct file {
	const char *path;
	struct rlog_header header;
	char *log;
};

static void load(struct file *f, const char *path)
{
	size_t size;
	char *mem = map_source(path, &size);

	if (size < RLOG_HEADER + RLOG_ROOM)
		quit("%s: is no log\n", path);
	f->path = path;
	f->log = mem + RLOG_HEADER;
	memcpy(&f->header, mem, sizeof(f->header));
	if (rlog_end(f->header.state) > RLOG_ROOM)
		quit("%s: has no sensible state\n", path);
}

/* Each file must be in order by itself, whichever will be chosen. */
static uint64_t verify(const struct file *f, FILE *out)
{
	uint64_t number = 0, end = rlog_end(f->header.state);

	for (uint64_t at = 0; at < end; number++) {
		const struct rlog_record *r = rlog_record_at(f->log, at, end, number + 1);
		if (!r)
			quit("%s: record %llu is damaged\n", f->path,
				(unsigned long long)number + 1);
		if (out) {
			fwrite(r + 1, 1, r->len, out);
			fputc('\n', out);
		}
		at += rlog_record_size(r->len);
	}
	return number;
}

int main(int argc, char **argv)
{
	struct file best = { 0 }, f;

	if (argc < 2)
		quit("usage: check FILE...\n");
	for (int i = 1; i < argc; i++) {
		load(&f, argv[i]);
		fprintf(stderr, "%s: epoch %llu, %llu records\n", f.path,
			(unsigned long long)rlog_epoch(f.header.state),
			(unsigned long long)verify(&f, NULL));
		if (i == 1 || f.header.state > best.header.state)
			best = f;
	}
	verify(&best, stdout);
	return EXIT_SUCCESS;
}
