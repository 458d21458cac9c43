/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * say.c -- messages of the tool, and the library's log as their source
 */

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char complaint[512]; /* the last of the library's, "": none */
static FILE *copy_to;

static void line(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void line(const char *format, va_list args)
{
	live_end();
	flockfile(stderr);
	fprintf(stderr, "rpma%s%s: ", *tool.command ? " " : "", tool.command);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
	exit(STATUS_FAILED);
}

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
	fprintf(stderr, "Try: rpma %s%s--help\n", tool.command, *tool.command ? " " : "");
	exit(STATUS_USAGE);
}

void *need_memory(void *p)
{
	if (!p)
		fail("out of memory");
	return p;
}

/* ---- a line that is replaced ------------------------------------------------ */

bool live_shown(void)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	return terminal;
}

void live(const char *format, ...)
{
	va_list args;

	if (!live_shown())
		return;
	fputs("\r\033[K", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(stderr);
	tool.live = true;
}

void live_end(void)
{
	if (tool.live)
		fputs("\r\033[K", stderr);
	tool.live = false;
}

/* ---- the library's log --------------------------------------------------------- */

/* Called by any thread, the library's own as well. */
__attribute__((format(printf, 5, 6))) static void take(enum rpma_log_level level, const char *file,
	const int line_no, const char *function, const char *format, ...)
{
	char text[sizeof(complaint)];
	va_list args;

	(void)file, (void)line_no, (void)function;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';

	pthread_mutex_lock(&lock);
	if (level <= RPMA_LOG_LEVEL_WARNING)
		memcpy(complaint, text, sizeof(text));
	if (copy_to)
		fprintf(copy_to, "%s\n", text);
	if (tool.verbose)
		fprintf(stderr, "librpma: %s\n", text);
	pthread_mutex_unlock(&lock);
}

void log_start(void)
{
	rpma_log_set_function(take);
	if (tool.verbose)
		rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO);
}

void log_copy(FILE *f)
{
	if (f)
		rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO);
	pthread_mutex_lock(&lock);
	copy_to = f;
	pthread_mutex_unlock(&lock);
}

const char *cause(int ret)
{
	static _Thread_local char text[sizeof(complaint)];

	pthread_mutex_lock(&lock);
	memcpy(text, complaint, sizeof(text));
	complaint[0] = '\0';
	pthread_mutex_unlock(&lock);
	return text[0] ? text : rpma_err_2str(ret);
}
