/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mem.c -- see mem.h
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "tcp/mem.h"
#include "tcp/pd.h"

enum {
	BUCKETS_MIN = 64,
	STAG_RESERVED = 2, /* 0 and 1 */
	USAGE_WRITES = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_RECV,
};

/* Hash tables by rkey and lkey; the tags are random, so their low bits will do. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	struct tcp_mr **by_rkey;
	struct tcp_mr **by_lkey;
	uint32_t buckets; /* a power of two, or 0 */
	uint32_t count;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

/* ---- the table; its lock held ------------------------------------------------ */

static struct tcp_mr *find_rkey(uint32_t rkey)
{
	struct tcp_mr *mr = table.buckets ? table.by_rkey[rkey & (table.buckets - 1)] : NULL;

	while (mr != NULL && mr->base.rkey != rkey)
		mr = mr->next_r;
	return mr;
}

static struct tcp_mr *find_lkey(uint32_t lkey)
{
	struct tcp_mr *mr = table.buckets ? table.by_lkey[lkey & (table.buckets - 1)] : NULL;

	while (mr != NULL && mr->base.lkey != lkey)
		mr = mr->next_l;
	return mr;
}

static void link_rkey(struct tcp_mr **buckets, uint32_t n, struct tcp_mr *mr)
{
	struct tcp_mr **head = &buckets[mr->base.rkey & (n - 1)];

	mr->next_r = *head;
	*head = mr;
}

static void link_lkey(struct tcp_mr **buckets, uint32_t n, struct tcp_mr *mr)
{
	struct tcp_mr **head = &buckets[mr->base.lkey & (n - 1)];

	mr->next_l = *head;
	*head = mr;
}

static int table_grow(void)
{
	uint32_t n = table.buckets ? table.buckets * 2 : BUCKETS_MIN;
	struct tcp_mr **r = calloc(n, sizeof(*r));
	struct tcp_mr **l = calloc(n, sizeof(*l));

	if (r == NULL || l == NULL) {
		free(r);
		free(l);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < table.buckets; i++) {
		for (struct tcp_mr *mr = table.by_rkey[i], *next; mr; mr = next) {
			next = mr->next_r;
			link_rkey(r, n, mr);
			link_lkey(l, n, mr);
		}
	}
	free(table.by_rkey);
	free(table.by_lkey);
	table.by_rkey = r;
	table.by_lkey = l;
	table.buckets = n;
	return 0;
}

static int tag_new(uint32_t *tag)
{
	do {
		if (getrandom(tag, sizeof(*tag), 0) != sizeof(*tag))
			return -EAGAIN;
	} while (*tag < STAG_RESERVED || find_rkey(*tag) || find_lkey(*tag));
	return 0;
}

static int table_insert(struct tcp_mr *mr)
{
	int err = table.count >= table.buckets ? table_grow() : 0;

	if (err == 0)
		err = tag_new(&mr->base.rkey);
	do {
		if (err == 0)
			err = tag_new(&mr->base.lkey);
	} while (err == 0 && mr->base.lkey == mr->base.rkey);
	if (err)
		return err;
	link_rkey(table.by_rkey, table.buckets, mr);
	link_lkey(table.by_lkey, table.buckets, mr);
	table.count++;
	return 0;
}

static void table_remove(struct tcp_mr *mr)
{
	struct tcp_mr **p = &table.by_rkey[mr->base.rkey & (table.buckets - 1)];

	while (*p != mr)
		p = &(*p)->next_r;
	*p = mr->next_r;
	p = &table.by_lkey[mr->base.lkey & (table.buckets - 1)];
	while (*p != mr)
		p = &(*p)->next_l;
	*p = mr->next_l;
	if (--table.count > 0)
		return;
	free(table.by_rkey);
	free(table.by_lkey);
	table.by_rkey = table.by_lkey = NULL;
	table.buckets = 0;
}

/* ---- registration --------------------------------------------------------------- */

/* Tell once, at registration, what a persistent flush of the region will do. */
static void tell_persistence(const struct tcp_mr *mr, const struct maps_info *info)
{
	if (!(mr->usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		return;
	if (mr->persist == PERSIST_NONE || info->volatile_fs)
		rp_log_notice(
			"persistent flush of %p+%llu: %s; it will not survive a power cut%s%s",
			mr->base.addr, (unsigned long long)mr->base.length,
			persist_kind_text(mr->persist), info->path[0] ? ": " : "", info->path);
	else
		rp_log_notice("persistent flush of %p+%llu: %s, %s", mr->base.addr,
			(unsigned long long)mr->base.length, persist_kind_text(mr->persist),
			info->path);
}

/* Memory that we cannot even look at is refused now rather than met in the
 * middle of a transfer. */
static int judge_memory(struct tcp_mr *mr, struct maps_info *info)
{
	int err = maps_query(mr->base.addr, mr->base.length, info);

	if (err && err != -EFAULT) {
		/* /proc is not there: expect the most demanding kind. */
		*info = (struct maps_info){
			.file_backed = true, .persist = PERSIST_MSYNC, .path = "(unknown)"
		};
		err = 0;
	} else if (err == 0 && (!info->readable || (mr->usage & USAGE_WRITES && !info->writable))) {
		err = -EACCES;
	}
	mr->file_backed = info->file_backed;
	mr->persist = info->persist;
	return err;
}

int mem_reg(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **mr_ptr)
{
	struct tcp_mr *mr = calloc(1, sizeof(*mr));
	struct maps_info info;
	int err;

	if (mr == NULL)
		return -ENOMEM;
	mr->base = (struct rp_mr){ .pd = pd, .addr = addr, .length = length };
	mr->usage = usage;
	err = judge_memory(mr, &info);
	if (err == 0) {
		pthread_mutex_lock(&table.lock);
		err = table_insert(mr);
		pthread_mutex_unlock(&table.lock);
	}
	if (err) {
		free(mr);
		return err;
	}
	pd_use(pd);
	tell_persistence(mr, &info);
	*mr_ptr = &mr->base;
	return 0;
}

int mem_dereg(struct rp_mr *base)
{
	struct tcp_mr *mr = container_of(base, struct tcp_mr, base);

	pthread_mutex_lock(&table.lock);
	table_remove(mr);
	mr->waited = true;
	while (mr->accesses > 0)
		pthread_cond_wait(&table.idle, &table.lock);
	pthread_mutex_unlock(&table.lock);
	pd_unuse(base->pd);
	free(mr);
	return 0;
}

int mem_advise(struct rp_mr *base, uint64_t addr, uint64_t length, int advice, uint32_t flags)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t off = addr - (uintptr_t)base->addr;
	uint64_t from = addr & ~(page - 1);

	if (off > base->length || length > base->length - off ||
		(flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH))
		return -EINVAL;
	if (advice != IBV_ADVISE_MR_ADVICE_PREFETCH &&
		advice != IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE)
		return -EOPNOTSUPP;
	if (length == 0)
		return 0;
	/* Advice only: that the kernel has no use for it is no failure. */
	if (madvise((void *)(uintptr_t)from, addr + length - from, MADV_WILLNEED) &&
		errno == ENOMEM)
		return -EFAULT;
	return 0;
}

/* ---- access ------------------------------------------------------------------------ */

static enum mem_err judge(
	const struct tcp_mr *mr, struct rp_pd *pd, uint64_t addr, uint64_t length, int any_of)
{
	uint64_t off;

	if (mr == NULL)
		return MEM_STAG;
	if (mr->base.pd != pd)
		return MEM_PD;
	if (!(mr->usage & any_of))
		return MEM_ACCESS;
	if (length > UINT64_MAX - addr)
		return MEM_WRAP;
	off = addr - (uintptr_t)mr->base.addr;
	if (off > mr->base.length || length > mr->base.length - off)
		return MEM_BOUNDS;
	return MEM_OK;
}

static enum mem_err open_access(struct tcp_mr *(*find)(uint32_t), uint32_t tag, struct rp_pd *pd,
	uint64_t addr, uint64_t length, int any_of, struct tcp_mr **mr_ptr)
{
	struct tcp_mr *mr;
	enum mem_err err;

	pthread_mutex_lock(&table.lock);
	mr = find(tag);
	err = judge(mr, pd, addr, length, any_of);
	if (err == MEM_OK) {
		mr->accesses++;
		*mr_ptr = mr;
	}
	pthread_mutex_unlock(&table.lock);
	return err;
}

enum mem_err mem_open_remote(struct rp_pd *pd, uint32_t rkey, uint64_t addr, uint64_t length,
	int any_of, struct tcp_mr **mr)
{
	return open_access(find_rkey, rkey, pd, addr, length, any_of, mr);
}

enum mem_err mem_open_local(struct rp_pd *pd, uint32_t lkey, uint64_t addr, uint64_t length,
	int any_of, struct tcp_mr **mr)
{
	return open_access(find_lkey, lkey, pd, addr, length, any_of, mr);
}

void mem_close(struct tcp_mr *mr)
{
	pthread_mutex_lock(&table.lock);
	if (--mr->accesses == 0 && mr->waited)
		pthread_cond_broadcast(&table.idle);
	pthread_mutex_unlock(&table.lock);
}

/* ---- bytes --------------------------------------------------------------------------- */

/*
 * Copy by way of the kernel, which finds missing pages with an error where our
 * own loads and stores would meet SIGBUS. Some containers forbid these calls:
 * then plain copies are all that is left.
 */
static atomic_bool kernel_copy_denied;

static int kernel_copy(void *remote, void *local, size_t length, bool write)
{
	struct iovec l = { local, length };
	struct iovec r = { remote, length };
	ssize_t n;

	if (atomic_load_explicit(&kernel_copy_denied, memory_order_relaxed))
		return -ENOSYS;
	n = write ? process_vm_writev(getpid(), &l, 1, &r, 1, 0)
		  : process_vm_readv(getpid(), &l, 1, &r, 1, 0);
	if (n == (ssize_t)length)
		return 0;
	if (n >= 0 || (errno != ENOSYS && errno != EPERM && errno != ESRCH))
		return -EFAULT;
	atomic_store_explicit(&kernel_copy_denied, true, memory_order_relaxed);
	return -ENOSYS;
}

static bool is_atom(uint64_t addr, size_t length)
{
	return length == 8 && addr % 8 == 0;
}

/* Are the 8 bytes at addr still there? A moment later they may not be. */
static int probe(const struct tcp_mr *mr, uint64_t addr)
{
	uint64_t v;

	if (!mr->file_backed)
		return 0;
	return kernel_copy((void *)(uintptr_t)addr, &v, sizeof(v), false) == -EFAULT ? -EFAULT : 0;
}

int mem_write(struct tcp_mr *mr, uint64_t addr, const void *src, size_t length)
{
	void *dst = (void *)(uintptr_t)addr;
	uint64_t v;
	int err;

	if (is_atom(addr, length)) {
		err = probe(mr, addr);
		memcpy(&v, src, sizeof(v));
		if (err == 0)
			__atomic_store_n((uint64_t *)dst, v, __ATOMIC_RELEASE);
		return err;
	}
	if (mr->file_backed) {
		err = kernel_copy(dst, (void *)(uintptr_t)src, length, true);
		if (err != -ENOSYS)
			return err;
	}
	memcpy(dst, src, length);
	return 0;
}

int mem_read(struct tcp_mr *mr, uint64_t addr, void *dst, size_t length)
{
	const void *src = (const void *)(uintptr_t)addr;
	uint64_t v;
	int err;

	if (is_atom(addr, length)) {
		err = probe(mr, addr);
		if (err)
			return err;
		v = __atomic_load_n((const uint64_t *)src, __ATOMIC_ACQUIRE);
		memcpy(dst, &v, sizeof(v));
		return 0;
	}
	if (mr->file_backed) {
		err = kernel_copy((void *)(uintptr_t)addr, dst, length, false);
		if (err != -ENOSYS)
			return err;
	}
	memcpy(dst, src, length);
	return 0;
}

int mem_cmp_swap(struct tcp_mr *mr, uint64_t addr, uint64_t compare, uint64_t compare_mask,
	uint64_t swap, uint64_t swap_mask, uint64_t *old)
{
	uint64_t *p = (uint64_t *)(uintptr_t)addr;
	uint64_t v;
	int err = probe(mr, addr);

	if (err)
		return err;
	v = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	while (((compare ^ v) & compare_mask) == 0) {
		uint64_t n = (v & ~swap_mask) | (swap & swap_mask);

		if (__atomic_compare_exchange_n(
			    p, &v, n, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
			break;
	}
	*old = v;
	return 0;
}

/* The sum of two numbers whose carries stop at every bit set in mask. */
static uint64_t add_masked(uint64_t a, uint64_t b, uint64_t mask)
{
	uint64_t top = mask | UINT64_C(1) << 63; /* most significant bit of each field */

	return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
}

int mem_fetch_add(struct tcp_mr *mr, uint64_t addr, uint64_t add, uint64_t mask, uint64_t *old)
{
	uint64_t *p = (uint64_t *)(uintptr_t)addr;
	uint64_t v;
	int err = probe(mr, addr);

	if (err)
		return err;
	v = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(
		p, &v, add_masked(v, add, mask), false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
		;
	*old = v;
	return 0;
}
