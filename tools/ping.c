/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * ping.c -- rpma ping: write into a server, read it back, compare, take the time
 *
 * The write and the read behind it are posted together, so it is one round trip.
 */

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "hist.h"
#include "load.h"

static const char help[] =
	"usage: rpma ping [OPTION...] HOST[:PORT]\n"
	"\n"
	"Write a pattern into the memory of 'rpma serve' at HOST, read it back, compare,\n"
	"and take the time of both, one round trip. Connects again when the connection is\n"
	"lost. What is exported is not touched.\n"
	"\n"
	"  -c, --count N        so many times (default: until interrupted)\n"
	"  -s, --size S         bytes (default: 64)\n"
	"  -i, --interval T     seconds between (default: 1)\n"
	"  -6                   by IPv6\n"
	"  -q, --quiet          only the summary\n"
	"      --timeout S      lost after so many seconds (20)\n"
	"      --provider P     auto, tcp or verbs\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           this text\n"
	"\n"
	"Status 1 when one was lost or came back wrong.\n"
	"Example: rpma ping -c 5 -s 64k that-host\n";

static uint64_t count = UINT64_MAX, size = 64;
static double interval = 1;
static bool ipv6, quiet;

static const struct opt options[] = {
	{ 'c', "count", OPT_COUNT, &count },
	{ 's', "size", OPT_SIZE, &size },
	{ 'i', "interval", OPT_SECONDS, &interval },
	{ '6', NULL, OPT_FLAG, &ipv6 },
	{ 'q', "quiet", OPT_FLAG, &quiet },
};

static struct target target;
static struct site site;
static struct link connection;
static bool connected;
static char *buf; /* what is written, then what is read */
static struct rpma_mr_local *mr;
static struct hist hist;
static uint64_t sent, lost, wrong;
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static void prepare(void)
{
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST;
	int ret;

	site_open(&site, target.host, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	buf = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		fail("out of memory");
	ret = rpma_mr_reg(site.peer, buf, 2 * size, usage, &mr);
	if (ret)
		fail("cannot register memory: %s; see the limits by: rpma info", cause(ret));
}

static bool connect_again(void)
{
	struct hello hello = { .role = ROLE_PING, .size = size };

	if (!connected && link_open(&connection, &site, &target, &hello,
				  &(struct link_queues){ .sends = 2 })) {
		link_close(&connection);
		return false;
	}
	connected = true;
	return true;
}

/* Write and read. Negative: no answer. */
static int there_and_back(uint64_t *took)
{
	uint64_t start = nanoseconds();
	struct ibv_wc wc;
	int ret;

	ret = rpma_write(connection.conn, connection.remote, 0, mr, 0, size,
		RPMA_F_COMPLETION_ON_ERROR, NULL);
	if (!ret)
		ret = rpma_read(connection.conn, mr, size, connection.remote, 0, size,
			RPMA_F_COMPLETION_ALWAYS, NULL);
	if (ret) {
		snprintf(connection.why, sizeof(connection.why), "%s", cause(ret));
		return -1;
	}
	ret = link_wait(&connection, &wc, 1);
	*took = nanoseconds() - start;
	return ret;
}

static void lose(uint64_t number)
{
	lost++;
	if (!quiet)
		printf("%llu: lost: %s\n", (unsigned long long)number, connection.why);
	if (connected)
		link_close(&connection);
	connected = false;
}

static void ping(uint64_t number)
{
	uint64_t took;

	sent++;
	pattern_fill(buf, size, number + 1);
	if (!connect_again() || there_and_back(&took) < 0) {
		lose(number);
		return;
	}
	hist_add(&hist, took);
	if (!pattern_matches(buf + size, size, number + 1)) {
		wrong++;
		printf("%llu: WRONG data came back\n", (unsigned long long)number);
	} else if (!quiet) {
		printf("%llu: %llu bytes there and back, %.1f us\n", (unsigned long long)number,
			(unsigned long long)size, (double)took / 1e3);
	}
}

static void pause_between(void)
{
	struct timespec t = { .tv_sec = (time_t)interval,
		.tv_nsec = (long)(fmod(interval, 1) * 1e9) };

	nanosleep(&t, NULL); /* a signal ends it, and us */
}

static void tell(void)
{
	printf("%llu sent, %llu lost (%.0f %%), %llu wrong", (unsigned long long)sent,
		(unsigned long long)lost, sent ? (double)lost * 100 / (double)sent : 0.,
		(unsigned long long)wrong);
	if (hist.count)
		printf("; round trip min %.1f avg %.1f max %.1f us", (double)hist.min / 1e3,
			hist_mean(&hist) / 1e3, (double)hist.max / 1e3);
	putchar('\n');
}

int cmd_ping(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = interrupt };
	int at = opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 1, 1);

	if (!parse_target(argv[at], &target) || target.has_length || target.has_offset)
		usage_error("'%s' is not HOST[:PORT]", argv[at]);
	if (!size || size > MESSAGE_MAX)
		usage_error("-s: from 1 to %u bytes", MESSAGE_MAX);
	if (ipv6)
		target_ipv6(&target);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGINT, &act, NULL);
	prepare();
	if (!connect_again())
		fail("%s", connection.why);
	for (uint64_t i = 1; i <= count && !interrupted; i++) {
		ping(i);
		if (i < count && !interrupted)
			pause_between();
	}
	tell();
	if (connected)
		link_close(&connection);
	rpma_mr_dereg(&mr);
	site_close(&site);
	munmap(buf, 2 * size);
	return lost || wrong ? STATUS_FAILED : STATUS_OK;
}
