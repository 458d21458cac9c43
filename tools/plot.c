/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * plot.c -- results as a picture, by gnuplot: of several sizes bandwidth and times by
 * size, of one size its times by percentile
 */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

/* Start gnuplot; in_fd: what it reads, out: what it writes. */
static int start(char *const argv[], int in_fd, const char *out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	if (in_fd >= 0)
		posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_addopen(
		&actions, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	err = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

static bool succeeded(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool plot_possible(void)
{
	char *argv[] = { "gnuplot", "--version", NULL };
	pid_t pid;

	return !start(argv, -1, "/dev/null", &pid) && succeeded(pid);
}

static void by_size(FILE *f)
{
	fputs("set logscale x 2\nset xlabel 'bytes'\nset ylabel 'round trip, us'\n"
	      "set logscale y\nset y2label 'MiB/s'\nset y2tics\nset ytics nomirror\n"
	      "set format x '%.0b %B'\nset key left top\n"
	      "plot $d using 1:2 with linespoints title 'p50',"
	      " $d using 1:3 with linespoints title 'p99',"
	      " $d using 1:4 axes x1y2 with linespoints title 'MiB/s'\n",
		f);
}

static void data_by_size(FILE *f, const struct bench_plan *p, const struct bench_result *r)
{
	for (unsigned i = 0; i < p->n_sizes; i++)
		fprintf(f, "%llu %g %g %g\n", (unsigned long long)r[i].size,
			(double)hist_percentile(&r[i].times, 50) / 1e3,
			(double)hist_percentile(&r[i].times, 99) / 1e3,
			result_rate(&r[i]) * (double)r[i].size / 1048576);
}

static void by_percentile(FILE *f)
{
	fputs("set xlabel 'percentile'\nset logscale x 10\nset ylabel 'us'\nset key off\n"
	      "set xtics ('0' 1, '50' 2, '90' 10, '99' 100, '99.9' 1000, '99.99' 10000,"
	      " '99.999' 100000)\n"
	      "plot $d using 1:2 with lines\n",
		f);
}

/* By the share of those that are slower, which is what the tail is about. */
static void data_by_percentile(FILE *f, const struct bench_result *r)
{
	for (double x = 1; x <= 1e5 && x <= (double)r->times.count; x *= 1.05)
		fprintf(f, "%g %g\n", x, (double)hist_percentile(&r->times, 100 - 100 / x) / 1e3);
}

static void script(FILE *f, const struct bench_plan *p, const struct bench_result *r)
{
	fputs("set terminal svg size 800,500 background 'white'\nset grid\n", f);
	fprintf(f, "set title '%s, depth %llu, %llu connection(s), %s'\n$d << EOD\n",
		op_name(p->op), (unsigned long long)p->depth, (unsigned long long)p->connections,
		p->device);
	if (p->n_sizes > 1)
		data_by_size(f, p, r);
	else
		data_by_percentile(f, r);
	fputs("EOD\n", f);
	if (p->n_sizes > 1)
		by_size(f);
	else
		by_percentile(f);
}

void plot_results(const struct bench_plan *p, const struct bench_result *r, const char *path)
{
	char *argv[] = { "gnuplot", NULL };
	int fds[2], err = pipe2(fds, O_CLOEXEC);
	pid_t pid;
	FILE *f;

	if (err)
		fail("cannot plot: %s", strerror(errno));
	err = start(argv, fds[0], path, &pid);
	if (err)
		fail("cannot plot into %s: %s", path, strerror(err));
	close(fds[0]);
	f = need_memory(fdopen(fds[1], "w"));
	script(f, p, r);
	fclose(f);
	if (!succeeded(pid))
		fail("gnuplot could not plot into %s: see its message", path);
}
