/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * listener.h -- endpoints: accept, keep strangers out, queue requests
 *
 * A connection that was accepted is half open, a stranger, until its MPA request
 * is whole; then it is pending until the application takes it. Strangers are few
 * (RPMA_TCP_HALF_OPEN), have little memory and little time; one too many drops
 * the oldest, so that a flood of them does not keep real clients out.
 *
 * Lock: listener->lock, for the two lists; taken under nothing, before the
 * engine's and the notify's. Whoever takes a half-open connection out of the list
 * owns it; from the list of strangers to that of the pending it goes in one step,
 * so that listener_destroy() finds it in one of them, or sees that it is leaving.
 */

#ifndef RPMA_TCP_LISTENER_H
#define RPMA_TCP_LISTENER_H 1

#include "tcp/conn.h"

/* A host name may stand for several addresses; we listen on all of them. */
struct door {
	struct tcp_listener *listener;
	struct watch watch;
	int fd;
};

struct tcp_listener {
	struct rp_listener base;
	struct notify notify; /* counts pending */
	struct door doors[CONN_ADDRS];
	unsigned n_doors;
	pthread_mutex_t lock;
	struct list half_open; /* oldest first; tcp_conn.node */
	struct list pending;
	unsigned n_half_open;
	unsigned n_pending;
	bool leaving;  /* the engine is destroying one taken out */
	bool attended; /* by a thread that waits ... */
	bool closing;  /* ... which is to go now */
	struct tcp_conn *guest;
	pthread_cond_t left; /* one of leaving and attended is over */
};

/* ---- listener.c ------------------------------------------------------------- */

/* Take one out of the list of strangers. False: somebody else has it. Lock held. */
bool half_open_take(struct tcp_listener *l, struct tcp_conn *c);
/* Put one back that was taken out; the engine watches it. Lock held. */
void half_open_return(struct tcp_listener *l, struct tcp_conn *c);
/* It is no client, for this reason (-errno): log, destroy. */
void turn_away(struct tcp_conn *c, int why);
/* Accept one; it becomes the guest of the thread that attends, or the engine's.
 * 0 or errno. */
int door_accept(struct door *d, bool attended);
/* The system is out of something: try again later. */
void door_rest(struct door *d, int err);
bool out_of_resources(int err);

/* ---- attend.c ---------------------------------------------------------------- */

/* Wait for a request; NULL: one is pending, or it is not to be, or not by this
 * thread. */
struct tcp_conn *attend_doors(struct tcp_listener *l);
/* Make it stop, for good. */
void attend_stop(struct tcp_listener *l);

#endif /* RPMA_TCP_LISTENER_H */
