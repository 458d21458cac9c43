/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* signals.c -- blocking calls that are interrupted again and again */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define SIZE 64
#define ENOUGH 20

/*
 * A storm: the timer interrupts the test's thread every millisecond, and no call
 * is restarted by the kernel. After enough interruptions another thread does what the
 * test is waiting for; until then a call that returns has not obeyed.
 */
static struct {
	pid_t victim;
	volatile sig_atomic_t ticks;
	sem_t enough;
	void (*act)(void *arg);
	void *arg;
	pthread_t actor;
} storm;

static pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void on_tick(int sig)
{
	int saved = errno;

	(void)sig;
	if (thread_id() == storm.victim) {
		storm.ticks = storm.ticks + 1;
		if (storm.ticks == ENOUGH)
			sem_post(&storm.enough);
	}
	errno = saved;
}

static void *act_later(void *unused)
{
	(void)unused;
	while (sem_wait(&storm.enough) != 0)
		;
	storm.act(storm.arg);
	return NULL;
}

static void set_timer(long us)
{
	const struct itimerval t = { .it_interval.tv_usec = us, .it_value.tv_usec = us };

	assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
}

/* The other thread is born with the signal blocked, and keeps it so. */
static void storm_begin(void (*act)(void *arg), void *arg)
{
	struct sigaction sa = { .sa_handler = on_tick };
	sigset_t alarm_only;

	storm.victim = thread_id();
	storm.ticks = 0;
	storm.act = act;
	storm.arg = arg;
	assert_int_equal(sem_init(&storm.enough, 0, 0), 0);
	assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	assert_int_equal(pthread_create(&storm.actor, NULL, act_later, NULL), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	set_timer(1000);
}

static void storm_end(void)
{
	set_timer(0);
	assert_true(storm.ticks >= ENOUGH);
	assert_int_equal(pthread_join(storm.actor, NULL), 0);
	sem_destroy(&storm.enough);
}

/* ---- each blocking call -------------------------------------------------- */

static void act_connect(void *arg)
{
	struct net *n = arg;
	struct rpma_conn_req *req = NULL;

	/* the test takes what arrives and refuses it: no connection is kept */
	if (rpma_conn_req_new(n->peer[CLIENT], n->addr, n->port, NULL, &req) == 0) {
		struct rpma_conn *conn = NULL;
		enum rpma_conn_event event;

		(void)rpma_conn_req_connect(&req, NULL, &conn);
		(void)rpma_conn_next_event(conn, &event);
		(void)rpma_conn_delete(&conn);
	}
}

static void next_conn_req(void **state)
{
	struct rpma_conn_req *req = NULL;
	struct net n;

	(void)state;
	net_open(&n);
	storm_begin(act_connect, &n);
	assert_ok(rpma_ep_next_conn_req(n.ep, NULL, &req));
	assert_ok(rpma_conn_req_delete(&req));
	storm_end();
	net_close(&n);
}

static void act_disconnect(void *arg)
{
	(void)rpma_conn_disconnect(arg);
}

static void next_conn_event(void **state)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	storm_begin(act_disconnect, p.side[SERVER].conn);
	assert_ok(rpma_conn_next_event(p.side[CLIENT].conn, &event));
	assert_int_equal(event, RPMA_CONN_CLOSED);
	storm_end();
	expect_event(p.side[SERVER].conn, RPMA_CONN_CLOSED);
	pair_drop(&p);
}

static void act_write(void *arg)
{
	(void)rpma_write(arg, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(3));
}

static void completion_wait(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, NULL);
	storm_begin(act_write, p.side[CLIENT].conn);
	assert_ok(rpma_cq_wait(p.side[CLIENT].cq));
	expect_done(&p.side[CLIENT], CTX(3));
	storm_end();
	pair_close(&p);
}

static void shared_channel_wait(void **state)
{
	const struct pair_opts o = { .side[CLIENT] = { .shared = true, .rcq_size = 10 } };
	struct rpma_cq *cq = NULL;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	storm_begin(act_write, p.side[CLIENT].conn);
	assert_ok(rpma_conn_wait(p.side[CLIENT].conn, 0, &cq, NULL));
	assert_ptr_equal(cq, p.side[CLIENT].cq);
	expect_done(&p.side[CLIENT], CTX(3));
	storm_end();
	pair_close(&p);
}

/* ---- everything ---------------------------------------------------------- */

static void act_nothing(void *arg)
{
	(void)arg;
}

/* Whole lives of connections, with data, until the storm was long enough */
static void whole_lives(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	storm_begin(act_nothing, NULL);
	for (uint64_t round = 0; round < 10 || storm.ticks < 5 * ENOUGH; round++) {
		struct field f;

		field_connect(&f, &n, NULL, SIZE);
		for (size_t i = 0; i < OP_COUNT; i++) {
			struct xfer x = field_xfer(&f, (int)(round % SIDES), 8, CTX(i));

			if (!op_exists(&ops[i]))
				continue;
			if (ops[i].recv_opcode >= 0)
				post_recv(&f.pair.side[(round + 1) % SIDES], NULL, 0, CTX(9));
			x.len = ops[i].recv_opcode == IBV_WC_RECV ? 0 : 8;
			op_post(&ops[i], &x);
			expect_done(x.by, CTX(i));
			if (ops[i].recv_opcode >= 0)
				expect_recv(&f.pair.side[(round + 1) % SIDES], CTX(9));
		}
		field_close(&f);
	}
	storm_end();
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_conn_req),
		cmocka_unit_test(next_conn_event),
		cmocka_unit_test(completion_wait),
		cmocka_unit_test(shared_channel_wait),
		cmocka_unit_test(whole_lives),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-signals", tests, NULL, NULL);
}
