/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * pair_env.h -- where a conformance test runs: provider, address, time
 *
 * Environment
 *   RPMA_TEST_PROVIDER	the provider under test, else RPMA_PROVIDER, else tcp
 *   RPMA_TEST_ADDR	the address to listen on and to connect to, else 127.0.0.1
 *   RPMA_TEST_TIMEOUT_MS	how long one wait may take, else 20000
 *   RPMA_TEST_SHORTER	so many times less often is what takes thousands of repetitions
 *   RPMA_TEST_TRAITS	corrections of the traits: "+native_flush,-immediate"
 *   RPMA_TEST_LOG	0 to 5: records up to this level go to stderr
 *   RPMA_TEST_VERBOSE	set: the tests with many cases name each before they try it
 */

#ifndef TESTS_PAIR_ENV_H
#define TESTS_PAIR_ENV_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What providers may do differently without being wrong. A test asks here, so
 * that the expectations for one provider stay exact.
 */
struct traits {
	bool acknowledged;    /* a completed write or message has arrived */
	bool any_address;     /* serves every address of the loopback */
	bool any_file;	      /* registers a shared mapping of an ordinary file */
	bool atomic_write;    /* an atomic write is IBV_WC_ATOMIC_WRITE */
	bool bounded_connect; /* the timeout covers the whole connect */
	bool checks_usage;    /* usage of local memory is enforced, as LOC_PROT_ERR */
	bool device;	      /* the other end is a device: it moves data without its process
			       * and makes and ends no connection without it */
	bool drains;	      /* disconnect carries out what was posted before */
	bool ends_once;	      /* what is under way when a connection breaks completes once */
	bool exact_data;      /* private data arrives with its exact length */
	bool exact_queues;    /* queues have the asked size, not more */
	bool exact_srq;	      /* so has a shared receive queue */
	bool exact_status;    /* an error names its cause at the request that made it */
	bool flushes_late;    /* what is posted after the end is flushed (or refused) */
	bool immediate;	      /* immediate data */
	bool in_order;	      /* requests complete in the order of posting */
	bool native_flush;    /* a flush is IBV_WC_FLUSH, needs no direct write */
	bool one_closed;      /* nothing follows CLOSED */
	bool tells_errors;    /* a request that fails ends the connection at both ends */
	bool refuses_late;    /* a refused connection is told by an event, not by connect */
	bool refuses_waiting; /* an endpoint that ends refuses whoever waits; else they may
			       * hear nothing, and find it unreachable */
	bool rnr_waits;	      /* a message waits for its receive */
	size_t request_data;  /* most private data of a request */
	size_t accept_data;   /* ... and of its answer */
};

const struct traits *traits(void);

/* Leave the test as skipped when the provider has not this trait. */
#define require_trait(name) require_trait_named(traits()->name, #name)
void require_trait_named(bool has, const char *name);
/* ... when the other end is a device */
void not_for_devices(const char *why);

/* First thing in main. */
void test_init(void);

const char *test_addr(void);

/* What is tried next, for who wants to know (RPMA_TEST_VERBOSE). */
void case_is(const char *format, ...) __attribute__((format(printf, 1, 2)));

int64_t clock_ms(void);
int test_timeout_ms(void);
/* n repetitions, or fewer: where each takes its time (RPMA_TEST_SHORTER) */
unsigned repeat(unsigned n);

/* A TCP port of addr that is free at the moment, as text. */
#define PORT_LEN 8
void free_port(const char *addr, char port[PORT_LEN]);

/* A port that answers nothing while the result is open: refused (false), or a
 * listener that never speaks (true). Close it with close(2). */
int dead_port(const char *addr, bool mute, char port[PORT_LEN]);

/*
 * Entries in a directory of /proc/self: "fd", "task". What was given up may go a
 * little later, in the library's own time: settle_self() waits until not more
 * than limit are there.
 */
int count_self(const char *what);
void settle_self(const char *what, int limit);

#endif /* TESTS_PAIR_ENV_H */
