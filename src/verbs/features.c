/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * features.c -- see features.h; RV_HAVE_* come from meson.build
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "verbs/features.h"

/* Of ibv_device_attr_ex.device_cap_flags_ex; not in every version's headers. */
#define DEVICE_FLUSH_GLOBAL (UINT64_C(1) << 38)
#define DEVICE_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define DEVICE_ATOMIC_WRITE (UINT64_C(1) << 40)

static enum rv_native native_mode;

static void read_native_mode(void)
{
	static const struct {
		const char *name;
		enum rv_native mode;
	} modes[] = {
		{ "", RV_NATIVE_AUTO },
		{ "auto", RV_NATIVE_AUTO },
		{ "always", RV_NATIVE_ALWAYS },
		{ "never", RV_NATIVE_NEVER },
	};
	const char *s = secure_getenv("RPMA_VERBS_NATIVE");

	if (s == NULL)
		return;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(s, modes[i].name)) {
			native_mode = modes[i].mode;
			return;
		}
	}
	rp_log_warning("RPMA_VERBS_NATIVE=%s is neither auto, always nor never; auto holds", s);
}

enum rv_native rv_native(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_native_mode);
	return native_mode;
}

static unsigned native_caps(uint64_t flags)
{
	unsigned caps = 0;

	if (rv_native() == RV_NATIVE_NEVER)
		return 0;
#if RV_HAVE_FLUSH
	if (flags & DEVICE_FLUSH_GLOBAL && flags & DEVICE_FLUSH_PERSISTENT)
		caps |= RP_CAP_FLUSH;
#endif
#if RV_HAVE_ATOMIC_WRITE
	if (flags & DEVICE_ATOMIC_WRITE)
		caps |= RP_CAP_ATOMIC_WRITE;
#endif
	(void)flags;
	return caps;
}

static unsigned odp_caps(const struct ibv_device_attr_ex *attr)
{
#if RV_HAVE_ODP
	const uint32_t rc = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;

	if (attr->odp_caps.general_caps & IBV_ODP_SUPPORT &&
		(attr->odp_caps.per_transport_caps.rc_odp_caps & rc) == rc)
		return RP_CAP_ODP;
#endif
	(void)attr;
	return 0;
}

int rv_features_query(struct ibv_context *context, struct rv_features *f)
{
	struct ibv_device_attr_ex attr = { 0 };
	int ret = ibv_query_device_ex(context, NULL, &attr);

	if (ret)
		return -abs(ret);
	f->caps = native_caps(attr.device_cap_flags_ex) | odp_caps(&attr);
	f->max_cqe = attr.orig_attr.max_cqe > 0 ? (uint32_t)attr.orig_attr.max_cqe : 0;
	return 0;
}

int rv_access_on_demand(void)
{
#if RV_HAVE_ODP
	return IBV_ACCESS_ON_DEMAND;
#else
	return 0;
#endif
}

int rv_advise(struct ibv_mr *mr, uint64_t addr, uint32_t length, int advice, uint32_t flags)
{
#if RV_HAVE_ADVISE
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = mr->lkey };

	return -abs(ibv_advise_mr(mr->pd, (enum ibv_advise_mr_advice)advice, flags, &sge, 1));
#else
	(void)mr, (void)addr, (void)length, (void)advice, (void)flags;
	return -EOPNOTSUPP;
#endif
}

uint64_t rv_send_ops(unsigned caps)
{
	uint64_t ops = 0;

#if RV_HAVE_FLUSH
	if (caps & RP_CAP_FLUSH)
		ops |= IBV_QP_EX_WITH_FLUSH;
#endif
#if RV_HAVE_ATOMIC_WRITE
	if (caps & RP_CAP_ATOMIC_WRITE)
		ops |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
	(void)caps;
	return ops;
}

#if RV_HAVE_FLUSH || RV_HAVE_ATOMIC_WRITE

static void put_request(struct ibv_qp_ex *qp, const struct rp_send_wr *wr)
{
#if RV_HAVE_FLUSH
	if (wr->opcode == RP_OP_FLUSH) {
		/* on the wire a length has 32 bits; more is the whole region's job */
		bool whole = wr->length > UINT32_MAX;

		ibv_wr_flush(qp, wr->rkey, wr->remote_addr, whole ? 0 : wr->length,
			wr->flush_type == RPMA_FLUSH_TYPE_PERSISTENT ? IBV_FLUSH_PERSISTENT
								     : IBV_FLUSH_GLOBAL,
			whole ? IBV_FLUSH_MR : IBV_FLUSH_RANGE);
		return;
	}
#endif
#if RV_HAVE_ATOMIC_WRITE
	ibv_wr_atomic_write(qp, wr->rkey, wr->remote_addr, (const void *)(uintptr_t)wr->addr);
#endif
}

int rv_post_native(struct ibv_qp *qp, const struct rp_send_wr *wr)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);

	if (ex == NULL)
		return -EOPNOTSUPP;
	ibv_wr_start(ex);
	ex->wr_id = wr->wr_id;
	ex->wr_flags = (wr->flags & RP_WR_SIGNALED ? IBV_SEND_SIGNALED : 0) |
		       (wr->flags & RP_WR_FENCE ? IBV_SEND_FENCE : 0);
	put_request(ex, wr);
	return -abs(ibv_wr_complete(ex));
}

#else

int rv_post_native(struct ibv_qp *qp, const struct rp_send_wr *wr)
{
	(void)qp;
	(void)wr;
	return -EOPNOTSUPP;
}

#endif
