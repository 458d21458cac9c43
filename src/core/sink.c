/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * sink.c -- where the emulated flush reads to
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "core/core.h"

int core_sink_new(struct rp_pd *pd, struct core_sink **sink_ptr)
{
	struct core_sink *sink = malloc(sizeof(*sink));
	int ret = RPMA_E_NOMEM;

	if (!sink)
		return RPMA_E_NOMEM;
	sink->page = mmap(
		NULL, CORE_SINK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sink->page == MAP_FAILED)
		goto free_sink;
	ret = core_result(CORE_CALL,
		pd->dev->ops->mr_reg(
			pd, sink->page, CORE_SINK_SIZE, RPMA_MR_USAGE_READ_DST, &sink->mr),
		"cannot register memory for flushing by reading");
	if (ret)
		goto unmap_page;

	atomic_init(&sink->refs, 1);
	*sink_ptr = sink;
	return 0;

unmap_page:
	munmap(sink->page, CORE_SINK_SIZE);
free_sink:
	free(sink);
	return ret;
}

struct core_sink *core_sink_get(struct core_sink *sink)
{
	atomic_fetch_add(&sink->refs, 1);
	return sink;
}

int core_sink_put(struct core_sink *sink)
{
	int ret;

	if (!sink || atomic_fetch_sub(&sink->refs, 1) > 1)
		return 0;
	ret = core_result(CORE_CALL, sink->mr->pd->dev->ops->mr_dereg(sink->mr),
		"cannot deregister the memory for flushing by reading");
	munmap(sink->page, CORE_SINK_SIZE);
	free(sink);
	return ret;
}
