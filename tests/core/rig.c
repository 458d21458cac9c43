/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/core.h"
#include "rig.h"

char rig_memory[RIG_SIZE];

/* ---- log ---------------------------------------------------------------- */

static unsigned records[RPMA_LOG_LEVEL_DEBUG + 1];
static char last_text[1024];

static void __attribute__((format(printf, 5, 6))) catch (enum rpma_log_level level,
	const char *file_name, const int line_no, const char *function_name,
	const char *message_format, ...)
{
	va_list ap;

	assert_non_null(file_name);
	assert_true(line_no > 0);
	assert_non_null(function_name);
	records[level]++;
	va_start(ap, message_format);
	vsnprintf(last_text, sizeof(last_text), message_format, ap);
	va_end(ap);
	assert_true(last_text[0] && last_text[strlen(last_text) - 1] == '\n');
}

unsigned rig_log_count(enum rpma_log_level level)
{
	return records[level];
}

const char *rig_log_text(void)
{
	return last_text;
}

void rig_log_forget(void)
{
	memset(records, 0, sizeof(records));
	last_text[0] = '\0';
}

/* ---- allocations -------------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t length);

static unsigned alloc_fail_at;
static bool alloc_failed;
static int maps; /* which no leak checker counts */

void rig_alloc_fail_at(unsigned n)
{
	alloc_fail_at = n;
	alloc_failed = false;
}

bool rig_alloc_failed(void)
{
	return alloc_failed;
}

static bool this_one_fails(void)
{
	if (!alloc_fail_at || --alloc_fail_at)
		return false;
	alloc_failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return this_one_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return this_one_fails() ? NULL : __real_calloc(n, size);
}

/* What mmap() is called where off_t has 64 bits, which the build asks for. */
void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (this_one_fails())
		return MAP_FAILED;
	maps++;
	return __real_mmap64(addr, length, prot, flags, fd, offset);
}

int __wrap_munmap(void *addr, size_t length)
{
	maps--;
	return __real_munmap(addr, length);
}

/* ---- objects ------------------------------------------------------------ */

int rig_up(void **state)
{
	(void)state;
	fake_reset();
	rig_alloc_fail_at(0);
	rig_log_forget();
	rpma_log_set_function(catch);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG);
	return 0;
}

int rig_down(void **state)
{
	unsigned alive = fake_alive();

	(void)state;
	fake_reset();
	if (alive || maps)
		print_error("alive: %u objects of the provider, %d maps\n", alive, maps);
	return alive || maps ? -1 : 0;
}

struct rpma_peer *rig_peer(void)
{
	struct rpma_peer *peer = NULL;

	assert_ok(rpma_peer_new(fake_context(), &peer));
	return peer;
}

struct rpma_mr_local *rig_mr(struct rpma_peer *peer)
{
	struct rpma_mr_local *mr = NULL;

	assert_ok(rpma_mr_reg(peer, rig_memory, sizeof(rig_memory), 0xff, &mr));
	return mr;
}

struct rpma_mr_remote *rig_remote(uint64_t size, uint8_t usage)
{
	struct rpma_mr_remote told = { RIG_REMOTE_ADDR, size, RIG_REMOTE_KEY, usage };
	struct rpma_mr_remote *mr = NULL;
	uint8_t desc[CORE_MR_DESC_SIZE];

	core_mr_desc_encode(desc, &told);
	assert_ok(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &mr));
	return mr;
}

struct rpma_ep *rig_ep(struct rpma_peer *peer)
{
	struct rpma_ep *ep = NULL;

	assert_ok(rpma_ep_listen(peer, "192.0.2.1", "7204", &ep));
	return ep;
}

struct rpma_conn_req *rig_active_req(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	assert_ok(rpma_conn_req_new(peer, "192.0.2.1", "7204", cfg, &req));
	return req;
}

struct rpma_conn_req *rig_passive_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	fake_push_request();
	assert_ok(rpma_ep_next_conn_req(ep, cfg, &req));
	return req;
}

struct rpma_conn *rig_connect(struct rpma_conn_req *req)
{
	struct rpma_conn *conn = NULL;

	assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
	assert_null(req);
	return conn;
}

struct rig rig_make(const struct rpma_conn_cfg *cfg)
{
	enum rpma_conn_event event;
	struct rig rig;

	rig.peer = rig_peer();
	rig.mr = rig_mr(rig.peer);
	rig.remote = rig_remote(RIG_SIZE, 0xff);
	rig.conn = rig_connect(rig_active_req(rig.peer, cfg));
	fake_push_event(RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_next_event(rig.conn, &event));
	rig_log_forget();
	return rig;
}

void rig_drop(struct rig *rig)
{
	assert_ok(rpma_conn_delete(&rig->conn));
	assert_ok(rpma_mr_remote_delete(&rig->remote));
	assert_ok(rpma_mr_dereg(&rig->mr));
	assert_ok(rpma_peer_delete(&rig->peer));
}

struct rp_cq *rig_base_cq(struct rpma_cq *cq)
{
	return cq->cq;
}
