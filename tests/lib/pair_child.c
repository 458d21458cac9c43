/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_child.c -- see pair_child.h */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair_child.h"
#include "pair_env.h"

extern char **environ;

static void make_pipe(int fd[2])
{
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
}

void child_start(struct child *c, const char *role, const char *arg, bool err)
{
	char *argv[] = { (char *)"conform", strdup(role), arg ? strdup(arg) : NULL, NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2], error[2] = { -1, -1 };

	make_pipe(in);
	make_pipe(out);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (err) {
		make_pipe(error);
		posix_spawn_file_actions_adddup2(&actions, error[1], 2);
	}
	assert_int_equal(posix_spawn(&c->pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	if (err)
		close(error[1]);
	c->in = in[1];
	c->out = out[0];
	c->err = error[0];
	free(argv[1]);
	free(argv[2]);
}

static bool read_byte(int fd, char *byte)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, test_timeout_ms()) != 1)
		fail_msg("the child says nothing in %d ms", test_timeout_ms());
	return read(fd, byte, 1) == 1;
}

static void read_line(int fd, char buf[CHILD_LINE])
{
	size_t n = 0;

	while (n < CHILD_LINE - 1) {
		if (!read_byte(fd, &buf[n]))
			fail_msg("the child has ended");
		if (buf[n] == '\n')
			break;
		n++;
	}
	buf[n] = '\0';
}

void child_expect(struct child *c, const char *word, char buf[CHILD_LINE])
{
	char line[CHILD_LINE];
	size_t len = strlen(word);

	do {
		read_line(c->out, line);
	} while (strncmp(line, word, len) != 0);
	if (buf)
		memmove(buf, line + len + (line[len] == ' '), strlen(line + len) + 1);
}

bool child_read_all(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size - 1 && read_byte(fd, &buf[n]))
		n++;
	buf[n] = '\0';
	return n < size - 1;
}

static int reap(struct child *c)
{
	int status = -1;

	close(c->in);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(c->out);
	if (c->err >= 0)
		close(c->err);
	return status;
}

void child_kill(struct child *c)
{
	assert_int_equal(kill(c->pid, SIGKILL), 0);
	reap(c);
}

void child_finish(struct child *c)
{
	int status = reap(c);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

void child_stop(struct child *c)
{
	int status;

	assert_int_equal(kill(c->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(c->pid, &status, WUNTRACED), c->pid);
	assert_true(WIFSTOPPED(status));
}

void child_continue(struct child *c)
{
	int status;

	assert_int_equal(kill(c->pid, SIGCONT), 0);
	assert_int_equal(waitpid(c->pid, &status, WCONTINUED), c->pid);
	assert_true(WIFCONTINUED(status));
}

void child_wait_for_end(void)
{
	char byte;

	while (read(0, &byte, 1) > 0)
		;
}
