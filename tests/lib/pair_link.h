/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_link.h -- a connection to another process
 *
 * The other process is this program again, which does link_be(role, argument)
 * when it has arguments: it connects or listens, hands over a region as private
 * data, and does nothing more until its standard input ends.
 */

#ifndef TESTS_PAIR_LINK_H
#define TESTS_PAIR_LINK_H 1

#include "pair_child.h"
#include "pair_ops.h"

/* Of the regions on both sides */
#define LINK_SIZE ((size_t)1 << 20)

/* A connection to another process, and the face of its region */
struct link {
	struct child child;
	struct net net;
	struct side side;
	struct region mem;
	struct region far;
};

/* we: CLIENT or SERVER, the other process is the other one. */
void link_open(struct link *l, int we);
/* Also when the connection or the process has ended already. */
void link_close(struct link *l);
/* A request between the whole of both regions */
void link_post(struct link *l, const struct op *op, uint64_t ctx);

/* Roles: "client" port, "connecting" port (says so before it is connected), "server" */
int link_be(const char *role, const char *arg);

#endif /* TESTS_PAIR_LINK_H */
