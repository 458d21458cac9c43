/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * shim.h -- between the library and the system: makes calls fail
 *
 * A shared object that comes before libc in the search order. Only calls that come
 * from librpma itself are counted, failed, and (allocations) kept account of. Under
 * a sanitizer, which does the same for its own ends, it does nothing.
 */

#ifndef TESTS_SHIM_H
#define TESTS_SHIM_H 1

#include <stdbool.h>

enum shim_call {
	SHIM_MALLOC, /* all allocations count as one kind */
	SHIM_SOCKET,
	SHIM_ACCEPT,
	SHIM_CONNECT,
	SHIM_EPOLL_CTL, /* EPOLL_CTL_ADD; the others cannot fail */
	SHIM_EPOLL_CREATE,
	SHIM_EVENTFD,
	SHIM_PTHREAD_CREATE,
	SHIM_SEND, /* also sendmsg */
	SHIM_RECV,
	SHIM_CALLS,
};

enum { SHIM_EOF = -1, SHIM_ONE_BYTE = -2 }; /* instead of an errno, for send and recv */

bool shim_works(void);
/* From the nth call on (1: the next), times of them fail with this errno. */
void shim_arm(enum shim_call call, int nth, int times, int err);
/* Has any? */
bool shim_fired(void);
/* Allocations of the library that are not freed */
int shim_live(void);

#endif /* TESTS_SHIM_H */
