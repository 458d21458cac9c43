/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * env.c -- see env.h
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tcp/env.h"

static struct tcp_env env;

static bool env_switch(const char *name, bool preset)
{
	const char *s = secure_getenv(name);

	if (s == NULL || *s == '\0')
		return preset;
	if (!strcmp(s, "on") || !strcmp(s, "1"))
		return true;
	if (!strcmp(s, "off") || !strcmp(s, "0"))
		return false;
	rp_log_warning(
		"%s=%s is neither 'on' nor 'off', '%s' holds", name, s, preset ? "on" : "off");
	return preset;
}

static long env_number(const char *name, long preset, long min, long max)
{
	const char *s = secure_getenv(name);
	char *end;
	long v;

	if (s == NULL || *s == '\0')
		return preset;
	errno = 0;
	v = strtol(s, &end, 10);
	if (errno == 0 && *end == '\0' && v >= min && v <= max)
		return v;
	rp_log_warning(
		"%s=%s is not a number from %ld to %ld, %ld holds", name, s, min, max, preset);
	return preset;
}

static void env_read(void)
{
	env.crc = env_switch("RPMA_TCP_CRC", true);
	env.caps = env_switch("RPMA_TCP_CAPS", true);
	env.depth = (unsigned)env_number("RPMA_TCP_DEPTH", 16, 1, 128);
	env.max_ulpdu = (unsigned)env_number("RPMA_TCP_MAX_ULPDU", 64768, 128, 64768);
	env.handshake_ms = (int)env_number("RPMA_TCP_HANDSHAKE_MS", 5000, 1, 3600000);
	env.half_open = (unsigned)env_number("RPMA_TCP_HALF_OPEN", 1024, 1, 1000000);
	env.dead_peer_ms = (int)env_number("RPMA_TCP_DEAD_PEER_MS", 15000, 1000, 3600000);
	env.spin_us = (int)env_number("RPMA_TCP_SPIN_US", 0, 0, 1000000);
	env.linger_ms = (int)env_number("RPMA_TCP_LINGER_MS", 3000, 1, 3600000);
}

const struct tcp_env *tcp_env(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, env_read);
	return &env;
}
