/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * persist.c -- see persist.h
 */

#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef RPMA_HAVE_PMEM
#include <libpmem.h>
#endif

#include "tcp/persist.h"

enum {
	THREADS_MAX = 16,
	CPU_FLUSH_MAX = 256 * 1024, /* more of it is work for a thread, too */
};

/* This thread is one of ours: what it submits, or as much, it does itself next. */
static _Thread_local bool is_worker;

/* Threads are started when all others are busy, and stay until persist_stop. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	struct list queue;
	unsigned n_queued;
	pthread_t threads[THREADS_MAX];
	unsigned n_threads;
	unsigned n_idle;
	bool stop;
} pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
	.queue = { &pool.queue, &pool.queue },
};

static int sync_pages(uint64_t addr, uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = addr & ~(page - 1);
	int r;

	do
		r = msync((void *)(uintptr_t)from, addr + length - from, MS_SYNC);
	while (r != 0 && errno == EINTR);
	return r ? -errno : 0;
}

static int make_durable(enum persist_kind kind, uint64_t addr, uint64_t length)
{
	switch (kind) {
	case PERSIST_NONE:
		return 0;
	case PERSIST_CPU:
#ifdef RPMA_HAVE_PMEM
		pmem_persist((void *)(uintptr_t)addr, length);
		return 0;
#endif
	case PERSIST_MSYNC:
		break;
	}
	return sync_pages(addr, length);
}

bool persist_now(struct tcp_mr *mr, uint64_t addr, uint64_t length, int *result)
{
	bool now = length == 0 || mr->persist == PERSIST_NONE;

#ifdef RPMA_HAVE_PMEM
	now = now || (mr->persist == PERSIST_CPU && length <= CPU_FLUSH_MAX);
#endif
	if (now)
		*result = length ? make_durable(mr->persist, addr, length) : 0;
	return now;
}

static void *worker(void *arg)
{
	struct list *node;

	(void)arg;
	is_worker = true;
	pthread_setname_np(pthread_self(), "rpma-persist");
	pthread_mutex_lock(&pool.lock);
	while (!pool.stop) {
		struct persist_job *job;
		int result;

		node = list_pop(&pool.queue);
		if (node == NULL) {
			pool.n_idle++;
			pthread_cond_wait(&pool.work, &pool.lock);
			pool.n_idle--;
			continue;
		}
		pool.n_queued--;
		job = container_of(node, struct persist_job, node);
		job->state = PERSIST_RUNNING;
		job->busy++;
		pthread_mutex_unlock(&pool.lock);
		result = make_durable(job->mr->persist, job->addr, job->length);
		mem_close(job->mr);
		pthread_mutex_lock(&pool.lock);
		job->result = result;
		job->state = PERSIST_DONE;
		pthread_mutex_unlock(&pool.lock);
		job->done(job);
		pthread_mutex_lock(&pool.lock);
		job->busy--; /* from here on the owner may free it */
		pthread_cond_broadcast(&pool.done);
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

static int start_thread(void)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&pool.threads[pool.n_threads], NULL, worker, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pool.n_threads += err == 0;
	return -err;
}

int persist_submit(struct persist_job *job)
{
	int err = 0;

	pthread_mutex_lock(&pool.lock);
	if (!is_worker && pool.n_queued >= pool.n_idle && pool.n_threads < THREADS_MAX)
		err = start_thread();
	if (pool.n_threads > 0) {
		err = 0;
		job->state = PERSIST_QUEUED;
		list_add_tail(&pool.queue, &job->node);
		pool.n_queued++;
		if (!is_worker)
			pthread_cond_signal(&pool.work);
	}
	pthread_mutex_unlock(&pool.lock);
	return err;
}

enum persist_state persist_poll(struct persist_job *job, int *result)
{
	enum persist_state state;

	pthread_mutex_lock(&pool.lock);
	state = job->state;
	if (state == PERSIST_DONE) {
		*result = job->result;
		job->state = PERSIST_IDLE;
	}
	pthread_mutex_unlock(&pool.lock);
	return state;
}

void persist_cancel(struct persist_job *job)
{
	pthread_mutex_lock(&pool.lock);
	if (job->state == PERSIST_QUEUED) {
		list_del(&job->node);
		pool.n_queued--;
		mem_close(job->mr);
	}
	while (job->busy > 0)
		pthread_cond_wait(&pool.done, &pool.lock);
	job->state = PERSIST_IDLE;
	pthread_mutex_unlock(&pool.lock);
}

void persist_stop(void)
{
	unsigned n;

	pthread_mutex_lock(&pool.lock);
	pool.stop = true;
	n = pool.n_threads;
	pthread_cond_broadcast(&pool.work);
	pthread_mutex_unlock(&pool.lock);
	for (unsigned i = 0; i < n; i++)
		pthread_join(pool.threads[i], NULL);
	pthread_mutex_lock(&pool.lock);
	pool.n_threads = 0;
	pool.stop = false;
	pthread_mutex_unlock(&pool.lock);
}
