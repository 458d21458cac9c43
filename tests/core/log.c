/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * log.c -- levels, thresholds, the built-in function and the user's
 *
 * The program has its own openlog() and vsyslog(), which only take notes: they
 * come before those of the C library.
 */

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/log.h"
#include "rig.h"

/* ---- syslog and stderr, caught ------------------------------------------ */

static unsigned openlogs, records;
static int last_priority;
static char last_record[2048];

void openlog(const char *ident, int option, int facility)
{
	(void)ident;
	(void)option;
	(void)facility;
	openlogs++;
}

static void __attribute__((format(printf, 2, 0)))
take_note(int priority, const char *format, va_list ap)
{
	records++;
	last_priority = priority;
	vsnprintf(last_record, sizeof(last_record), format, ap);
}

void syslog(int priority, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take_note(priority, format, ap);
	va_end(ap);
}

/* What a build with _FORTIFY_SOURCE calls instead. */
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

static char error_text[4096];
static int real_stderr = -1;
static FILE *error_file;

static void catch_stderr(void)
{
	error_file = tmpfile();
	assert_non_null(error_file);
	fflush(stderr);
	real_stderr = dup(STDERR_FILENO);
	assert_true(dup2(fileno(error_file), STDERR_FILENO) >= 0);
}

static void release_stderr(void)
{
	size_t n;

	fflush(stderr);
	assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
	close(real_stderr);
	rewind(error_file);
	n = fread(error_text, 1, sizeof(error_text) - 1, error_file);
	error_text[n] = '\0';
	fclose(error_file);
}

static int up(void **state)
{
	(void)state;
	records = 0;
	last_record[0] = '\0';
	rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED);
	return 0;
}

static void assert_matches(const char *text, const char *pattern)
{
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, text, 0, NULL, 0))
		fail_msg("\"%s\" does not match %s", text, pattern);
	regfree(&regex);
}

/* ---- tests -------------------------------------------------------------- */

/* Before anything has been set. */
static void defaults(void **state)
{
	enum rpma_log_level level;

	(void)state;
	assert_ok(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
	assert_int_equal(level, RPMA_LOG_LEVEL_WARNING);
	assert_ok(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level));
	assert_int_equal(level, RPMA_LOG_DISABLED);
	/* The identity in syslog is the program's. */
	assert_int_equal(openlogs, 0);
}

static void arguments(void **state)
{
	static const int thresholds[] = { -1, RPMA_LOG_THRESHOLD_MAX, 3 };
	enum rpma_log_level level = 77;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_inval(rpma_log_set_threshold(thresholds[i], RPMA_LOG_LEVEL_ERROR));
		assert_inval(rpma_log_get_threshold(thresholds[i], &level));
	}
	for (int i = RPMA_LOG_THRESHOLD; i < RPMA_LOG_THRESHOLD_MAX; i++) {
		assert_inval(rpma_log_set_threshold(i, -2));
		assert_inval(rpma_log_set_threshold(i, 6));
		assert_inval(rpma_log_get_threshold(i, NULL));
		assert_int_equal(level, 77);
		for (int l = RPMA_LOG_DISABLED; l <= RPMA_LOG_LEVEL_DEBUG; l++) {
			assert_ok(rpma_log_set_threshold(i, l));
			assert_ok(rpma_log_get_threshold(i, &level));
			assert_int_equal(level, l);
		}
		level = 77;
	}
}

static void main_threshold(void **state)
{
	(void)state;
	for (int threshold = -1; threshold <= RP_LOG_DEBUG; threshold++) {
		assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, threshold));
		records = 0;
		for (int level = RP_LOG_FATAL; level <= RP_LOG_DEBUG; level++) {
			assert_int_equal(rp_log_enabled(level) != 0, level <= threshold);
			rp_log(level, "level %d", level);
		}
		assert_int_equal(records, threshold + 1);
	}
}

static void syslog_line(void **state)
{
	static const struct {
		int level;
		int severity;
		const char *tag;
	} cases[] = {
		{ RP_LOG_FATAL, LOG_CRIT, "\\*FATAL\\* " },
		{ RP_LOG_ERROR, LOG_ERR, "\\*ERROR\\* " },
		{ RP_LOG_WARNING, LOG_WARNING, "\\*WARN\\*  " },
		{ RP_LOG_NOTICE, LOG_NOTICE, "\\*NOTE\\*  " },
		{ RP_LOG_INFO, LOG_INFO, "\\*INFO\\*  " },
		{ RP_LOG_DEBUG, LOG_DEBUG, "\\*DEBUG\\* " },
	};
	char pattern[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rp_log_emit(cases[i].level, "some/where/info.c", 63, "rpma_info_new",
			"port %d of \"%s\"", 7204, "%d");
		snprintf(pattern, sizeof(pattern),
			"^rpma\\[%ld\\]: %sinfo\\.c:  63: rpma_info_new: "
			"port 7204 of \"%%d\"\n$",
			(long)getpid(), cases[i].tag);
		assert_matches(last_record, pattern);
		assert_int_equal(LOG_PRI(last_priority), cases[i].severity);
		assert_int_equal(last_priority & LOG_FACMASK, LOG_LOCAL7);
	}
}

static void stderr_line(void **state)
{
	char pattern[256];

	(void)state;
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING);
	catch_stderr();
	rp_log_emit(RP_LOG_NOTICE, "info.c", 1234, "f", "not to be seen");
	rp_log_emit(RP_LOG_WARNING, "info.c", 1234, "f", "one");
	release_stderr();
	assert_int_equal(records, 2);
	snprintf(pattern, sizeof(pattern),
		"^[A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} \\[%ld\\] "
		"\\*WARN\\*  info\\.c: 1234: f: one\n$",
		(long)gettid());
	assert_matches(error_text, pattern);
}

/* Both thresholds have to let a record through to stderr. */
static void stderr_needs_both(void **state)
{
	(void)state;
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_DEBUG);
	catch_stderr();
	rp_log_warning("not to be seen");
	release_stderr();
	assert_string_equal(error_text, "");
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED);
	catch_stderr();
	rp_log_error("in syslog only");
	release_stderr();
	assert_string_equal(error_text, "");
	assert_int_equal(records, 1);
}

static void long_messages(void **state)
{
	char text[3000];
	char func[400];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memset(func, 'f', sizeof(func) - 1);
	func[sizeof(func) - 1] = '\0';
	rp_log_emit(RP_LOG_ERROR, "info.c", 1, func, "%s", text);
	assert_true(strlen(last_record) > 1023 && strlen(last_record) < 1023 + 256 + 64);
}

static void unknown_level(void **state)
{
	(void)state;
	rp_log_emit(-1, "info.c", 1, "f", "nothing");
	rp_log_emit(6, "info.c", 1, "f", "nothing");
	assert_int_equal(records, 0);
}

static void without_file(void **state)
{
	(void)state;
	rp_log_emit(RP_LOG_ERROR, NULL, 0, NULL, "bare");
	assert_matches(last_record, "^rpma\\[[0-9]+\\]: \\*ERROR\\* bare\n$");
}

/* ---- the user's function ------------------------------------------------ */

static struct {
	unsigned calls;
	enum rpma_log_level level;
	char file[256];
	int line;
	char func[64];
	char text[1100];
	bool newline;
} seen;

static void __attribute__((format(printf, 5, 6)))
users(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...)
{
	size_t length = strlen(message_format);
	va_list ap;

	seen.calls++;
	seen.level = level;
	snprintf(seen.file, sizeof(seen.file), "%s", file_name);
	seen.line = line_no;
	snprintf(seen.func, sizeof(seen.func), "%s", function_name);
	seen.newline = length && message_format[length - 1] == '\n';
	va_start(ap, message_format);
	vsnprintf(seen.text, sizeof(seen.text), message_format, ap);
	va_end(ap);
}

static void user_function(void **state)
{
	int line;

	(void)state;
	seen.calls = 0;
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE);
	assert_ok(rpma_log_set_function(users));
	line = __LINE__ + 1;
	rp_log_notice("%d%%", 100);
	rp_log_info("not to be seen");
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.level, RPMA_LOG_LEVEL_NOTICE);
	assert_non_null(strstr(seen.file, "log.c"));
	assert_int_equal(seen.line, line);
	assert_string_equal(seen.func, "user_function");
	assert_string_equal(seen.text, "100%\n");
	assert_true(seen.newline);
	assert_int_equal(records, 0);

	assert_ok(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	rp_log_notice("to syslog again");
	assert_int_equal(seen.calls, 1);
	assert_int_equal(records, 1);
}

/* The auxiliary threshold is the built-in function's own affair. */
static void user_function_and_aux(void **state)
{
	(void)state;
	seen.calls = 0;
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_DEBUG);
	assert_ok(rpma_log_set_function(users));
	catch_stderr();
	rp_log_error("only to the user");
	release_stderr();
	assert_int_equal(seen.calls, 1);
	assert_string_equal(error_text, "");
}

static void errno_texts(void **state)
{
	char buf[RP_STRERROR_MAX];

	(void)state;
	assert_string_equal(rp_strerror(2, buf), "No such file or directory");
	assert_non_null(strstr(rp_strerror(99999, buf), "99999"));
	assert_string_equal(RP_STRERROR(13), "Permission denied");
}

#define log_test(f) cmocka_unit_test_setup(f, up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		log_test(arguments),
		log_test(main_threshold),
		log_test(syslog_line),
		log_test(stderr_line),
		log_test(stderr_needs_both),
		log_test(long_messages),
		log_test(unknown_level),
		log_test(without_file),
		log_test(user_function),
		log_test(user_function_and_aux),
		log_test(errno_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
