/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original.c -- original server|client ADDRESS PORT TRACE <FROM_OTHER >TO_OTHER
 *
 * Each scenario has a process of its own: one that hangs or dies says so in the trace
 * ("end"), and the next one starts afresh. Ports count up from PORT.
 */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "original.h"

#define SECONDS 20 /* for a scenario */

/* What is sent to the other side */
#define HERE '.'
#define HERE_NOT '!' /* here, but it is not so */
#define NEXT '\n'    /* the scenario is over */

enum { OVER = 3 }; /* exit status: the other side's NEXT has come already */

enum role role;
const char *address, *port;

static int to_other;

static char receive(void)
{
	char c;

	if (read(STDIN_FILENO, &c, 1) != 1) {
		say("the other side", "gone");
		exit(OVER);
	}
	return c;
}

static void tell_other(char c)
{
	if (write(to_other, &c, 1) != 1)
		exit(OVER);
}

bool agree(bool so)
{
	char other;

	tell_other(so ? HERE : HERE_NOT);
	other = receive();
	if (other == NEXT) {
		say("the other side", "has left the scenario");
		exit(OVER);
	}
	return so && other == HERE;
}

void meet(void)
{
	agree(true);
}

static void say_end(int status)
{
	if (WIFSIGNALED(status))
		say("end", "signal %d", WTERMSIG(status));
	else
		say("end", "%s", WEXITSTATUS(status) ? "early" : "regular");
}

static bool on_iwarp(void)
{
	struct ibv_context *device = NULL;

	MUST(rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	return is_iwarp(device);
}

static void play(const struct scenario *s)
{
	int status = 0;
	pid_t child;

	printf("-- %s\n", s->name);
	child = fork();
	if (child == 0) {
		alarm(SECONDS);
		if (s->not_iwarp && on_iwarp())
			say("scenario", "not on iWARP");
		else
			s->play();
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		say("no process", "for a scenario");
		exit(1);
	}
	say_end(status);
	tell_other(NEXT);
	if (WIFEXITED(status) && WEXITSTATUS(status) == OVER)
		return;
	while (receive() != NEXT)
		;
}

int main(int argc, char *argv[])
{
	static const struct scenario *const all[] = {
		conn_scenarios,
		ends_scenarios,
		data_scenarios,
		queue_scenarios,
		fail_scenarios,
		edge_scenarios,
	};
	char text[16];
	int number;

	if (argc < 5) {
		fprintf(stderr, "usage: %s server|client ADDRESS PORT TRACE [SCENARIO]\n", argv[0]);
		return 1;
	}
	role = strcmp(argv[1], "server") ? CLIENT : SERVER;
	address = argv[2];
	port = text;
	number = atoi(argv[3]);
	to_other = dup(STDOUT_FILENO);
	if (!freopen(argv[4], "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		return 1;
	setlinebuf(stdout);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (const struct scenario *s = all[i]; s->name; s++) {
			snprintf(text, sizeof(text), "%d", number++);
			if (argc == 5 || !strcmp(argv[5], s->name))
				play(s);
		}
	}
	puts("-- done");
	return 0;
}
