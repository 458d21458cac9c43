/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * find.c -- the RDMA device that serves an address
 */

#include <dirent.h>
#include <netinet/in.h>

#include "base/log.h"
#include "verbs/verbs.h"

#define SYSFS_DEVICES "/sys/class/infiniband"

/* Asks the kernel first: rdma-core may have a word for stderr when it finds a
 * machine without devices, and some limit or file of it not to its liking. */
static bool have_devices(void)
{
	DIR *dir = opendir(SYSFS_DEVICES);
	struct ibv_device **all;
	struct dirent *entry;
	bool found = false;
	int n = 0;

	if (dir == NULL)
		return false;
	while (!found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.';
	closedir(dir);
	if (!found)
		return false;
	all = ibv_get_device_list(&n);
	if (all)
		ibv_free_device_list(all);
	return n > 0;
}

/* "This is no address of mine" is not the last word on the address. "Nobody
 * answers" is: had it been taken for a matter of devices, a peer that is down
 * would be looked for in the wrong network when it is up again. */
static int another_may_know(int ret)
{
	return ret == -EADDRNOTAVAIL || ret == -EINVAL ? -ENODEV : ret;
}

/* The kernel takes a loopback address for "any device", as it does a wildcard;
 * what it then connects to depends on the device. */
static bool is_of_no_device(const struct sockaddr *addr)
{
	const struct sockaddr_in *v4 = (const void *)addr;
	const struct sockaddr_in6 *v6 = (const void *)addr;

	if (addr->sa_family == AF_INET)
		return v4->sin_addr.s_addr == htonl(INADDR_ANY) ||
		       ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return addr->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) || IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr));
}

static int find_on(struct rv_cm *cm, const char *addr, bool local, int timeout_ms)
{
	struct rdma_addrinfo *rai;
	int ret = rv_getaddrinfo(addr, NULL, local ? RAI_PASSIVE : 0, &rai);

	if (ret)
		return ret;
	if (is_of_no_device(local ? rai->ai_src_addr : rai->ai_dst_addr))
		ret = -ENODEV;
	else if (local)
		ret = rdma_bind_addr(cm->id, rai->ai_src_addr) ? rv_errno() : 0;
	else
		ret = rv_cm_resolve_addr(cm, rai, timeout_ms);
	rdma_freeaddrinfo(rai);
	if (!ret && cm->id->verbs == NULL)
		ret = -ENODEV;
	ret = another_may_know(ret);
	if (ret)
		rp_log_notice("no RDMA device %s %s: %s", local ? "owns" : "reaches", addr,
			RP_STRERROR(-ret));
	return ret;
}

/* Devices of the host that a container sees and may not use; unlike a lack of
 * descriptors or memory, which passes. */
static bool is_not_for_us(int ret)
{
	return ret == -ENODEV || ret == -ENOENT || ret == -ENXIO || ret == -ENOSYS ||
	       ret == -EACCES || ret == -EPERM;
}

int rv_find(const char *addr, enum rpma_util_ibv_context_type type, int timeout_ms,
	struct ibv_context **context)
{
	struct rv_cm cm;
	int ret;

	if (!have_devices()) {
		rp_log_info("no RDMA device is here");
		return -ENODEV;
	}
	ret = rv_cm_open(&cm);
	if (is_not_for_us(ret)) {
		rp_log_notice("RDMA devices are here, but their connection manager cannot be "
			      "used: %s",
			RP_STRERROR(-ret));
		return -ENODEV;
	}
	if (ret)
		return ret;
	ret = find_on(&cm, addr, type == RPMA_UTIL_IBV_CONTEXT_LOCAL, timeout_ms);
	/* librdmacm keeps the context open */
	if (!ret)
		*context = cm.id->verbs;
	rv_cm_close(&cm);
	return ret;
}
