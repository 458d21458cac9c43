/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * device.c -- RDMA devices and protection domains
 */

#include <stdlib.h>

#include "verbs/ops.h"
#include "verbs/verbs.h"

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list devices = { &devices, &devices };

/* A context of another provider has a device that libibverbs does not know. */
static bool is_of_verbs(const struct ibv_context *context)
{
	struct ibv_device **all = ibv_get_device_list(NULL);
	bool found = false;

	for (int i = 0; all && all[i] && !found; i++)
		found = all[i] == context->device;
	if (all)
		ibv_free_device_list(all);
	return found;
}

/* Needs devices_lock. */
static struct rv_device *known_device(const struct ibv_context *context)
{
	list_each (node, tmp, &devices) {
		struct rv_device *dev = container_of(node, struct rv_device, node);

		if (dev->base.context == context && dev->ibv == context->device)
			return dev;
	}
	return NULL;
}

/* Needs devices_lock. */
static int device_new(struct ibv_context *context, struct rv_device **out)
{
	struct rv_device *dev = calloc(1, sizeof(*dev));
	int ret;

	if (dev == NULL)
		return -ENOMEM;
	ret = rv_features_query(context, &dev->features);
	if (ret) {
		free(dev);
		return ret;
	}
	dev->base.ops = &rv_ops;
	dev->base.context = context;
	dev->base.caps = dev->features.caps;
	dev->ibv = context->device;
	list_add_tail(&devices, &dev->node);
	*out = dev;
	return 0;
}

int rv_device_open(struct ibv_context *context, struct rp_device **out)
{
	struct rv_device *dev;
	int ret = 0;

	if (!is_of_verbs(context))
		return -ENODEV;
	(void)rv_native(); /* which may have something to log: not under the lock */
	pthread_mutex_lock(&devices_lock);
	dev = known_device(context);
	if (dev == NULL)
		ret = device_new(context, &dev);
	pthread_mutex_unlock(&devices_lock);
	if (!ret)
		*out = &dev->base;
	return ret;
}

bool rv_is_iwarp(const struct ibv_context *context)
{
	return context->device->transport_type == IBV_TRANSPORT_IWARP;
}

int rv_pd_alloc(struct rp_device *dev, struct rp_pd **out)
{
	struct rv_pd *pd = calloc(1, sizeof(*pd));
	int ret;

	if (pd == NULL)
		return -ENOMEM;
	pd->base.dev = dev;
	pd->ibv = ibv_alloc_pd(dev->context);
	if (pd->ibv == NULL) {
		ret = rv_errno();
		free(pd);
		return ret;
	}
	*out = &pd->base;
	return 0;
}

int rv_pd_free(struct rp_pd *base)
{
	struct rv_pd *pd = rv_pd(base);
	int ret = -abs(ibv_dealloc_pd(pd->ibv));

	/* what still uses it, in the device and here, finds it unchanged */
	if (!ret)
		free(pd);
	return ret;
}
