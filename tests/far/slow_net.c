/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * slow_net.c -- run a command whose connections to itself are slow and unreliable
 *
 * The command finds the address of which this is true in the variables that tests, tool,
 * examples and demo look at; see wire.h. Each packet waits for the delay,
 * more or less by the jitter at random, and never overtakes another; but some, as many as
 * asked, are lost, and some come later by once more the delay, so that others overtake
 * them. Ends as the command does; with 77 where there can be no such network.
 */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "held.h"
#include "wire.h"

enum {
	SKIP = 77,
	BATCH = 64, /* packets read before others are looked at */
	MTU_MAX = 65535,
};

#define NS_PER_MS 1000000.0

static struct {
	double delay; /* one way; ms, as jitter */
	double jitter;
	double loss; /* percent, as reorder */
	double reorder;
	unsigned mtu;
	uint64_t seed;
} net = { .mtu = 1500 };

static struct {
	unsigned packets;
	unsigned lost;
	unsigned late;
} seen;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- chance ---------------------------------------------------------------------- */

/* 0 to 1; splitmix64 */
static double chance(void)
{
	static uint64_t state;
	uint64_t z;

	if (state == 0)
		state = net.seed;
	z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

static bool happens(double percent)
{
	return chance() * 100 < percent;
}

/* ---- packets ------------------------------------------------------------------------ */

static void hold(struct held *h, const void *data, size_t len)
{
	static int64_t last;
	double ms = net.delay + (2 * chance() - 1) * net.jitter;
	int64_t due = now_ns() + (int64_t)((ms > 0 ? ms : 0) * NS_PER_MS);

	seen.packets++;
	if (happens(net.loss)) {
		seen.lost++;
		return;
	}
	if (happens(net.reorder)) {
		seen.late++;
		held_add(h, due + (int64_t)(net.delay * NS_PER_MS), data, len);
		return;
	}
	last = due > last ? due : last;
	held_add(h, last, data, len);
}

static void take_in(struct held *h, int dev)
{
	uint8_t buf[MTU_MAX];
	ssize_t n;

	for (int i = 0; i < BATCH && (n = read(dev, buf, sizeof(buf))) > 0; i++)
		hold(h, buf, (size_t)n);
}

/* What the device does not take is lost, as anywhere. */
static void let_go(struct held *h, int dev)
{
	for (struct packet p; (p = held_take(h, now_ns())).data != NULL; free(p.data))
		(void)!write(dev, p.data, p.len);
}

/* Until a signal comes: the command has ended, or we shall. */
static void forward(int dev, int signals)
{
	struct pollfd fds[] = { { signals, POLLIN, 0 }, { dev, POLLIN, 0 } };
	struct held held = { 0 };

	prctl(PR_SET_TIMERSLACK, 1);
	while (!fds[0].revents) {
		int64_t left = held_next(&held) - now_ns();
		struct timespec ts = { left / 1000000000, left % 1000000000 };

		if (left < 0)
			ts = (struct timespec){ 0 };
		if (ppoll(fds, 2, held.n ? &ts : NULL, NULL) < 0)
			continue;
		let_go(&held, dev);
		take_in(&held, dev);
	}
	held_free(&held);
}

/* ---- the command ----------------------------------------------------------------------- */

static void become(char *argv[], const sigset_t *mask)
{
	static const char *const vars[] = {
		"RPMA_TEST_ADDR",
		"RPMA_TOOL_ADDR",
		"RPMA_EXAMPLES_ADDR",
		"RPMA_DEMO_ADDR",
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	for (size_t i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		setenv(vars[i], WIRE_ADDR, 1);
	setenv("RPMA_PROVIDER", "tcp", 1);
	execvp(argv[0], argv);
	fprintf(stderr, "slow-net: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int run(int dev, char *argv[])
{
	sigset_t signals, before;
	int status;
	pid_t pid;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0)
		become(argv, &before);
	forward(dev, signalfd(-1, &signals, SFD_CLOEXEC));
	fprintf(stderr, "slow-net: %u packets, %u lost, %u late\n", seen.packets, seen.lost,
		seen.late);
	if (waitpid(pid, &status, WNOHANG) != pid)
		return 128 + SIGTERM; /* of ours; the command goes with us */
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- options ----------------------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr, "usage: slow-net [--delay MS] [--jitter MS] [--loss PERCENT]"
			" [--reorder PERCENT] [--mtu N] [--seed N] -- COMMAND [ARGUMENT...]\n");
	exit(2);
}

static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end != '\0' || !(v >= 0 && v <= 1e9))
		usage();
	return v;
}

static void read_options(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "jitter", required_argument, NULL, 'j' },
		{ "loss", required_argument, NULL, 'l' },
		{ "reorder", required_argument, NULL, 'r' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 },
	};

	net.seed = (uint64_t)now_ns() % 1000000;
	for (int o; (o = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
		if (o == 'd')
			net.delay = number(optarg);
		else if (o == 'j')
			net.jitter = number(optarg);
		else if (o == 'l')
			net.loss = number(optarg);
		else if (o == 'r')
			net.reorder = number(optarg);
		else if (o == 'm')
			net.mtu = (unsigned)number(optarg);
		else if (o == 's')
			net.seed = (uint64_t)number(optarg);
		else
			usage();
	}
	if (optind == argc || net.mtu > MTU_MAX)
		usage();
}

int main(int argc, char *argv[])
{
	const char *lacking;
	int dev;

	read_options(argc, argv);
	dev = wire_open(net.mtu, &lacking);
	if (dev < 0) {
		printf("%s: %s\n", lacking, strerror(errno));
		return SKIP;
	}
	fprintf(stderr, "slow-net: seed %llu\n", (unsigned long long)net.seed);
	return run(dev, argv + optind);
}
