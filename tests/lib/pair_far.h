/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_far.h -- another process whose memory can be looked at
 *
 * Like pair_link.h, with two connections. Where the provider registers mapped files
 * (trait any_file) the memory of the other process is one, and target.data is our own
 * mapping of it: what is there can be seen without the library, also while the other
 * process is stopped. Everywhere it can be seen through the second connection, which
 * does nothing but read.
 */

#ifndef TESTS_PAIR_FAR_H
#define TESTS_PAIR_FAR_H 1

#include "pair_child.h"
#include "pair_ops.h"

/* Of the memory on both sides: four parts of this size */
#define FAR_PART ((size_t)16 << 10)
#define FAR_SIZE (4 * FAR_PART)
/* Where receives of the other process land */
#define FAR_INBOX FAR_PART

struct far {
	struct child child;
	struct net net;
	struct side side;     /* direct write to pmem declared */
	struct side observer; /* not declared */
	struct region mem;
	struct region eye;    /* where reads of the observer land */
	struct region target; /* data NULL: not to be seen by mapping */
	int fd;		      /* of the file behind it */
};

void far_open(struct far *f);
void far_close(struct far *f);
/* In whatever state it is, after a test has failed. */
void far_drop(struct far *f);
/* SIGKILL; the file stays for as long as f is open. */
void far_kill(struct far *f);

/* The other process posts a receive into its inbox, and waits for that to complete. */
void far_receive(struct far *f);
void far_take(struct far *f);
/* It sends the first part of its memory. */
void far_send(struct far *f);

/* How often it has called msync() with success, and whether one of those calls after
 * the first n covered this range of the target. For programs that define msync(). */
unsigned far_syncs(const struct far *f);
bool far_synced(const struct far *f, unsigned n, size_t off, size_t len);
void far_record_sync(const void *addr, size_t len);

/* The role of this program that is the other process */
#define FAR_ROLE "far"
int far_be(const char *file);

#endif /* TESTS_PAIR_FAR_H */
