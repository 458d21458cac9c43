/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * floor.h -- the same transfers with nothing above the socket
 *
 * Two processes and TCP over the loopback address, as for the library; no frames, no
 * checks, no queues. What is measured here is what cannot be undercut.
 */

#ifndef BENCH_FLOOR_FLOOR_H
#define BENCH_FLOOR_FLOOR_H 1

#include "lib/bench.h"

/* How to wait for the other side. */
enum wait {
	WAIT_BLOCK, /* sleep in the system call */
	WAIT_POLL,  /* try again and again */
};

enum wait wait_of(const char *word);
/* All addresses of this host, a port of its own, told to the parent. */
int listen_and_tell(void);
int accept_one(int listener);
int connect_to(const char *addr, const char *port);
void send_all(int fd, const void *buf, size_t len, enum wait wait);
/* As much as is there, at least one byte; 0: the other side has ended. */
size_t recv_some(int fd, void *buf, size_t len, enum wait wait);
/* False: the other side has ended. */
bool recv_all(int fd, void *buf, size_t len, enum wait wait);

#endif /* BENCH_FLOOR_FLOOR_H */
