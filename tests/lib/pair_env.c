/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_env.c -- provider, address, time; see pair_env.h */

#include <dirent.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pair_check.h"
#include "pair_env.h"

static const char *provider(void)
{
	const char *name = getenv("RPMA_TEST_PROVIDER");

	if (name == NULL)
		name = getenv("RPMA_PROVIDER");
	return name != NULL ? name : "tcp";
}

const char *test_addr(void)
{
	const char *addr = getenv("RPMA_TEST_ADDR");

	return addr != NULL ? addr : "127.0.0.1";
}

int test_timeout_ms(void)
{
	const char *ms = getenv("RPMA_TEST_TIMEOUT_MS");

	return ms != NULL ? atoi(ms) : 20000;
}

unsigned repeat(unsigned n)
{
	const char *times = getenv("RPMA_TEST_SHORTER");

	return times != NULL ? n / (unsigned)atoi(times) : n;
}

int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

void case_is(const char *format, ...)
{
	va_list args;

	if (getenv("RPMA_TEST_VERBOSE") == NULL)
		return;
	va_start(args, format);
	vprint_message(format, args);
	va_end(args);
	print_message("\n");
}

/* ---- traits -------------------------------------------------------------- */

static const struct traits traits_tcp = {
	.acknowledged = true,
	.any_address = true,
	.any_file = true,
	.atomic_write = true,
	.bounded_connect = true,
	.checks_usage = true,
	.drains = true,
	.ends_once = true,
	.exact_data = true,
	.exact_queues = true,
	.exact_srq = true,
	.exact_status = true,
	.flushes_late = true,
	.immediate = true,
	.in_order = true,
	.native_flush = true,
	.one_closed = true,
	.refuses_late = true,
	.refuses_waiting = true,
	.rnr_waits = true,
	.tells_errors = true,
	.request_data = 255,
	.accept_data = 255,
};

static const struct traits traits_verbs_ib = {
	.device = true,
	.acknowledged = true,
	.ends_once = true,
	.exact_queues = true,
	.flushes_late = true,
	.immediate = true,
	.in_order = true,
	.refuses_late = true,
	.refuses_waiting = true,
	.rnr_waits = true,
	.request_data = 56,
	.accept_data = 196,
};

static const struct traits traits_verbs_iwarp = {
	.device = true,
	.exact_data = true,
	.exact_queues = true,
	.request_data = 251,
	.accept_data = 251,
};

static bool *trait_by_name(struct traits *t, const char *name)
{
#define TRAIT(field)                                                                               \
	{                                                                                          \
#field, &t->field                                                                  \
	}
	const struct {
		const char *name;
		bool *value;
	} all[] = {
		TRAIT(acknowledged),
		TRAIT(any_address),
		TRAIT(any_file),
		TRAIT(atomic_write),
		TRAIT(bounded_connect),
		TRAIT(checks_usage),
		TRAIT(device),
		TRAIT(drains),
		TRAIT(ends_once),
		TRAIT(exact_data),
		TRAIT(exact_queues),
		TRAIT(exact_srq),
		TRAIT(exact_status),
		TRAIT(flushes_late),
		TRAIT(immediate),
		TRAIT(in_order),
		TRAIT(native_flush),
		TRAIT(one_closed),
		TRAIT(refuses_late),
		TRAIT(refuses_waiting),
		TRAIT(rnr_waits),
		TRAIT(tells_errors),
	};
#undef TRAIT

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].value;
	return NULL;
}

static void correct_traits(struct traits *t)
{
	const char *env = getenv("RPMA_TEST_TRAITS");
	char *list = strdup(env != NULL ? env : "");
	char *rest = NULL;

	for (char *w = strtok_r(list, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
		bool *value = trait_by_name(t, w + 1);

		if (value == NULL || (*w != '+' && *w != '-')) {
			fprintf(stderr, "RPMA_TEST_TRAITS: what is '%s'?\n", w);
			abort();
		}
		*value = *w == '+';
	}
	free(list);
}

static bool is_iwarp(void)
{
	struct ibv_context *ctx = NULL;

	assert_ok(rpma_utils_get_ibv_context(test_addr(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &ctx));
	return ctx->device->transport_type == IBV_TRANSPORT_IWARP;
}

static struct traits known_traits;

static void find_traits(void)
{
	if (strcmp(provider(), "tcp") == 0)
		known_traits = traits_tcp;
	else
		known_traits = is_iwarp() ? traits_verbs_iwarp : traits_verbs_ib;
	correct_traits(&known_traits);
}

const struct traits *traits(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_traits);
	return &known_traits;
}

void require_trait_named(bool has, const char *name)
{
	if (has)
		return;
	print_message("skipped: provider %s lacks the trait %s\n", provider(), name);
	skip();
}

void not_for_devices(const char *why)
{
	if (!traits()->device)
		return;
	print_message("skipped: %s\n", why);
	skip();
}

/* ---- start --------------------------------------------------------------- */

static void no_log(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...)
{
	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	(void)message_format;
}

/* Tests provoke errors by the hundred: they do not belong in the system's log. */
void test_init(void)
{
	const char *log = getenv("RPMA_TEST_LOG");

	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("RPMA_PROVIDER", provider(), 1);
	if (log == NULL) {
		rpma_log_set_function(no_log);
		return;
	}
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, (enum rpma_log_level)atoi(log));
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, (enum rpma_log_level)atoi(log));
}

/* ---- ports --------------------------------------------------------------- */

static int bind_any(const char *addr, char port[PORT_LEN])
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	struct addrinfo *ai;
	int fd;

	assert_int_equal(getaddrinfo(addr, "0", &hints, &ai), 0);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, ai->ai_addr, ai->ai_addrlen), 0);
	freeaddrinfo(ai);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(
		getnameinfo((struct sockaddr *)&name, len, NULL, 0, port, PORT_LEN, NI_NUMERICSERV),
		0);
	return fd;
}

void free_port(const char *addr, char port[PORT_LEN])
{
	close(bind_any(addr, port));
}

int dead_port(const char *addr, bool mute, char port[PORT_LEN])
{
	int fd = bind_any(addr, port);

	if (mute)
		assert_int_equal(listen(fd, 16), 0);
	return fd;
}

int count_self(const char *what)
{
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/self/%s", what);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

void settle_self(const char *what, int limit)
{
	int64_t deadline = clock_ms() + test_timeout_ms();

	while (count_self(what) > limit) {
		if (clock_ms() > deadline)
			fail_msg("%d entries in /proc/self/%s, expected %d", count_self(what), what,
				limit);
		poll(NULL, 0, 2);
	}
}
