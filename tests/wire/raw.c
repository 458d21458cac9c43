/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* raw.c -- see raw.h */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "raw.h"

/* ---- sockets --------------------------------------------------------------- */

static void set_up(struct raw *r, int fd)
{
	struct timeval tv = { .tv_sec = test_timeout_ms() / 1000 };
	int on = 1;

	assert_true(fd >= 0);
	*r = (struct raw){ .fd = fd };
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

void raw_connect(struct raw *r, const char *addr, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;

	assert_int_equal(getaddrinfo(addr, port, &hints, &ai), 0);
	set_up(r, socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (connect(r->fd, ai->ai_addr, ai->ai_addrlen) != 0)
		fail_msg("connect: %s", strerror(errno));
	freeaddrinfo(ai);
}

void raw_open_door(struct raw_door *d, const char *addr)
{
	d->fd = dead_port(addr, true, d->port);
}

void raw_accept(struct raw *r, struct raw_door *d)
{
	struct timeval tv = { .tv_sec = test_timeout_ms() / 1000 };

	setsockopt(d->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	set_up(r, accept4(d->fd, NULL, NULL, SOCK_CLOEXEC));
	close(d->fd);
	d->fd = -1;
}

void raw_close(struct raw *r)
{
	close(r->fd);
	bytes_free(&r->last);
	r->fd = -1;
}

void raw_reset(struct raw *r)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	raw_close(r);
}

void raw_fin(struct raw *r)
{
	assert_int_equal(shutdown(r->fd, SHUT_WR), 0);
}

/* ---- sending --------------------------------------------------------------- */

void raw_send_maybe(struct raw *r, const void *p, size_t len)
{
	const char *from = p;
	ssize_t n;

	while (len > 0 && (n = send(r->fd, from, len, MSG_NOSIGNAL)) > 0) {
		from += n;
		len -= (size_t)n;
	}
}

void raw_send_bytes(struct raw *r, const void *p, size_t len)
{
	const char *from = p;

	while (len > 0) {
		ssize_t n = send(r->fd, from, len, MSG_NOSIGNAL);

		if (n <= 0)
			fail_msg("send: %s", strerror(errno));
		from += n;
		len -= (size_t)n;
	}
}

void raw_send(struct raw *r, const char *format, ...)
{
	struct bytes b = { 0 };
	va_list args;

	va_start(args, format);
	bytes_addv(&b, format, args);
	va_end(args);
	raw_send_bytes(r, b.p, b.len);
	bytes_free(&b);
}

void raw_fpdu(struct raw *r, const char *format, ...)
{
	va_list args;

	r->last.len = 0;
	va_start(args, format);
	bytes_fpduv(&r->last, format, args);
	va_end(args);
	raw_send_bytes(r, r->last.p, r->last.len);
}

/* The library's end of our connection is a descriptor of this process, too. */
static int other_end(const struct raw *r)
{
	struct sockaddr_storage me, its;
	socklen_t len = sizeof(me);

	memset(&me, 0, sizeof(me));
	assert_int_equal(getsockname(r->fd, (struct sockaddr *)&me, &len), 0);
	for (int fd = 0; fd < 1024; fd++) {
		socklen_t l = sizeof(its);

		memset(&its, 0, sizeof(its));
		if (getpeername(fd, (struct sockaddr *)&its, &l) == 0 && l == len &&
			memcmp(&its, &me, l) == 0)
			return fd;
	}
	return -1;
}

void raw_sync(struct raw *r)
{
	int64_t deadline = clock_ms() + test_timeout_ms();
	int fd, unsent, unread, on = 1;

	do {
		unsent = unread = 0;
		assert_int_equal(ioctl(r->fd, SIOCOUTQ, &unsent), 0);
		fd = other_end(r);
		if (fd >= 0) {
			/* or its acknowledgement would be put off for 40 ms */
			setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
			ioctl(fd, SIOCINQ, &unread);
		}
		if (clock_ms() > deadline)
			fail_msg("the library does not read what was sent");
		sched_yield();
	} while (unsent > 0 || unread > 0);
}

/* ---- receiving ------------------------------------------------------------- */

static void hex(char *out, size_t size, const uint8_t *p, size_t len)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < len && at + 4 < size; i++)
		at += (size_t)snprintf(out + at, size - at, " %02x", p[i]);
}

void raw_read_at(struct raw *r, void *p, size_t len, const char *where)
{
	char text[400];
	size_t got = 0;

	while (got < len) {
		ssize_t n = recv(r->fd, (char *)p + got, len - got, 0);

		if (n > 0) {
			got += (size_t)n;
			continue;
		}
		hex(text, sizeof(text), p, got);
		fail_msg("%s: %s after %zu of %zu bytes:%s", where,
			n == 0 ? "end of the stream" : strerror(errno), got, len, text);
	}
}

static void check_bytes(const uint8_t *got, const struct bytes *want, const char *where)
{
	char a[400], b[400];

	if (memcmp(got, want->p, want->len) == 0)
		return;
	hex(a, sizeof(a), got, want->len);
	hex(b, sizeof(b), want->p, want->len);
	fail_msg("%s: got\n%s, expected\n%s", where, a, b);
}

static void expect_bytes(struct raw *r, struct bytes *want, const char *where)
{
	struct bytes got = { 0 };

	bytes_add(&got, "%z", want->len);
	raw_read_at(r, got.p, got.len, where);
	check_bytes(got.p, want, where);
	bytes_free(&got);
	bytes_free(want);
}

void raw_expect_at(struct raw *r, const char *where, const char *format, ...)
{
	struct bytes b = { 0 };
	va_list args;

	va_start(args, format);
	bytes_addv(&b, format, args);
	va_end(args);
	expect_bytes(r, &b, where);
}

void raw_expect_fpdu_at(struct raw *r, const char *where, const char *format, ...)
{
	struct bytes b = { 0 };
	va_list args;

	va_start(args, format);
	bytes_fpduv(&b, format, args);
	va_end(args);
	expect_bytes(r, &b, where);
}

struct bytes raw_read_fpdu_at(struct raw *r, const char *where)
{
	struct bytes got = { 0 }, want = { 0 };
	size_t ulpdu;

	bytes_add(&got, "%z", (size_t)2);
	raw_read_at(r, got.p, 2, where);
	ulpdu = (size_t)got.p[0] << 8 | got.p[1];
	bytes_add(&got, "%z", (ulpdu + 2 + 3) / 4 * 4 + 2);
	raw_read_at(r, got.p + 2, got.len - 2, where);
	bytes_fpdu(&want, "%p", got.p + 2, ulpdu);
	check_bytes(got.p, &want, where);
	bytes_free(&want);
	return got;
}

static ssize_t read_end(struct raw *r, const char *where)
{
	uint8_t scrap[64];
	char text[400];
	ssize_t n = recv(r->fd, scrap, sizeof(scrap), 0);

	if (n > 0) {
		hex(text, sizeof(text), scrap, (size_t)n);
		fail_msg("%s: instead of the end came%s", where, text);
	}
	if (n < 0 && errno != ECONNRESET)
		fail_msg("%s: no end: %s", where, strerror(errno));
	return n;
}

void raw_expect_fin_at(struct raw *r, const char *where)
{
	if (read_end(r, where) != 0)
		fail_msg("%s: RST", where);
}

void raw_expect_gone_at(struct raw *r, const char *where)
{
	read_end(r, where);
}

void raw_expect_quiet_at(struct raw *r, const char *where)
{
	uint8_t scrap[64];
	char text[400];
	ssize_t n = recv(r->fd, scrap, sizeof(scrap), MSG_DONTWAIT);

	if (n > 0) {
		hex(text, sizeof(text), scrap, (size_t)n);
		fail_msg("%s: nothing should come, but%s", where, text);
	}
	if (n == 0 || errno != EAGAIN)
		fail_msg("%s: the stream has ended", where);
}

void raw_expect_term_at(struct raw *r, const char *triple, enum term_hdr hdr, const char *where)
{
	const uint8_t *seg = r->last.p;
	size_t len = 0;
	struct bytes b = { 0 }, ulpdu = { 0 };

	if (hdr != TERM_BARE)
		len = 2 + (size_t)(seg[2] & 0x80 ? 14 : 18) + (hdr == TERM_READ ? 28 : 0);
	bytes_add(&ulpdu, "41 47 00000000 00000002 00000001 00000000");
	bytes_add(&ulpdu, triple);
	bytes_add(&ulpdu, "%1 00 %p",
		hdr == TERM_READ  ? 0xe0
		: hdr == TERM_DDP ? 0xc0
				  : 0,
		seg, len);
	bytes_fpdu(&b, "%p", ulpdu.p, ulpdu.len);
	expect_bytes(r, &b, where);
	bytes_free(&ulpdu);
	raw_expect_fin_at(r, where);
}
