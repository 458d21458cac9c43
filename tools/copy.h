/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * copy.h -- a file and a range of exported memory; put.c and get.c are its commands
 *
 * Pieces go through a ring of slots in one registered buffer, which is small enough
 * for a usual limit of locked memory, whatever the size of the file. Slots are used
 * and completed in order. A flush of what was put takes a slot as well, so that it is
 * under way together with the pieces behind it.
 *
 * To resume, both sides hash blocks of the range; those that are equal are left out.
 * So there is no state that could be wrong, and it does not matter why the other
 * blocks differ. What is left out is flushed with the rest.
 */

#ifndef COPY_H
#define COPY_H 1

#include "link.h"

enum {
	COPY_SLOTS = 16,
	COPY_PIECE = 256 * 1024,
	COPY_FLUSH_EVERY = 64 << 20, /* an interrupted copy has to repeat no more */
};

enum copy_flush {
	FLUSH_NONE,
	FLUSH_VISIBILITY,
	FLUSH_PERSISTENT,
	FLUSH_BY_SYNC, /* persistent, by the server: the provider has no flush for it */
};

enum copy_what {
	COPY_PUT,
	COPY_GET,
	COPY_COMPARE, /* with the file */
};

struct copy_slot {
	uint64_t at; /* in the file */
	uint64_t length;
	bool flush;
};

struct copy {
	enum copy_what what;
	const char *file;
	const char *host;
	int fd;
	bool in_order; /* fd is a pipe, perhaps */
	bool quiet;
	struct site site;
	struct link link;
	uint64_t base;	 /* of the range */
	uint64_t size;	 /* of the file, and the range */
	bool *same;	 /* by block: left out; NULL: nothing is */
	uint64_t n_same; /* bytes in these */
	enum copy_flush flush;
	char *buf;
	struct rpma_mr_local *mr;

	/* of one run */
	struct copy_slot slots[COPY_SLOTS];
	unsigned posted;
	unsigned done;
	uint64_t next;	  /* to be posted */
	uint64_t moved;	  /* bytes done, those left out not counted */
	uint64_t flushed; /* up to here flushes are posted */
	uint64_t durable; /* ... and done */
	double started;
	double shown;
};

/* All of them end the program when they fail. */

/* Nothing will be durable there: say why. */
void copy_never_durable(const struct copy *c) __attribute__((noreturn));
void copy_connect(struct copy *c, struct target *t);
void copy_find_same(struct copy *c);
void copy_run(struct copy *c, enum copy_what what);
/* The summary, on f. */
void copy_tell(const struct copy *c, FILE *f, const char *what);
void copy_close(struct copy *c);

#endif /* COPY_H */
