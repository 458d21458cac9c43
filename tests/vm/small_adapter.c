/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * small_adapter.c -- preloaded: every device has short queues, says so, and refuses
 * longer ones
 */

#include <dlfcn.h>
#include <errno.h>

#include <rdma/rdma_cma.h>

enum { LONGEST = 64 };

#define EXPORT __attribute__((visibility("default")))

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int (*real)(struct ibv_context *, struct ibv_device_attr *) =
		dlsym(RTLD_NEXT, "ibv_query_device");
	int ret = real(context, attr);

	attr->max_qp_wr = LONGEST;
	return ret;
}

EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int (*real)(struct rdma_cm_id *, struct ibv_qp_init_attr_ex *) =
		dlsym(RTLD_NEXT, "rdma_create_qp_ex");

	if (attr->cap.max_send_wr > LONGEST || attr->cap.max_recv_wr > LONGEST) {
		errno = EINVAL;
		return -1;
	}
	return real(id, attr);
}
