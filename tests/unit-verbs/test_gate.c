/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_gate.c -- waiting at a descriptor, and being turned out */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/list.h"
#include "support.h"
#include "verbs/gate.h"

/* A gate at a pipe; each byte is something to take. */
struct source {
	struct gate gate;
	int pipe[2];
	atomic_int takes; /* how often somebody has tried */
	char kept;
};

static int take(struct gate *gate, void *out)
{
	struct source *s = container_of(gate, struct source, gate);
	ssize_t n = read(s->pipe[0], out, 1);
	int ret = n == 1 ? 0 : n < 0 ? -errno : -EPIPE;

	atomic_fetch_add(&s->takes, 1);
	return ret;
}

static void source_open(struct source *s)
{
	assert_int_equal(pipe(s->pipe), 0);
	assert_int_equal(gate_open(&s->gate, s->pipe[0]), 0);
	atomic_init(&s->takes, 0);
	s->kept = 0;
}

static void source_close(struct source *s)
{
	gate_close(&s->gate);
	gate_free(&s->gate);
	close(s->pipe[0]);
	close(s->pipe[1]);
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static void is_readable_when_the_source_is(void **state)
{
	struct source s;
	char c = 0;

	(void)state;
	source_open(&s);
	assert_false(readable(s.gate.fd));
	assert_int_equal(write(s.pipe[1], "ab", 2), 2);
	assert_true(readable(s.gate.fd));
	assert_int_equal(gate_wait(&s.gate, take, &c), 0);
	assert_int_equal(c, 'a');
	assert_true(readable(s.gate.fd));
	assert_int_equal(gate_wait(&s.gate, take, &c), 0);
	assert_int_equal(c, 'b');
	assert_false(readable(s.gate.fd));
	source_close(&s);
}

static void does_not_wait_when_told_so(void **state)
{
	struct source s;
	char c;

	(void)state;
	source_open(&s);
	assert_int_equal(fcntl(s.gate.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(gate_wait(&s.gate, take, &c), -EAGAIN);
	assert_true(fcntl(s.gate.fd, F_GETFD) & FD_CLOEXEC);
	source_close(&s);
}

static void passes_errors_on(void **state)
{
	struct source s;
	char c;

	(void)state;
	source_open(&s);
	close(s.pipe[1]);
	assert_int_equal(gate_wait(&s.gate, take, &c), -EPIPE);
	s.pipe[1] = dup(s.pipe[0]);
	source_close(&s);
}

/* Takes a byte and keeps it back once; the source must have no more. */
static int take_twice(struct gate *gate, void *out)
{
	struct source *s = container_of(gate, struct source, gate);
	char *c = out;

	if (s->kept == 0) {
		int ret = take(gate, &s->kept);

		if (ret)
			return ret;
		gate_keep(gate, true);
		*c = 'k';
	} else {
		*c = s->kept;
		s->kept = 0;
		gate_keep(gate, false);
	}
	return 0;
}

static void is_readable_while_something_is_kept(void **state)
{
	struct source s;
	char c = 0;

	(void)state;
	source_open(&s);
	assert_int_equal(fcntl(s.gate.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write(s.pipe[1], "a", 1), 1);
	assert_int_equal(gate_wait(&s.gate, take_twice, &c), 0);
	assert_int_equal(c, 'k');
	assert_true(readable(s.gate.fd));
	assert_int_equal(gate_wait(&s.gate, take_twice, &c), 0);
	assert_int_equal(c, 'a');
	assert_false(readable(s.gate.fd));
	assert_int_equal(gate_wait(&s.gate, take_twice, &c), -EAGAIN);
	source_close(&s);
}

struct waiter {
	struct source *s;
	pthread_t thread;
	int ret;
};

static void *wait_there(void *arg)
{
	struct waiter *w = arg;
	char c;

	w->ret = gate_wait(&w->s->gate, take, &c);
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/* Each interruption makes one more try, so the count shows that it came. */
static void goes_on_after_a_signal(void **state)
{
	const struct sigaction sa = { .sa_handler = ignore };
	struct source s;
	struct waiter w = { .s = &s, .ret = 1 };
	struct sigaction old;

	(void)state;
	sigaction(SIGUSR1, &sa, &old);
	source_open(&s);
	pthread_create(&w.thread, NULL, wait_there, &w);
	while (atomic_load(&s.takes) < 3) {
		pthread_kill(w.thread, SIGUSR1);
		sched_yield();
	}
	assert_int_equal(write(s.pipe[1], "x", 1), 1);
	pthread_join(w.thread, NULL);
	assert_int_equal(w.ret, 0);
	source_close(&s);
	sigaction(SIGUSR1, &old, NULL);
}

/* Whether they sleep already, are about to, or have not come yet. */
static void turns_out_all_who_wait(void **state)
{
	enum { WAITERS = 4, ROUNDS = 200 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct waiter w[WAITERS];
		struct source s;

		source_open(&s);
		for (int i = 0; i < WAITERS; i++) {
			w[i] = (struct waiter){ .s = &s, .ret = 1 };
			pthread_create(&w[i].thread, NULL, wait_there, &w[i]);
		}
		while (atomic_load(&s.takes) < round % (WAITERS + 1))
			sched_yield();
		gate_close(&s.gate);
		for (int i = 0; i < WAITERS; i++) {
			pthread_join(w[i].thread, NULL);
			assert_int_equal(w[i].ret, -ECANCELED);
		}
		source_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_readable_when_the_source_is),
		cmocka_unit_test(does_not_wait_when_told_so),
		cmocka_unit_test(is_readable_while_something_is_kept),
		cmocka_unit_test(passes_errors_on),
		cmocka_unit_test(goes_on_after_a_signal),
		cmocka_unit_test(turns_out_all_who_wait),
	};

	return cmocka_run_group_tests_name("verbs: gate", tests, NULL, NULL);
}
