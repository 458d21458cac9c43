/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * replica.h -- one replica as its writer sees it
 *
 *  AWAY -> JOINING -> ASKING -> ASKED -> CLAIMING -> COMPARING -> CUTTING -> PRESENT
 *    ^ (wait)   |                                      |  ^ \________________^
 *    '----------'--- whatever fails in any state       '--'
 *
 * One thing is under way at a time, and its last request alone is signalled: a
 * completion means that it is done, and replica.c starts the next.
 *
 * Which logs agree: in one epoch there is one writer, which has brought a replica to
 * its own log before it sets its epoch there. So of two states with the same epoch the
 * shorter log is the beginning of the longer one, and only others are compared.
 */

#ifndef RLOG_REPLICA_H
#define RLOG_REPLICA_H 1

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "librpma.h"
#include "replicated-log/format.h"
#include "replicated-log/rlog.h"

enum replica_phase {
	REPLICA_AWAY,	   /* no connection until retry_at */
	REPLICA_JOINING,   /* connecting */
	REPLICA_ASKING,	   /* its header is read */
	REPLICA_ASKED,	   /* known; the writer decides how to go on */
	REPLICA_CLAIMING,  /* our epoch is written as claim */
	REPLICA_COMPARING, /* its log is read back, piece by piece */
	REPLICA_CUTTING,   /* its end is set back to where the logs agree */
	REPLICA_PRESENT,   /* gets all that is new */
};

enum { REPLICA_PIECE = 256 << 10, REPLICA_RETRY_MS = 100 };

/* Read from the replica: its header, or a piece of its log. */
union replica_answer {
	struct rlog_header header;
	char piece[REPLICA_PIECE];
};

struct replica {
	struct rlog *log;
	struct rlog_address address;
	enum replica_phase phase;
	int64_t retry_at; /* ms */
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *mr;
	struct pollfd fds[2]; /* of events and completions */
	union replica_answer *answer;
	struct rpma_mr_local *answer_mr;
	uint64_t claim; /* as it was asked */
	uint64_t state;
	uint64_t same;	 /* the logs agree up to here */
	uint64_t piece;	 /* COMPARING: how much from there is read */
	bool busy;	 /* PRESENT: a push is under way */
	bool current;	 /* PRESENT: its state is of our epoch */
	uint64_t pushed; /* where the push under way ends */
};

/* The log as its writer has it. */
struct rlog {
	struct rpma_peer *peer;
	char *copy; /* the whole log, without header */
	struct rpma_mr_local *copy_mr;
	uint64_t end;
	uint64_t last;	/* number of the last record */
	uint64_t epoch; /* ours; 0: not decided yet */
	uint64_t found; /* state of the log that was taken over */
	size_t claims;	/* replicas that have our claim since they were asked */
	bool opened;	/* by a majority: the epoch is ours alone */
	bool stale;	/* another writer has claimed a later one */
	size_t count;
	struct replica replicas[RLOG_REPLICAS];
};

int64_t replica_now(void); /* ms */
int replica_init(struct replica *r, struct rlog *log, const struct rlog_address *address);
void replica_fini(struct replica *r);
/* Away, if not already; say why. */
void replica_drop(struct replica *r, const char *why);
void replica_join(struct replica *r);
void replica_on_event(struct replica *r);
void replica_on_completion(struct replica *r);
/* ASKED, and our epoch is decided. */
void replica_claim(struct replica *r);
/* PRESENT: start to bring over what is new, if there is any and nothing under way. */
void replica_push(struct replica *r);
/* Read the log up to end into the copy, and wait for it. */
int replica_load(struct replica *r, uint64_t end);

/* Has it all of the log, durably? */
static inline bool replica_has_all(const struct replica *r)
{
	return r->phase == REPLICA_PRESENT && r->current && r->same == r->log->end;
}

#endif /* RLOG_REPLICA_H */
