/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mr.c -- memory regions
 */

#include <stdlib.h>
#include <sys/resource.h>

#include "base/log.h"
#include "verbs/access.h"
#include "verbs/verbs.h"

/* The most that one advice speaks of; a multiple of every page size. */
#define ADVISE_STEP (UINT64_C(1) << 31)

/* Why a registration may have failed, where the number says too little. */
static void explain(int err, int access, uint64_t length)
{
	struct rlimit limit;

	/* EPERM: nothing at all may be */
	if ((err == -ENOMEM || err == -EPERM) && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
		limit.rlim_cur != RLIM_INFINITY)
		rp_log_error("memory of %llu bytes must be locked, and the limit is %llu in all "
			     "(ulimit -l, RLIMIT_MEMLOCK)",
			(unsigned long long)length, (unsigned long long)limit.rlim_cur);
	if (err == -EINVAL && access & RV_ACCESS_FLUSH_PERSISTENT)
		rp_log_error("the device flushes by itself, and may refuse persistent flushes of "
			     "memory that is not persistent");
	if (err == -EFAULT)
		rp_log_error("the memory is not all mapped as its usage needs, or is a shared "
			     "mapping of a file, which newer kernels let no device keep unless "
			     "the file system is one in memory");
	if (err == -EOPNOTSUPP)
		rp_log_error("the memory may be a mapping of a file on a DAX file system, which "
			     "only a device with on-demand paging takes");
}

static struct ibv_mr *reg(struct rv_pd *pd, void *addr, uint64_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd->ibv, addr, length, access);

	/* not at first: pinned memory is faster where it is possible */
	if (mr == NULL && errno == EOPNOTSUPP && pd->base.dev->caps & RP_CAP_ODP)
		mr = ibv_reg_mr(pd->ibv, addr, length, access | rv_access_on_demand());
	return mr;
}

int rv_mr_reg(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **out)
{
	const int access =
		rv_access(usage, rv_is_iwarp(pd->dev->context), pd->dev->caps & RP_CAP_FLUSH);
	struct rv_mr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (mr == NULL)
		return -ENOMEM;
	mr->ibv = reg(rv_pd(pd), addr, length, access);
	if (mr->ibv == NULL) {
		ret = rv_errno();
		free(mr);
		explain(ret, access, length);
		return ret;
	}
	mr->base.pd = pd;
	mr->base.addr = addr;
	mr->base.length = length;
	mr->base.rkey = mr->ibv->rkey;
	mr->base.lkey = mr->ibv->lkey;
	*out = &mr->base;
	return 0;
}

int rv_mr_dereg(struct rp_mr *base)
{
	struct rv_mr *mr = rv_mr(base);
	int ret = -abs(ibv_dereg_mr(mr->ibv));

	free(mr);
	return ret;
}

int rv_mr_advise(struct rp_mr *base, uint64_t addr, uint64_t length, int advice, uint32_t flags)
{
	struct rv_mr *mr = rv_mr(base);
	int ret;

	do {
		uint64_t n = length < ADVISE_STEP ? length : ADVISE_STEP;

		ret = rv_advise(mr->ibv, addr, (uint32_t)n, advice, flags);
		addr += n;
		length -= n;
	} while (!ret && length > 0);
	return ret;
}
