/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * resolve.c -- from the user's words to socket addresses; see conn.h
 */

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/conn.h"

/* The C library takes "", "65536" and "-1" for ports; we do not. */
static bool port_is_valid(const char *port)
{
	size_t digits = strspn(port, "0123456789");

	if (port[digits] == '\0')
		return digits > 0 && digits < 8 && atol(port) <= 65535;
	return isalpha((unsigned char)port[0]);
}

static int gai_to_errno(int r)
{
	switch (r) {
	case EAI_SYSTEM:
		return -errno;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_AGAIN:
		return -EAGAIN;
	default:
		return -EADDRNOTAVAIL;
	}
}

int resolve(const char *addr, const char *port, bool passive, struct addrinfo **ai)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = passive ? AI_PASSIVE : 0,
	};
	int r;

	if (port != NULL && !port_is_valid(port)) {
		rp_log_error("'%s' is neither a port number nor the name of a service", port);
		return -EINVAL;
	}
	r = getaddrinfo(addr, port, &hints, ai);
	if (r == 0)
		return 0;
	r = gai_to_errno(r == EAI_SYSTEM && errno == 0 ? EAI_NONAME : r);
	rp_log_error("cannot resolve host '%s', service '%s'", addr, port ? port : "-");
	return r;
}

/* A datagram socket finds the route without sending anything. */
int resolve_route(const struct sockaddr *sa, socklen_t len)
{
	int fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, sa, len))
		err = -errno;
	close(fd);
	return err;
}
