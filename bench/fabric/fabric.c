/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fabric.c -- the same transfers through libfabric, for comparison
 *
 * Two processes with a reliable endpoint each, both polling. A write counts when the
 * target has it (FI_DELIVERY_COMPLETE), as ours does.
 */

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "lib/bench.h"

#define must(call) must_be_zero((int)(call), #call)

enum { DEPTH_MAX = 1024 };

struct end {
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_mr *mr;
	void *desc;
	char *mem;
	size_t size;
	bool virtual_addresses;
	/* the target, as the initiator knows it */
	fi_addr_t target;
	uint64_t key;
	uint64_t addr;
};

static void must_be_zero(int ret, const char *call)
{
	if (ret)
		die("%.*s: %s", (int)strcspn(call, "("), call, fi_strerror(-ret));
}

/* ---- both sides -------------------------------------------------------------------- */

static struct fi_info *choose(const char *provider)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(provider);
	must(fi_getinfo(FI_VERSION(1, 11), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static struct fid_av *endpoint(struct end *e, struct fi_info *info, struct fid_fabric *fabric)
{
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT, .size = DEPTH_MAX };
	struct fid_av *av;

	must(fi_domain(fabric, info, &e->domain, NULL));
	must(fi_av_open(e->domain, &av_attr, &av, NULL));
	must(fi_cq_open(e->domain, &cq_attr, &e->cq, NULL));
	must(fi_endpoint(e->domain, info, &e->ep, NULL));
	must(fi_ep_bind(e->ep, &av->fid, 0));
	must(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
	must(fi_enable(e->ep));
	return av;
}

static struct fid_av *end_open(struct end *e, const char *provider, size_t size)
{
	struct fi_info *info = choose(provider);
	struct fid_fabric *fabric;
	struct fid_av *av;

	must(fi_fabric(info->fabric_attr, &fabric, NULL));
	av = endpoint(e, info, fabric);
	e->size = size;
	e->mem = anonymous(size);
	e->virtual_addresses = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
	must(fi_mr_reg(e->domain, e->mem, size,
		FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &e->mr, NULL));
	e->desc = fi_mr_desc(e->mr);
	fi_freeinfo(info);
	return av;
}

/* Completions taken. Moves things on as well. */
static unsigned reap(struct end *e)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry[16];
	ssize_t n = fi_cq_read(e->cq, entry, 16);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL && fi_cq_readerr(e->cq, &err, 0) == 1)
		die("a request failed: %s", fi_strerror(err.err));
	if (n < 0)
		die("fi_cq_read: %s", fi_strerror((int)-n));
	return (unsigned)n;
}

/* ---- target -------------------------------------------------------------------------- */

static void target(char **argv)
{
	struct end e = { 0 };
	uint8_t name[32];
	size_t len = sizeof(name);
	char line[WORD];
	int at = 0;

	end_open(&e, argv[0], strtoull(argv[1], NULL, 10));
	must(fi_getname(&e.ep->fid, name, &len));
	for (size_t i = 0; i < len; i++)
		at += snprintf(line + at, sizeof(line) - (size_t)at, "%02x", name[i]);
	snprintf(line + at, sizeof(line) - (size_t)at, " %llx %llx",
		(unsigned long long)fi_mr_key(e.mr),
		e.virtual_addresses ? (unsigned long long)(uintptr_t)e.mem : 0ULL);
	tell_parent(line);
	for (;;)
		reap(&e);
}

/* ---- initiator ----------------------------------------------------------------------- */

static void meet(struct end *e, struct fid_av *av, const char *line)
{
	unsigned long long key, addr;
	uint8_t name[32] = { 0 };
	unsigned byte;
	size_t len = 0;

	while (len < sizeof(name) && sscanf(line + 2 * len, "%2x", &byte) == 1 &&
		line[2 * len] != ' ')
		name[len++] = (uint8_t)byte;
	if (sscanf(line + 2 * len, " %llx %llx", &key, &addr) != 2)
		die("the target said: %s", line);
	if (fi_av_insert(av, name, 1, &e->target, 0, NULL) != 1)
		die("fi_av_insert");
	e->key = key;
	e->addr = addr;
}

static struct helper initiator(struct end *e, const char *provider, const char *size)
{
	struct helper h = helper_start((const char *[]){ "target", provider, size, NULL });
	struct fid_av *av = end_open(e, provider, strtoull(size, NULL, 10));
	char line[WORD];

	helper_hear(&h, line);
	meet(e, av, line);
	return h;
}

static ssize_t try_post(struct end *e, bool read, bool signaled)
{
	struct iovec local = { e->mem, e->size };
	struct fi_rma_iov remote = { e->addr, e->size, e->key };
	struct fi_msg_rma msg = { &local, &e->desc, 1, e->target, &remote, 1, NULL, 0 };
	uint64_t flags = signaled ? FI_COMPLETION : 0;

	if (read)
		return fi_readmsg(e->ep, &msg, flags);
	return fi_writemsg(e->ep, &msg, signaled ? flags | FI_DELIVERY_COMPLETE : flags);
}

/* Returns the completions that were taken to make room. */
static unsigned post(struct end *e, bool read, bool signaled)
{
	unsigned taken = 0;
	ssize_t ret;

	while ((ret = try_post(e, read, signaled)) == -FI_EAGAIN)
		taken += reap(e);
	must(ret);
	return taken;
}

static void repeat(struct samples *s, struct end *e, bool read, int64_t ns)
{
	samples_begin(s);
	for (int64_t t = s->start; t < s->start + ns; t = samples_add(s, t)) {
		if (post(e, read, true))
			continue;
		while (!reap(e))
			;
	}
}

static void latency(char **argv)
{
	int64_t ns = ns_of(argv[2]);
	bool read = !strcmp(argv[1], "read");
	struct samples s = { 0 };
	struct end e = { 0 };
	struct helper h = initiator(&e, argv[0], "8");

	repeat(&s, &e, read, ns / 5);
	repeat(&s, &e, read, ns);
	samples_tell(&s);
	helper_end(&h);
}

/* Writes per second. */
static double pour(struct end *e, unsigned depth, unsigned every, int64_t ns)
{
	int64_t start = now_ns();
	uint64_t posted = 0;
	unsigned room = depth;

	do {
		for (; room >= every; room -= every) {
			for (unsigned i = 1; i <= every; i++)
				room += post(e, false, i == every) * every;
			posted += every;
		}
		room += reap(e) * every;
	} while (now_ns() < start + ns);
	while (room < depth)
		room += reap(e) * every;
	return (double)posted * 1e9 / (double)(now_ns() - start);
}

static void stream(char **argv)
{
	unsigned depth = (unsigned)strtoul(argv[2], NULL, 10);
	unsigned every = (unsigned)strtoul(argv[3], NULL, 10);
	int64_t ns = ns_of(argv[4]);
	struct end e = { 0 };
	struct helper h = initiator(&e, argv[0], argv[1]);

	if (every == 0 || depth < every || depth > DEPTH_MAX || depth % every)
		die("stream: DEPTH has to be a multiple of SIGNAL_EVERY");
	pour(&e, depth, every, ns / 5);
	double rate = pour(&e, depth, every, ns);
	printf("per_s %.1f\nbytes_per_s %.0f\n", rate, rate * (double)e.size);
	helper_end(&h);
}

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "latency", "PROVIDER write|read SECONDS", 3, latency },
		{ "stream", "PROVIDER SIZE DEPTH SIGNAL_EVERY SECONDS", 5, stream },
		{ "target", NULL, 2, target },
		{ 0 },
	};

	return run_command(commands, argc, argv);
}
