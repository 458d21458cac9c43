/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench.c -- see bench.h: commands, time, samples
 */

#include <time.h>

#include "lib/bench.h"

enum { SAMPLES = 1 << 21 };

static int usage(const struct command *c, const char *program)
{
	for (; c->name; c++) {
		if (c->usage)
			fprintf(stderr, "usage: %s %s %s\n", program, c->name, c->usage);
	}
	return 2;
}

int run_command(const struct command *commands, int argc, char **argv)
{
	const struct command *c = commands;

	if (argc < 2)
		return usage(commands, argv[0]);
	while (c->name && strcmp(c->name, argv[1]))
		c++;
	if (c->name == NULL || argc - 2 != c->n_args)
		return usage(commands, argv[0]);
	c->run(argv + 2);
	return EXIT_SUCCESS;
}

int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ns_of(const char *seconds)
{
	double s = strtod(seconds, NULL);

	if (!(s > 0 && s < 3600))
		die("'%s' is no time in seconds", seconds);
	return (int64_t)(s * 1e9);
}

void samples_begin(struct samples *s)
{
	if (s->ns == NULL)
		s->ns = malloc(SAMPLES * sizeof(*s->ns));
	if (s->ns == NULL)
		die("out of memory");
	memset(s->ns, 0, SAMPLES * sizeof(*s->ns)); /* no page fault while we measure */
	s->n = s->count = 0;
	s->start = s->end = now_ns();
}

int64_t samples_add(struct samples *s, int64_t start)
{
	int64_t now = now_ns();
	int64_t ns = now - start;

	if (s->n < SAMPLES)
		s->ns[s->n++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	s->count++;
	s->end = now;
	return now;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void samples_tell(struct samples *s)
{
	double took = (double)(s->end - s->start);

	if (s->n == 0)
		die("not one operation in the time given");
	qsort(s->ns, s->n, sizeof(*s->ns), ascending);
	printf("p50_ns %u\n", s->ns[s->n / 2]);
	printf("p99_ns %u\n", s->ns[s->n - 1 - s->n / 100]);
	printf("mean_ns %.0f\n", took / (double)s->count);
	printf("per_s %.1f\n", (double)s->count * 1e9 / took);
	free(s->ns);
	s->ns = NULL;
}
