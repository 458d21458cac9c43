/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * net.c -- sockets, see floor.h
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "floor/floor.h"

enum wait wait_of(const char *word)
{
	if (strcmp(word, "poll") && strcmp(word, "block"))
		die("'%s' is neither poll nor block", word);
	return strcmp(word, "poll") ? WAIT_BLOCK : WAIT_POLL;
}

int listen_and_tell(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char port[8];

	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, len) || listen(fd, 128) ||
		getsockname(fd, (struct sockaddr *)&sin, &len))
		die("listen: %s", strerror(errno));
	snprintf(port, sizeof(port), "%u", ntohs(sin.sin_port));
	tell_parent(port);
	return fd;
}

static int without_delay(int fd)
{
	int on = 1;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int accept_one(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		die("accept: %s", strerror(errno));
	return without_delay(fd);
}

/* The library chooses one, too, within a host. */
static void with_congestion_control(int fd)
{
	const char *name = getenv("FLOOR_CONGESTION");

	if (name && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		die("congestion control %s: %s", name, strerror(errno));
}

int connect_to(const char *addr, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
		.sin_addr.s_addr = inet_addr(addr) };
	int fd = without_delay(socket(AF_INET, SOCK_STREAM, 0));

	with_congestion_control(fd);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		die("connect: %s", strerror(errno));
	return fd;
}

static bool again(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

void send_all(int fd, const void *buf, size_t len, enum wait wait)
{
	int flags = MSG_NOSIGNAL | (wait == WAIT_POLL ? MSG_DONTWAIT : 0);
	const char *from = buf;

	while (len > 0) {
		ssize_t n = send(fd, from, len, flags);

		if (n < 0 && !again(n))
			die("send: %s", strerror(errno));
		if (n > 0) {
			from += n;
			len -= (size_t)n;
		}
	}
}

size_t recv_some(int fd, void *buf, size_t len, enum wait wait)
{
	ssize_t n;

	do
		n = recv(fd, buf, len, wait == WAIT_POLL ? MSG_DONTWAIT : 0);
	while (again(n));
	return n < 0 ? 0 : (size_t)n;
}

bool recv_all(int fd, void *buf, size_t len, enum wait wait)
{
	char *to = buf;
	size_t n = 1;

	for (; len > 0 && n > 0; len -= n, to += n)
		n = recv_some(fd, to, len, wait);
	return len == 0;
}
