/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * units.c -- sizes, times, and the names of what is on another host
 */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tool.h"

bool parse_size(const char *s, uint64_t *value)
{
	static const char units[] = "kmgt";
	const char *unit;
	unsigned shift = 0;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, 0);
	if (errno)
		return false;
	if (*end && (unit = strchr(units, *end | 0x20))) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (!strcmp(end, "iB") || !strcmp(end, "B"))
			end += strlen(end);
	}
	if (*end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

const char *show_size(uint64_t bytes, char buf[16])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	unsigned i = 0;

	while (v >= 1024 && i < 4) {
		v /= 1024;
		i++;
	}
	snprintf(buf, 16, v == (double)(uint64_t)v ? "%.0f %s" : "%.1f %s", v, units[i]);
	return buf;
}

uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double seconds(void)
{
	return (double)nanoseconds() / 1e9;
}

/* Cut the number behind the last mark off s. */
static bool cut_size(char *s, char mark, uint64_t *value, bool *found)
{
	char *at = strrchr(s, mark);

	*found = at != NULL;
	if (at)
		*at++ = '\0';
	return !at || parse_size(at, value);
}

/* Split what is left into host and port. */
static bool split_host(char *s, char **host, char **port)
{
	char *colon = strrchr(s, ':');
	char *close = strchr(s, ']');

	*host = s;
	*port = NULL;
	if (*s == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return false;
		*host = s + 1;
		*port = close[1] ? close + 2 : NULL;
		*close = '\0';
	} else if (colon && strchr(s, ':') == colon) {
		*port = colon + 1;
		*colon = '\0';
	}
	return **host && (!*port || **port);
}

static bool is_port(const char *s)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	return *s >= '0' && *s <= '9' && !*end && v > 0 && v <= 65535;
}

bool parse_target(const char *s, struct target *t)
{
	char text[sizeof(t->host)], *host, *port;

	*t = (struct target){ .port = DEFAULT_PORT };
	if (strlen(s) >= sizeof(text))
		return false;
	strcpy(text, s);
	if (!cut_size(text, '+', &t->length, &t->has_length) ||
		!cut_size(text, '@', &t->offset, &t->has_offset) || !split_host(text, &host, &port))
		return false;
	if (port && (!is_port(port) || strlen(port) >= sizeof(t->port)))
		return false;
	strcpy(t->host, host);
	if (port)
		strcpy(t->port, port);
	return true;
}

void target_ipv6(struct target *t)
{
	const struct addrinfo hints = { .ai_family = AF_INET6, .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	int err = getaddrinfo(t->host, t->port, &hints, &ai);

	if (err)
		fail("%s has no IPv6 address: %s", t->host, gai_strerror(err));
	err = getnameinfo(
		ai->ai_addr, ai->ai_addrlen, t->host, sizeof(t->host), NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(ai);
	if (err)
		fail("%s: %s", t->host, gai_strerror(err));
}
