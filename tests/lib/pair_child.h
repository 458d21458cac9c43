/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_child.h -- the test program run again as another process
 *
 * A child is the same program started with a role as its argument; it talks to
 * its parent in lines, and ends when its standard input does.
 */

#ifndef TESTS_PAIR_CHILD_H
#define TESTS_PAIR_CHILD_H 1

#include <sys/types.h>

#include "pair_check.h"

struct child {
	pid_t pid;
	int in;	 /* its standard input */
	int out; /* its standard output */
	int err; /* its standard error, -1: ours */
};

/* err: catch its standard error, too. */
void child_start(struct child *c, const char *role, const char *arg, bool err);
/* Wait until it says this word; the rest of the line goes to buf. */
#define CHILD_LINE 256
void child_expect(struct child *c, const char *word, char buf[CHILD_LINE]);
/* What comes from a descriptor until its end, as text; false: too much. */
bool child_read_all(int fd, char *buf, size_t size);
/* SIGKILL, unless it has ended; then reap it. */
void child_kill(struct child *c);
/* End of its input, then wait; the exit status must be 0. */
void child_finish(struct child *c);
/* Deliver SIGSTOP or SIGCONT and wait until it has happened. */
void child_stop(struct child *c);
void child_continue(struct child *c);

/* For the child: wait for the end of the input, then exit. */
void child_wait_for_end(void);

#endif /* TESTS_PAIR_CHILD_H */
