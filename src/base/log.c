/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * log.c -- records: thresholds, the current function, the built-in function
 *
 * The whole state are three atomics, so there is no lock and nothing to set up
 * or tear down. The identity is part of the built-in function's text: openlog()
 * would take the process-wide syslog identity away from the program.
 */

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define MESSAGE_MAX 1024

static void built_in(int level, const char *file, int line, const char *func, const char *format,
	...) __attribute__((format(printf, 5, 6)));

_Atomic int rp_log_thresholds[] = { [RP_LOG_MAIN] = RP_LOG_WARNING, [RP_LOG_AUX] = -1 };
static rp_log_fn *_Atomic current = built_in;

void rp_log_set_fn(rp_log_fn *fn)
{
	atomic_store(&current, fn ? fn : built_in);
}

void rp_log_set_threshold(int which, int level)
{
	atomic_store(&rp_log_thresholds[which], level);
}

int rp_log_get_threshold(int which)
{
	return atomic_load(&rp_log_thresholds[which]);
}

void rp_log_emit(int level, const char *file, int line, const char *func, const char *format, ...)
{
	char message[MESSAGE_MAX];
	rp_log_fn *fn = atomic_load(&current);
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	if (n >= 0)
		fn(level, file, line, func, "%s\n", message);
}

const char *rp_strerror(int err, char *buf)
{
	return strerror_r(err, buf, RP_STRERROR_MAX);
}

/* ---- the built-in function ---------------------------------------------- */

static const struct {
	int priority;
	const char *tag;
} levels[] = {
	[RP_LOG_FATAL] = { LOG_CRIT, "*FATAL* " },
	[RP_LOG_ERROR] = { LOG_ERR, "*ERROR* " },
	[RP_LOG_WARNING] = { LOG_WARNING, "*WARN*  " },
	[RP_LOG_NOTICE] = { LOG_NOTICE, "*NOTE*  " },
	[RP_LOG_INFO] = { LOG_INFO, "*INFO*  " },
	[RP_LOG_DEBUG] = { LOG_DEBUG, "*DEBUG* " },
};

static void format_time(char *buf, size_t size)
{
	struct timeval now;
	struct tm tm;
	char date[32];

	if (gettimeofday(&now, NULL) || !localtime_r(&now.tv_sec, &tm) ||
		!strftime(date, sizeof(date), "%b %d %H:%M:%S", &tm))
		snprintf(buf, size, "[time error] ");
	else
		snprintf(buf, size, "%s.%06ld ", date, (long)now.tv_usec);
}

static void format_place(char *buf, size_t size, const char *file, int line, const char *func)
{
	const char *slash = strrchr(file, '/');

	if (snprintf(buf, size, "%s: %3d: %s: ", slash ? slash + 1 : file, line, func) < 0)
		snprintf(buf, size, "[file info error]: ");
}

static void built_in(
	int level, const char *file, int line, const char *func, const char *format, ...)
{
	char message[MESSAGE_MAX];
	char place[256] = "";
	char now[48];
	va_list ap;
	int n;

	if (level < RP_LOG_FATAL || level > RP_LOG_DEBUG)
		return;

	va_start(ap, format);
	n = vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (file)
		format_place(place, sizeof(place), file, line, func);

	if (level <= rp_log_get_threshold(RP_LOG_AUX)) {
		format_time(now, sizeof(now));
		fprintf(stderr, "%s[%ld] %s%s%s", now, (long)gettid(), levels[level].tag, place,
			message);
	}
	syslog(LOG_LOCAL7 | levels[level].priority, "rpma[%ld]: %s%s%s", (long)getpid(),
		levels[level].tag, place, message);
}
