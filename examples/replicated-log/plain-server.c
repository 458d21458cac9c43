/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * plain-server ADDR PORT FILE -- what one would write without RDMA, to compare with
 *
 * A client sends batches of bytes, each with its length before it. Each is appended to
 * the file, made durable by fdatasync(), and then acknowledged by one byte.
 */

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/common.h"
#include "replicated-log/format.h"

static int listen_on(const char *addr, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *ai;
	int on = 1, fd = -1;

	if (getaddrinfo(addr, port, &hints, &ai) == 0) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
			quit("%s %s: %s\n", addr, port, strerror(errno));
		freeaddrinfo(ai);
	}
	return fd;
}

static bool get(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len;
}

static void serve(int fd, int file)
{
	static char batch[RLOG_ROOM];
	uint32_t len;
	off_t at = 0;

	while (get(fd, &len, sizeof(len)) && len <= sizeof(batch) && get(fd, batch, len)) {
		if (at + len > RLOG_ROOM)
			at = 0;
		if (pwrite(file, batch, len, at) != (ssize_t)len || fdatasync(file))
			quit("plain-server: %s\n", strerror(errno));
		at += len;
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

int main(int argc, char **argv)
{
	int on = 1;

	if (argc != 4)
		quit("usage: plain-server ADDR PORT FILE\n");
	/* The same file as the other server's: allocated, and of the same size. */
	munmap(map_target(argv[3], RLOG_HEADER + RLOG_ROOM), RLOG_HEADER + RLOG_ROOM);
	int file = open(argv[3], O_RDWR | O_CLOEXEC);
	int listener = listen_on(argv[1], argv[2]);
	if (file < 0 || listener < 0)
		quit("plain-server: cannot start\n");
	printf("server: ready\n");
	fflush(stdout);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		serve(fd, file);
		close(fd);
	}
}
