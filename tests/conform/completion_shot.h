/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * completion_shot.h -- some data on its way, and what is there at one moment
 *
 * New data is sent to another process (pair_far.h), by one request or by one ahead of
 * it. At the moment of that request one thing is looked at; in the end the data has to
 * be there, and no request may have made a completion but those that have to.
 *
 * What is looked at:
 *
 *	local memory	yes: it is changed at this moment, which makes no difference to the
 *			target. no: the request is not over
 *	placed		the bytes, in our own mapping of the memory of the other process
 *	visible		the same, and by a read on another connection
 *	durable		yes: the other process has called msync() for the range, with
 *			success, and its file has the bytes after SIGKILL. no: it has not
 *			called it
 *
 * To show that something is not yet so, the other process is stopped: then nothing can
 * arrive there. A device goes on by itself; there only the end is looked at.
 */

#ifndef TESTS_COMPLETION_SHOT_H
#define TESTS_COMPLETION_SHOT_H 1

#include "pair_far.h"

enum column { LOCAL, PLACED, VISIBLE, DURABLE, COLUMNS };

struct shot {
	enum column column; /* what to look at */
	bool yes;	    /* and what to see */
	bool returned;	    /* when the call has returned; else when op has completed */
	int op;		    /* the request whose moment it is */
	int flags;
	bool ahead;  /* the data goes ahead of op, by carrier, and makes no completion */
	int carrier; /* else the same as op */
	/* the rest is set on the way */
	size_t off; /* of the data in the target */
	size_t len;
	uint64_t seed;
	unsigned receives; /* that the other side has to take */
	unsigned syncs;	   /* before */
	bool stopped;
	char before[FAR_PART]; /* content of the target */
};

/* There for as long as the program runs. */
extern struct far far;

bool shot_is_flush(int op);

void shot_run(struct shot *s);
/* A read, and a receive: the local memory is the target. */
void shot_read(struct shot *s);
void shot_receive(struct shot *s);
/* An operation that the other side would not understand */
void shot_refused(int op);

#endif /* TESTS_COMPLETION_SHOT_H */
