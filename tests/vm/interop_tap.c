/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop_tap.c -- see interop_tap.h */

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "interop_tap.h"
#include "pair_check.h"

enum { FRAME = 20, HEADER = 2, CRC = 4 };

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* ---- the relay --------------------------------------------------------------- */

static int connect_to(const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	int fd;

	assert_int_equal(getaddrinfo(test_addr(), port, &hints, &ai), 0);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, ai->ai_addr, ai->ai_addrlen), 0);
	freeaddrinfo(ai);
	return fd;
}

static void send_all(int fd, const uint8_t *p, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL | MSG_EOR);

		if (n <= 0)
			return; /* gone */
		p += n;
		len -= (size_t)n;
	}
}

/* The size of the frame or FPDU at p; 0: not known yet. */
static size_t unit_size(const uint8_t *p, size_t len, bool first)
{
	if (first)
		return len < FRAME ? 0 : FRAME + be16(p + 18);
	return len < HEADER ? 0 : (HEADER + be16(p) + 3) / 4 * 4 + CRC;
}

/* Each by itself: what begins a segment begins one behind the tap, too. */
static void pass_on(struct tap *t, int from, int fd)
{
	for (;;) {
		const uint8_t *p = t->said[from].p + t->said[from].passed;
		size_t left = t->said[from].len - t->said[from].passed;
		size_t size = unit_size(p, left, t->said[from].passed == 0);

		if (size == 0 || size > left)
			return;
		if (from == FROM_CLIENT && t->said[from].passed > 0 && t->server_first == 0)
			t->server_first = t->said[FROM_SERVER].len;
		send_all(fd, p, size);
		t->said[from].passed += size;
	}
}

/* False: that was the end. */
static bool carry(struct tap *t, int from, const int fd[2])
{
	uint8_t *p = t->said[from].p + t->said[from].len;
	ssize_t n = recv(fd[from], p, TAP_SIZE - t->said[from].len, 0);

	if (n <= 0) {
		shutdown(fd[!from], SHUT_WR);
		return false;
	}
	t->said[from].len += (size_t)n;
	pass_on(t, from, fd[!from]);
	return true;
}

static void *relay(void *arg)
{
	struct tap *t = arg;
	const int fd[2] = { accept(t->door, NULL, NULL), connect_to(t->server_port) };
	struct pollfd p[2] = { { fd[0], POLLIN, 0 }, { fd[1], POLLIN, 0 } };

	assert_true(fd[0] >= 0);
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0)
			continue;
		for (int from = 0; from < 2; from++)
			if (p[from].fd >= 0 && p[from].revents && !carry(t, from, fd))
				p[from].fd = -1;
	}
	close(fd[0]);
	close(fd[1]);
	return NULL;
}

void tap_open(struct tap *t, const char *server_port)
{
	*t = (struct tap){ 0 };
	memcpy(t->server_port, server_port, PORT_LEN);
	for (int i = 0; i < 2; i++) {
		t->said[i].p = malloc(TAP_SIZE);
		assert_non_null(t->said[i].p);
	}
	t->door = dead_port(test_addr(), true, t->port);
	assert_int_equal(pthread_create(&t->thread, NULL, relay, t), 0);
}

void tap_finish(struct tap *t)
{
	assert_int_equal(pthread_join(t->thread, NULL), 0);
	close(t->door);
}

void tap_free(struct tap *t)
{
	for (int i = 0; i < 2; i++)
		free(t->said[i].p);
}

/* ---- what was said ----------------------------------------------------------- */

struct tap_frame tap_frame(const struct tap *t, int from)
{
	const uint8_t *p = t->said[from].p;
	struct tap_frame f = { .key = (const char *)p };

	assert_true(t->said[from].len >= FRAME + 4);
	f.flags = p[16];
	f.revision = p[17];
	f.size = FRAME + be16(p + 18);
	f.ird = be16(p + FRAME);
	f.ord = be16(p + FRAME + 2);
	assert_true(f.size >= FRAME + 4 && f.size <= t->said[from].len);
	return f;
}

int tap_check_crcs(const struct tap *t, int from)
{
	size_t at = tap_frame(t, from).size;
	int n = 0;

	while (at < t->said[from].len) {
		const uint8_t *p = t->said[from].p + at;
		size_t size = (HEADER + be16(p) + 3) / 4 * 4;
		uint32_t crc;

		assert_true(at + size + CRC <= t->said[from].len);
		crc = bytes_crc32c(p, size);
		for (int i = 0; i < CRC; i++)
			assert_int_equal(p[size + (size_t)i], crc >> 8 * i & 0xff);
		at += size + CRC;
		n++;
	}
	return n;
}
