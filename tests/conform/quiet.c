/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* quiet.c -- what the library says, and that it leaves the process alone */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair_child.h"
#include "pair_ops.h"
#include "pair_wait.h"

/* ---- a program without a complaint --------------------------------------- */

static void run_healthy(void)
{
	struct field f;

	field_open(&f, NULL, 4096);
	for (size_t i = 0; i < OP_COUNT; i++) {
		for (int from = 0; from < SIDES; from++) {
			struct xfer x = field_xfer(&f, from, 8, CTX(i));

			if (!op_exists(&ops[i]))
				continue;
			if (ops[i].recv_opcode >= 0)
				post_recv(&f.pair.side[!from], &f.mem[!from], 64, CTX(77));
			op_post(&ops[i], &x);
			expect_done(x.by, CTX(i));
			if (ops[i].recv_opcode >= 0)
				expect_recv(&f.pair.side[!from], CTX(77));
			expect_no_event(x.by->conn);
		}
	}
	field_close(&f);
}

/* The default settings of the log, and a whole life */
static void says_nothing_by_default(void **state)
{
	char out[CHILD_LINE], err[4096];
	struct child c;

	(void)state;
	child_start(&c, "healthy", NULL, true);
	assert_true(child_read_all(c.err, err, sizeof(err)));
	assert_true(child_read_all(c.out, out, sizeof(out)));
	child_finish(&c);
	assert_string_equal(err, "");
	assert_string_equal(out, "");
}

/* ---- what a user's function gets ----------------------------------------- */

static struct {
	pthread_mutex_t lock;
	unsigned count[RPMA_LOG_LEVEL_DEBUG + 1];
	char worst[1024]; /* the last record of level ERROR or WARNING */
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void record(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...)
	__attribute__((format(printf, 5, 6)));

static void record(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, message_format);
	vsnprintf(text, sizeof(text), message_format, args);
	va_end(args);
	pthread_mutex_lock(&records.lock);
	if (level < 0 || level > RPMA_LOG_LEVEL_DEBUG || !file_name || !function_name ||
		line_no <= 0 || text[0] == '\0' || text[strlen(text) - 1] != '\n')
		abort();
	records.count[level]++;
	if (level <= RPMA_LOG_LEVEL_WARNING)
		strcpy(records.worst, text);
	pthread_mutex_unlock(&records.lock);
}

static void record_from_now(enum rpma_log_level level)
{
	memset(records.count, 0, sizeof(records.count));
	records.worst[0] = '\0';
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, level));
	assert_ok(rpma_log_set_function(record));
}

static void ignore(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...)
{
	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	(void)message_format;
}

static void record_no_more(void)
{
	assert_ok(rpma_log_set_function(ignore));
	assert_ok(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING));
}

static void a_healthy_run_warns_of_nothing(void **state)
{
	(void)state;
	record_from_now(RPMA_LOG_LEVEL_DEBUG);
	run_healthy();
	record_no_more();
	assert_string_equal(records.worst, "");
	assert_true(records.count[RPMA_LOG_LEVEL_NOTICE] > 0);
}

/* Nothing passes a threshold that is off. */
static void disabled(void **state)
{
	struct rpma_ep *ep = NULL;
	struct net n;

	(void)state;
	record_from_now(RPMA_LOG_DISABLED);
	net_open(&n);
	assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &ep));
	net_close(&n);
	record_no_more();
	for (size_t i = 0; i < ARRAY_LEN(records.count); i++)
		assert_int_equal(records.count[i], 0);
}

/* A failure names its true cause. */
static void the_cause_of_a_failure(void **state)
{
	struct rpma_ep *ep = NULL;
	struct net n;

	(void)state;
	net_open(&n);
	record_from_now(RPMA_LOG_LEVEL_WARNING);
	assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &ep));
	record_no_more();
	assert_true(records.count[RPMA_LOG_LEVEL_ERROR] > 0);
	assert_non_null(strstr(records.worst, strerror(EADDRINUSE)));
	net_close(&n);
}

/* ---- the process --------------------------------------------------------- */

/* No handler, no mask, no child, no thread left that would take a signal. */
static void process_is_left_alone(void **state)
{
	struct sigaction before[NSIG], after;
	sigset_t mask_before, mask_after;

	(void)state;
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &before[sig]);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	run_healthy();
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &after) != 0)
			continue;
		assert_ptr_equal(after.sa_handler, before[sig].sa_handler);
		assert_int_equal(after.sa_flags, before[sig].sa_flags);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int sig = 1; sig < NSIG; sig++)
		assert_int_equal(sigismember(&mask_before, sig), sigismember(&mask_after, sig));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_nothing_by_default),
		cmocka_unit_test(a_healthy_run_warns_of_nothing),
		cmocka_unit_test(disabled),
		cmocka_unit_test(the_cause_of_a_failure),
		cmocka_unit_test(process_is_left_alone),
	};

	(void)argv;
	test_init();
	if (argc > 1) {
		rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
		run_healthy();
		return 0;
	}
	return cmocka_run_group_tests_name("conform-quiet", tests, NULL, NULL);
}
