/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * bench_json.c -- results as JSON
 *
 * Names are those of perftest where the meaning is the same: MsgSize, n_iterations,
 * BW_average (MiB/s), MsgRate (millions per second), and t_... for reads. Its t_... of
 * writes and sends are half a round trip, so those are not here; all operations have
 * rtt_usec.
 */

#include <jansson.h>

#include "bench.h"

static double percentile_us(const struct bench_result *r, double p)
{
	return (double)hist_percentile(&r->times, p) / 1e3;
}

static json_t *info(const struct bench_plan *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:I}", "test",
		op_name(p->op), "host", p->target.host, "port", p->target.port, "Device", p->device,
		"Connection_type", "RC", "TX_depth", (json_int_t)p->depth, "Number_of_qps",
		(json_int_t)p->connections, "threads", (json_int_t)p->threads, "bidirectional",
		!!(p->flags & HELLO_BOTH), "events", !!(p->flags & HELLO_EVENTS), "verified",
		!!(p->flags & HELLO_VERIFY), "warmup", (json_int_t)p->warmup);
}

static json_t *times(const struct bench_result *r)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "min",
		(double)r->times.min / 1e3, "p50", percentile_us(r, 50), "p90",
		percentile_us(r, 90), "p99", percentile_us(r, 99), "p99.9", percentile_us(r, 99.9),
		"max", (double)r->times.max / 1e3, "mean", hist_mean(&r->times) / 1e3, "stdev",
		hist_deviation(&r->times) / 1e3);
}

static json_t *perftest_times(const struct bench_result *r)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "t_min", (double)r->times.min / 1e3,
		"t_max", (double)r->times.max / 1e3, "t_typical", percentile_us(r, 50), "t_avg",
		hist_mean(&r->times) / 1e3, "t_stdev", hist_deviation(&r->times) / 1e3,
		"percentile_99", percentile_us(r, 99), "percentile_99.9", percentile_us(r, 99.9));
}

static json_t *result(const struct bench_plan *p, const struct bench_result *r)
{
	double rate = result_rate(r);
	json_t *o = json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:I}", "MsgSize",
		(json_int_t)r->size, "n_iterations", (json_int_t)r->times.count, "seconds",
		r->elapsed, "BW_average",
		p->op == OP_CONNECT ? 0. : rate * (double)r->size / 1048576, "MsgRate", rate / 1e6,
		"messages_per_sec", rate, "rtt_usec", times(r), "cpu_here", r->cpu_here,
		"cpu_there", r->cpu_there, "mismatches", (json_int_t)r->mismatches);

	if (p->op == OP_READ)
		json_object_update_new(o, perftest_times(r));
	if (p->flags & HELLO_BOTH)
		json_object_set_new(o, "back",
			json_pack("{s:f, s:f}", "BW_average", r->back_bytes / 1048576,
				"messages_per_sec", r->back_messages));
	return o;
}

void json_results(const struct bench_plan *p, const struct bench_result *r)
{
	json_t *list = json_array();
	json_t *all;

	for (unsigned i = 0; i < p->n_sizes; i++)
		json_array_append_new(list, result(p, &r[i]));
	all = json_pack("{s:o, s:o}", "test_info", info(p), "results", list);
	if (!all || json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)))
		fail("cannot write the results");
	putchar('\n');
	json_decref(all);
}
