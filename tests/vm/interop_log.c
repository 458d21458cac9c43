/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop_log.c -- what the library's log says of Terminates; see interop_far.h
 *
 * A record may come a little after the event that it goes with.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interop_log.h"
#include "pair_env.h"
#include "pair_log.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t come;
	char code[16]; /* "": none yet */
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER };

static void listen_to(const char *text)
{
	const char *at;

	if (getenv("RPMA_INTEROP_SAY"))
		fprintf(stderr, "%s\n", text);
	at = strstr(text, "Terminate ");
	if (at == NULL)
		return;
	pthread_mutex_lock(&heard.lock);
	snprintf(heard.code, sizeof(heard.code), "%.*s", (int)strcspn(at + 10, ": \n"), at + 10);
	pthread_cond_broadcast(&heard.come);
	pthread_mutex_unlock(&heard.lock);
}

void log_watch(void)
{
	log_hear(RPMA_LOG_LEVEL_DEBUG, listen_to);
}

void log_take_terminate(char *code, size_t size)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += test_timeout_ms() / 1000;
	pthread_mutex_lock(&heard.lock);
	while (heard.code[0] == '\0')
		if (pthread_cond_timedwait(&heard.come, &heard.lock, &end))
			break;
	snprintf(code, size, "%s", heard.code[0] ? heard.code : "none");
	heard.code[0] = '\0';
	pthread_mutex_unlock(&heard.lock);
}
