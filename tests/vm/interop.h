/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop.h -- connections between two processes that use different providers
 *
 *	near	the test program
 *	far	the same program again, which does what it is told: a line for each
 *		command, a line for its answer (interop_far.c)
 *	line	a connection between the two, with a region at each end
 *
 * Environment
 *   RPMA_INTEROP_NEAR, RPMA_INTEROP_FAR	provider of each, else tcp. Between two
 *		that are tcp RPMA_TCP_CAPS=off makes them strangers.
 *   RPMA_INTEROP_SAY	set: the library's records go to stderr
 *   RPMA_TEST_ADDR	where the server listens, whichever it is
 */

#ifndef TESTS_INTEROP_H
#define TESTS_INTEROP_H 1

#include "pair_child.h"
#include "pair_ops.h"
#include "pair_wait.h"

#define LINE_SIZE ((size_t)1 << 20)

enum { LINES = 2, LINE_REQUESTS = 64, LINE_RECEIVES = 10 };

/* What the sides' private data is filled with */
enum { SEED_NEAR = 1, SEED_FAR = 2 };

struct line {
	struct side side;
	struct region mem; /* near's */
	struct region far; /* the face of far's */
};

struct duo {
	int we; /* near: CLIENT or SERVER */
	struct child far;
	struct net net;	     /* near's */
	char port[PORT_LEN]; /* where the client connects to; the server's at first */
	struct line line[LINES];
};

/* First thing in main; true: this is far, and it has done its work. */
bool duo_init(int argc, char **argv);
bool near_is(const char *provider);
bool far_is(const char *provider);

void duo_open(struct duo *d, int we);
void duo_close(struct duo *d);

/* Both ends, with private data of these lengths. */
void line_connect(struct duo *d, int i, size_t near_len, size_t far_len);
/* The same in two parts: until the event, whatever it is; and what comes behind it
 * when it is ESTABLISHED. The client reads nothing then: what a server sends waits
 * for a client that is siw to be the first. */
struct rpma_conn *line_start(struct duo *d, int i, size_t near_len, size_t far_len);
void line_finish(struct duo *d, int i, struct rpma_conn *conn, size_t near_len, size_t far_len);
/* An orderly end by near; then line_drop(). */
void line_close(struct duo *d, int i);
/* Delete near's end as it is. */
void line_forget(struct duo *d, int i);
/* ... and far's. */
void line_drop(struct duo *d, int i);
/* A request of near, from or to the start of the regions */
struct xfer line_xfer(struct duo *d, int i, size_t len, const void *ctx);
/* Far registers its region anew. */
void line_far_region(struct duo *d, int i, int usage, size_t size);

/* Tell far to do something; its answer starts with a word, the rest is for sscanf. */
#define far_tell(d, ...) assert_true(dprintf((d)->far.in, __VA_ARGS__) > 0)
void far_answer(struct duo *d, const char *word, char answer[CHILD_LINE]);

#define assert_far_filled(d, i, len, seed) check_far((d), (i), (len), (seed), HERE)
void check_far(struct duo *d, int i, size_t len, unsigned seed, const char *where);
void far_fill(struct duo *d, int i, size_t len, unsigned seed);

/* Near's operation (OP_WRITE, OP_READ, OP_SEND) of line 0, then far's; contents are
 * checked. */
void use_both_ways(struct duo *d, int op, unsigned seed);

/* A read of nothing by far */
void far_reads(struct duo *d, int i);

/* The code of the Terminate that was sent or got there last, "1/1/00", say. */
void terminate_near(struct duo *d, char code[CHILD_LINE]);
void terminate_far(struct duo *d, char code[CHILD_LINE]);

/* interop_far.c: the other process */
int far_main(void);
/* Regions of lines have all rights. */
struct side_opts line_opts(const void *data, size_t len);

#define AS(fn, role)                                                                               \
	{                                                                                          \
		.name = #fn "_as_" #role, .test_func = (fn), .initial_state = &role_##role         \
	}
/* near being the client, and the server */
#define BOTH(fn) AS(fn, client), AS(fn, server)
extern int role_client, role_server;
/* In a test: near's role */
#define role_of(state) (*(const int *)*(state))

#endif /* TESTS_INTEROP_H */
