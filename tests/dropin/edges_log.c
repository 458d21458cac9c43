/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * edges_log.c -- the log, as a program that is linked with the library sees it
 *
 * syslog() is the program's own and takes notes: it comes before that of the C library.
 */

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

static char syslog_text[2048];
static int syslog_priority;
static int syslog_records;

static void take_note(int priority, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void take_note(int priority, const char *format, va_list ap)
{
	syslog_records++;
	syslog_priority = priority;
	vsnprintf(syslog_text, sizeof(syslog_text), format, ap);
}

/* The library has to see these two. */
#pragma GCC visibility push(default)

void syslog(int priority, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take_note(priority, format, ap);
	va_end(ap);
}

/* What a library built with _FORTIFY_SOURCE calls instead */
void __syslog_chk(int priority, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list ap;

	(void)flag;
	va_start(ap, format);
	take_note(priority, format, ap);
	va_end(ap);
}

#pragma GCC visibility pop

/* An ERROR record, whatever the provider: a descriptor that is too short. */
static void make_error(void)
{
	struct rpma_peer_cfg *pcfg = NULL;

	assert_rpma(RPMA_E_INVAL, rpma_peer_cfg_from_descriptor("", 0, &pcfg));
}

/* The thresholds, and make_error() with stderr in a file; what it then holds */
static const char *error_with(enum rpma_log_level threshold, enum rpma_log_level aux)
{
	static char text[2048];
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, threshold));
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, aux));
	syslog_records = 0;
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	make_error();
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* First of all: nothing has been set. */
static void quiet_by_default(void **state)
{
	enum rpma_log_level level;

	(void)state;
	assert_ok(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
	assert_int_equal(level, RPMA_LOG_LEVEL_WARNING);
	assert_ok(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level));
	assert_int_equal(level, RPMA_LOG_DISABLED);
	assert_string_equal(error_with(RPMA_LOG_LEVEL_WARNING, RPMA_LOG_DISABLED), "");
	assert_int_equal(syslog_records, 1);
}

static void both_thresholds(void **state)
{
	(void)state;
	for (int main_level = RPMA_LOG_DISABLED; main_level <= RPMA_LOG_LEVEL_DEBUG; main_level++) {
		for (int aux = RPMA_LOG_DISABLED; aux <= RPMA_LOG_LEVEL_DEBUG; aux++) {
			const char *text = error_with(main_level, aux);
			bool passes = main_level >= RPMA_LOG_LEVEL_ERROR;

			assert_int_equal(syslog_records, passes);
			assert_int_equal(*text != '\0', passes && aux >= RPMA_LOG_LEVEL_ERROR);
		}
	}
}

static void line_format(void **state)
{
	static const char pattern[] =
		"^[A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} \\[%d\\] "
		"\\*ERROR\\* [a-z_]+\\.c: *[0-9]+: [a-z_0-9]+: [^\n]+\n$";
	char here[sizeof(pattern) + 16];
	const char *text;
	regex_t regex;

	(void)state;
	setenv("LC_ALL", "C", 1);
	text = error_with(RPMA_LOG_LEVEL_ERROR, RPMA_LOG_LEVEL_ERROR);
	snprintf(here, sizeof(here), pattern, (int)gettid());
	assert_int_equal(regcomp(&regex, here, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, text, 0, NULL, 0))
		fail_msg("\"%s\" is not %s", text, here);
	regfree(&regex);
	/* The same tag, place and message in the system's log */
	assert_int_equal(LOG_PRI(syslog_priority), LOG_ERR);
	assert_non_null(strstr(syslog_text, strchr(text, '*')));
}

/* ---- the program's own function ------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seen[RPMA_LOG_LEVEL_DEBUG + 1];
static char last[512];

static void own(enum rpma_log_level level, const char *file, const int line, const char *function,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

static void own(enum rpma_log_level level, const char *file, const int line, const char *function,
	const char *format, ...)
{
	va_list ap;

	pthread_mutex_lock(&lock);
	seen[level]++;
	va_start(ap, format);
	vsnprintf(last, sizeof(last), format, ap);
	va_end(ap);
	/* These are all given by the library. */
	if (!file || line <= 0 || !function || format[strlen(format) - 1] != '\n')
		seen[level] += 1000;
	pthread_mutex_unlock(&lock);
}

static void own_function(void **state)
{
	(void)state;
	memset(seen, 0, sizeof(seen));
	assert_ok(rpma_log_set_function(own));
	/* It is not asked what goes to stderr, and nothing goes there. */
	assert_string_equal(error_with(RPMA_LOG_LEVEL_INFO, RPMA_LOG_LEVEL_DEBUG), "");
	assert_int_equal(seen[RPMA_LOG_LEVEL_ERROR], 1);
	assert_int_equal(syslog_records, 0);
	assert_int_equal(last[strlen(last) - 1], '\n');
	error_with(RPMA_LOG_LEVEL_FATAL, RPMA_LOG_DISABLED);
	assert_int_equal(seen[RPMA_LOG_LEVEL_ERROR], 1);

	assert_ok(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	assert_string_not_equal(error_with(RPMA_LOG_LEVEL_ERROR, RPMA_LOG_LEVEL_ERROR), "");
	assert_int_equal(seen[RPMA_LOG_LEVEL_ERROR], 1);
	assert_int_equal(syslog_records, 1);
}

/* What a program with the INFO of the examples sees of a connection */
static void notices_of_a_connection(void **state)
{
	struct pair p;

	(void)state;
	memset(seen, 0, sizeof(seen));
	assert_ok(rpma_log_set_function(own));
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO));
	pair_open(&p, NULL);
	pair_exchange(&p);
	pair_close(&p);
	assert_ok(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	/* Listening, requested, twice established, disconnection, twice closed */
	assert_true(seen[RPMA_LOG_LEVEL_NOTICE] >= 7 && seen[RPMA_LOG_LEVEL_NOTICE] < 1000);
	assert_int_equal(seen[RPMA_LOG_LEVEL_DEBUG], 0);
	for (int level = RPMA_LOG_LEVEL_FATAL; level <= RPMA_LOG_LEVEL_WARNING; level++)
		assert_int_equal(seen[level], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_by_default),
		cmocka_unit_test(both_thresholds),
		cmocka_unit_test(line_format),
		cmocka_unit_test(own_function),
		cmocka_unit_test(notices_of_a_connection),
	};

	/* Not test_init(), which sets thresholds. */
	return cmocka_run_group_tests_name("dropin-edges-log", tests, NULL, NULL);
}
