/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench_tell.c -- results for people, and as CSV
 */

#include "bench.h"

#define MIB (1024. * 1024)

static double us(double nanosecs)
{
	return nanosecs / 1e3;
}

static double percentile_us(const struct bench_result *r, double p)
{
	return us((double)hist_percentile(&r->times, p));
}

static double mib_rate(const struct bench_plan *p, const struct bench_result *r)
{
	return p->op == OP_CONNECT ? 0 : result_rate(r) * (double)r->size / MIB;
}

void tell_begin(const struct bench_plan *p)
{
	printf("%s to %s port %s (%s), depth %llu, %llu connection%s, %llu thread%s, %s\n",
		op_name(p->op), p->target.host, p->target.port, p->device,
		(unsigned long long)p->depth, (unsigned long long)p->connections,
		p->connections == 1 ? "" : "s", (unsigned long long)p->threads,
		p->threads == 1 ? "" : "s", p->flags & HELLO_EVENTS ? "events" : "polling");
	printf(p->op == OP_CONNECT
			? "times are from the request to the established connection\n"
			: "times are round trips: from posting a request to its completion "
			  "here\n");
	if (p->n_sizes > 1)
		printf("\n%8s %10s %9s %9s %9s %9s %9s %5s %5s\n%8s %10s %9s %9s %9s %9s %9s %5s "
		       "%5s\n",
			"size", "messages/s", "MiB/s", "min us", "p50 us", "p99 us", "p99.9 us",
			"CPU %", "CPU %", "", "", "", "", "", "", "", "here", "there");
}

static void tell_row(const struct bench_plan *p, const struct bench_result *r)
{
	printf("%8llu %10.0f %9.1f %9.1f %9.1f %9.1f %9.1f %5.0f %5.0f\n",
		(unsigned long long)r->size, result_rate(r), mib_rate(p, r),
		us((double)r->times.min), percentile_us(r, 50), percentile_us(r, 99),
		percentile_us(r, 99.9), r->cpu_here * 100, r->cpu_there * 100);
}

void tell_result(const struct bench_plan *p, const struct bench_result *r)
{
	if (p->n_sizes > 1) {
		tell_row(p, r);
	} else {
		printf("\n%s of %llu bytes: %llu in %.2f s\n", op_name(p->op),
			(unsigned long long)r->size, (unsigned long long)r->times.count,
			r->elapsed);
		printf("%-12s min %.1f  p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f us\n",
			p->op == OP_CONNECT ? "connecting" : "round trip", us((double)r->times.min),
			percentile_us(r, 50), percentile_us(r, 90), percentile_us(r, 99),
			percentile_us(r, 99.9), us((double)r->times.max));
		printf("%-12s mean %.1f  stdev %.1f us\n", "", us(hist_mean(&r->times)),
			us(hist_deviation(&r->times)));
		printf("%-12s %.1f MiB/s  %.0f messages/s\n", "bandwidth", mib_rate(p, r),
			result_rate(r));
		printf("%-12s %.0f %% here  %.0f %% there (100 %%: one CPU)\n", "CPU",
			r->cpu_here * 100, r->cpu_there * 100);
	}
	if (p->flags & HELLO_BOTH)
		printf("%-12s %.1f MiB/s  %.0f messages/s, from there to here\n", "back",
			r->back_bytes / MIB, r->back_messages);
	if (p->flags & HELLO_VERIFY)
		printf("%-12s %llu\n", "mismatches", (unsigned long long)r->mismatches);
}

void csv_begin(void)
{
	puts("op,size,depth,connections,threads,messages,seconds,messages_per_sec,mib_per_sec,"
	     "rtt_min_us,rtt_p50_us,rtt_p90_us,rtt_p99_us,rtt_p99.9_us,rtt_max_us,rtt_mean_us,"
	     "rtt_stdev_us,cpu_here,cpu_there,back_messages_per_sec,back_mib_per_sec,mismatches");
}

void csv_result(const struct bench_plan *p, const struct bench_result *r)
{
	printf("%s,%llu,%llu,%llu,%llu,%llu,%.6f,%.1f,%.3f,", op_name(p->op),
		(unsigned long long)r->size, (unsigned long long)p->depth,
		(unsigned long long)p->connections, (unsigned long long)p->threads,
		(unsigned long long)r->times.count, r->elapsed, result_rate(r), mib_rate(p, r));
	printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,", us((double)r->times.min),
		percentile_us(r, 50), percentile_us(r, 90), percentile_us(r, 99),
		percentile_us(r, 99.9), us((double)r->times.max), us(hist_mean(&r->times)),
		us(hist_deviation(&r->times)));
	printf("%.3f,%.3f,%.1f,%.3f,%llu\n", r->cpu_here, r->cpu_there, r->back_messages,
		r->back_bytes / MIB, (unsigned long long)r->mismatches);
}
