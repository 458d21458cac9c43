/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * device.c -- the tcp provider as provider.h sees it: its one device, protection
 * domains, the table of ops
 *
 * The device shows the program a struct ibv_context, because the public API hands
 * one out. It has a name and a transport, and answers the two extended queries;
 * other verbs calls on it that go through the extended table fail with
 * EOPNOTSUPP. It is good for rpma_peer_new() and not for more.
 *
 * The engine lives as long as there are protection domains; with the last one all
 * threads and descriptors of the provider are gone.
 */

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/cq.h"
#include "tcp/env.h"
#include "tcp/mem.h"
#include "tcp/pd.h"

struct tcp_pd {
	struct rp_pd base;
	atomic_uint users; /* registrations, connections, ... made from it */
};

/* ---- the face of the device ------------------------------------------------------ */

static int face_query_device(struct ibv_context *context,
	const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr,
	size_t attr_size)
{
	struct ibv_device_attr_ex a;

	(void)context;
	if (input != NULL && input->comp_mask != 0)
		return EINVAL;
	memset(&a, 0, sizeof(a));
	strcpy(a.orig_attr.fw_ver, "0");
	a.orig_attr.max_mr_size = UINT64_MAX;
	a.orig_attr.max_qp = INT32_MAX;
	a.orig_attr.max_qp_wr = INT32_MAX;
	a.orig_attr.max_sge = 1;
	a.orig_attr.max_cq = INT32_MAX;
	a.orig_attr.max_cqe = INT32_MAX;
	a.orig_attr.max_mr = INT32_MAX;
	a.orig_attr.max_pd = INT32_MAX;
	a.orig_attr.max_qp_rd_atom = (int)tcp_env()->depth;
	a.orig_attr.max_qp_init_rd_atom = (int)tcp_env()->depth;
	a.orig_attr.max_srq = INT32_MAX;
	a.orig_attr.max_srq_wr = INT32_MAX;
	a.orig_attr.max_srq_sge = 1;
	a.orig_attr.phys_port_cnt = 1;
	a.odp_caps.general_caps = IBV_ODP_SUPPORT;
	a.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
						    IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	memcpy(attr, &a, attr_size < sizeof(a) ? attr_size : sizeof(a));
	return 0;
}

static int face_query_port(
	struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t attr_size)
{
	struct ibv_port_attr a = {
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.max_msg_sz = UINT32_MAX,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)context;
	if (port_num != 1)
		return EINVAL;
	memcpy(attr, &a, attr_size < sizeof(a) ? attr_size : sizeof(a));
	return 0;
}

static struct ibv_device face_device = {
	.node_type = IBV_NODE_RNIC,
	.transport_type = IBV_TRANSPORT_IWARP,
	.name = "rpma_tcp",
	.dev_name = "rpma_tcp",
};

static struct verbs_context face = {
	.query_device_ex = face_query_device,
	.query_port = face_query_port,
	.sz = sizeof(struct verbs_context),
	.context = {
		.device = &face_device,
		.cmd_fd = -1,
		.async_fd = -1,
		.num_comp_vectors = 1,
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.abi_compat = __VERBS_ABI_IS_EXTENDED,
	},
};

/* ---- engine ------------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	struct engine *engine;
	unsigned pds;
	pid_t pid; /* that the engine's thread lives in */
} device = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct engine *tcp_engine(void)
{
	return device.engine;
}

static int engine_hold(void)
{
	int err = 0;

	pthread_mutex_lock(&device.lock);
	if (device.pds > 0 && device.pid != getpid())
		device.pds = 0; /* after fork the threads are the parent's */
	if (device.pds == 0)
		err = engine_create(true, &device.engine);
	if (err == 0) {
		device.pds++;
		device.pid = getpid();
	}
	pthread_mutex_unlock(&device.lock);
	return err;
}

static void engine_release(void)
{
	pthread_mutex_lock(&device.lock);
	if (device.pid == getpid() && --device.pds == 0) {
		linger_stop();
		persist_stop();
		engine_destroy(device.engine);
		device.engine = NULL;
		pool_trim();
	}
	pthread_mutex_unlock(&device.lock);
}

/* ---- protection domain ----------------------------------------------------------------- */

static int pd_alloc(struct rp_device *dev, struct rp_pd **pd_ptr)
{
	struct tcp_pd *pd = calloc(1, sizeof(*pd));
	int err;

	if (pd == NULL)
		return -ENOMEM;
	err = engine_hold();
	if (err) {
		free(pd);
		return err;
	}
	pd->base.dev = dev;
	*pd_ptr = &pd->base;
	return 0;
}

static int pd_free(struct rp_pd *base)
{
	struct tcp_pd *pd = container_of(base, struct tcp_pd, base);

	if (atomic_load(&pd->users) > 0)
		return -EBUSY; /* they go on working, and need it */
	engine_release();
	free(pd);
	return 0;
}

void pd_use(struct rp_pd *base)
{
	atomic_fetch_add(&container_of(base, struct tcp_pd, base)->users, 1);
}

void pd_unuse(struct rp_pd *base)
{
	atomic_fetch_sub(&container_of(base, struct tcp_pd, base)->users, 1);
}

/* ---- the provider --------------------------------------------------------------------------- */

static const struct rp_ops tcp_ops = {
	.name = "tcp",
	.pd_alloc = pd_alloc,
	.pd_free = pd_free,
	.mr_reg = mem_reg,
	.mr_dereg = mem_dereg,
	.mr_advise = mem_advise,
	.channel_create = channel_create,
	.channel_destroy = channel_destroy,
	.channel_wait = channel_wait,
	.cq_create = cq_create,
	.cq_destroy = cq_destroy,
	.cq_arm = cq_arm,
	.srq_create = srq_create,
	.srq_destroy = srq_destroy,
	.listener_create = listener_create,
	.listener_destroy = listener_destroy,
	.listener_next = listener_next,
	.conn_create = conn_create,
	.conn_setup_qp = conn_setup_qp,
	.conn_connect = conn_connect,
	.conn_accept = conn_accept,
	.conn_reject = conn_reject,
	.conn_next_event = conn_next_event,
	.conn_disconnect = conn_disconnect,
	.conn_destroy = conn_destroy,
};

static struct rp_device the_device = {
	.ops = &tcp_ops,
	.context = &face.context,
	.caps = RP_CAP_FLUSH | RP_CAP_ATOMIC_WRITE | RP_CAP_ODP,
};

static bool is_wildcard(const struct sockaddr *sa)
{
	static const struct in6_addr any6 = IN6ADDR_ANY_INIT;

	if (sa->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)sa)->sin6_addr, &any6, sizeof(any6));
	return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == INADDR_ANY;
}

static int is_local(const struct sockaddr *sa, socklen_t len)
{
	int fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (!is_wildcard(sa) && bind(fd, sa, len))
		err = -errno;
	close(fd);
	return err;
}

static int tcp_find(const char *addr, enum rpma_util_ibv_context_type type, int timeout_ms,
	struct ibv_context **context)
{
	struct addrinfo *ai;
	int err;

	(void)timeout_ms; /* routes are found at once */
	err = resolve(addr, NULL, type == RPMA_UTIL_IBV_CONTEXT_LOCAL, &ai);
	if (err)
		return err;
	for (struct addrinfo *a = ai; a != NULL; a = a->ai_next) {
		err = type == RPMA_UTIL_IBV_CONTEXT_LOCAL
			      ? is_local(a->ai_addr, a->ai_addrlen)
			      : resolve_route(a->ai_addr, a->ai_addrlen);
		if (err == 0)
			break;
	}
	freeaddrinfo(ai);
	if (err == 0)
		*context = &face.context;
	return err;
}

static int tcp_open(struct ibv_context *context, struct rp_device **dev)
{
	if (context != &face.context)
		return -ENODEV;
	*dev = &the_device;
	return 0;
}

const struct rp_provider rp_provider_tcp = {
	.name = "tcp",
	.find = tcp_find,
	.open = tcp_open,
};
