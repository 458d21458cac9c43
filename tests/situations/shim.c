/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* shim.c -- see shim.h */

#include "shim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHIM_OFF 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHIM_OFF 1
#endif
#endif

#define EXPORT __attribute__((visibility("default")))

#ifdef SHIM_OFF

EXPORT bool shim_works(void)
{
	return false;
}

EXPORT void shim_arm(enum shim_call call, int nth, int times, int err)
{
	(void)call;
	(void)nth;
	(void)times;
	(void)err;
}

EXPORT bool shim_fired(void)
{
	return false;
}

EXPORT int shim_live(void)
{
	return 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* glibc's own, beside the names that are taken here */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static struct {
	_Atomic uintptr_t text; /* of the library */
	_Atomic uintptr_t text_end;
	_Atomic int call;
	atomic_int countdown;
	atomic_int last; /* countdown down to here fails */
	_Atomic int err;
	atomic_bool fired;
} shim = { .call = SHIM_CALLS };

/* ---- who calls ----------------------------------------------------------- */

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "librpma.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		atomic_store(&shim.text_end, info->dlpi_addr + p->p_vaddr + p->p_memsz);
		atomic_store(&shim.text, info->dlpi_addr + p->p_vaddr);
	}
	return 1;
}

__attribute__((constructor)) static void shim_init(void)
{
	dl_iterate_phdr(find_library, NULL);
}

static bool from_library(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	return at >= atomic_load(&shim.text) && at < atomic_load(&shim.text_end);
}

#define FROM_LIBRARY from_library(__builtin_return_address(0))

/* ---- control ------------------------------------------------------------- */

EXPORT bool shim_works(void)
{
	return atomic_load(&shim.text) != 0;
}

EXPORT void shim_arm(enum shim_call call, int nth, int times, int err)
{
	atomic_store(&shim.call, SHIM_CALLS);
	atomic_store(&shim.fired, false);
	atomic_store(&shim.err, err);
	atomic_store(&shim.countdown, nth);
	atomic_store(&shim.last, 1 - times);
	atomic_store(&shim.call, call);
}

EXPORT bool shim_fired(void)
{
	return atomic_load(&shim.fired);
}

/* 0, or what is to happen instead of the call */
static int fault(enum shim_call call)
{
	int left;

	if (atomic_load(&shim.call) != (int)call)
		return 0;
	left = atomic_fetch_sub(&shim.countdown, 1) - 1;
	if (left > 0 || left < atomic_load(&shim.last))
		return 0;
	atomic_store(&shim.fired, true);
	return atomic_load(&shim.err);
}

static bool fails(enum shim_call call, bool ours)
{
	int err = ours ? fault(call) : 0;

	if (err > 0)
		errno = err;
	return err > 0;
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---- memory: the library's allocations, by address ----------------------- */

enum { ACCOUNTS = 1 << 16 };

static _Atomic uintptr_t account[ACCOUNTS];
static atomic_int live;

static unsigned hash(uintptr_t at)
{
	return (unsigned)((at >> 4) * 0x9e3779b1u) % ACCOUNTS;
}

/* Open addressing where a freed place is 1 and stays part of the chain. */
static void *book(void *p, bool ours)
{
	uintptr_t at = (uintptr_t)p;

	if (!ours || p == NULL)
		return p;
	for (unsigned i = hash(at);; i = (i + 1) % ACCOUNTS) {
		uintptr_t old = atomic_load(&account[i]);

		if (old <= 1 && atomic_compare_exchange_strong(&account[i], &old, at))
			break;
	}
	atomic_fetch_add(&live, 1);
	return p;
}

static void unbook(void *p)
{
	uintptr_t at = (uintptr_t)p;

	if (p == NULL)
		return;
	for (unsigned i = hash(at), n = 0; n < ACCOUNTS; i = (i + 1) % ACCOUNTS, n++) {
		uintptr_t old = atomic_load(&account[i]);

		if (old == 0)
			return;
		if (old != at)
			continue;
		atomic_store(&account[i], 1);
		atomic_fetch_sub(&live, 1);
		return;
	}
}

EXPORT int shim_live(void)
{
	return atomic_load(&live);
}

EXPORT void *malloc(size_t size)
{
	bool ours = FROM_LIBRARY;

	return fails(SHIM_MALLOC, ours) ? NULL : book(__libc_malloc(size), ours);
}

EXPORT void *calloc(size_t n, size_t size)
{
	bool ours = FROM_LIBRARY;

	return fails(SHIM_MALLOC, ours) ? NULL : book(__libc_calloc(n, size), ours);
}

EXPORT void *realloc(void *p, size_t size)
{
	bool ours = FROM_LIBRARY;
	void *q;

	if (fails(SHIM_MALLOC, ours))
		return NULL;
	unbook(p);
	q = __libc_realloc(p, size);
	return book(q ? q : p, ours) == q ? q : NULL;
}

EXPORT void free(void *p)
{
	unbook(p);
	__libc_free(p);
}

/* ---- the system ---------------------------------------------------------- */

EXPORT int socket(int domain, int type, int protocol)
{
	return fails(SHIM_SOCKET, FROM_LIBRARY) ? -1 : NEXT(socket)(domain, type, protocol);
}

EXPORT int accept4(int fd, __SOCKADDR_ARG sa, socklen_t *len, int flags)
{
	return fails(SHIM_ACCEPT, FROM_LIBRARY) ? -1 : NEXT(accept4)(fd, sa, len, flags);
}

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG sa, socklen_t len)
{
	return fails(SHIM_CONNECT, FROM_LIBRARY) ? -1 : NEXT(connect)(fd, sa, len);
}

EXPORT int epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	bool ours = FROM_LIBRARY && op == EPOLL_CTL_ADD;

	return fails(SHIM_EPOLL_CTL, ours) ? -1 : NEXT(epoll_ctl)(epfd, op, fd, ev);
}

EXPORT int epoll_create1(int flags)
{
	return fails(SHIM_EPOLL_CREATE, FROM_LIBRARY) ? -1 : NEXT(epoll_create1)(flags);
}

EXPORT int eventfd(unsigned value, int flags)
{
	return fails(SHIM_EVENTFD, FROM_LIBRARY) ? -1 : NEXT(eventfd)(value, flags);
}

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	if (fails(SHIM_PTHREAD_CREATE, FROM_LIBRARY))
		return errno;
	return NEXT(pthread_create)(t, attr, run, arg);
}

EXPORT ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	int err = FROM_LIBRARY ? fault(SHIM_SEND) : 0;

	if (err > 0) {
		errno = err;
		return -1;
	}
	return NEXT(send)(fd, buf, err == SHIM_ONE_BYTE && len > 1 ? 1 : len, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	int err = FROM_LIBRARY ? fault(SHIM_SEND) : 0;

	if (err > 0) {
		errno = err;
		return -1;
	}
	if (err == SHIM_ONE_BYTE && msg->msg_iovlen > 0 && msg->msg_iov[0].iov_len > 0)
		return NEXT(send)(fd, msg->msg_iov[0].iov_base, 1, flags);
	return NEXT(sendmsg)(fd, msg, flags);
}

EXPORT ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	int err = FROM_LIBRARY ? fault(SHIM_RECV) : 0;

	if (err > 0) {
		errno = err;
		return -1;
	}
	if (err == SHIM_EOF)
		return 0;
	return NEXT(recv)(fd, buf, err == SHIM_ONE_BYTE && len > 1 ? 1 : len, flags);
}

#endif /* SHIM_OFF */
