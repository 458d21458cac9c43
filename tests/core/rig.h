/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * rig.h -- what the tests of src/core have in common: objects on the fake
 * provider, caught log records, failing allocations
 */

#ifndef RPMA_TESTS_CORE_RIG_H
#define RPMA_TESTS_CORE_RIG_H 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "librpma.h"
#include "fake.h"

/* cmocka setup and teardown of every test here: afterwards nothing of the
 * provider may be alive. */
int rig_up(void **state);
int rig_down(void **state);

#define rig_test(f) cmocka_unit_test_setup_teardown(f, rig_up, rig_down)

/* No object, and no NULL: to see that an out-parameter is left alone. */
#define POISON ((void *)(uintptr_t)0x5a5a5a5a)

#define assert_ok(call) assert_int_equal(call, 0)
#define assert_inval(call) assert_int_equal(call, RPMA_E_INVAL)

/* ---- objects, made and taken away --------------------------------------- */

#define RIG_SIZE 4096
#define RIG_REMOTE_ADDR 0x7f0011223000
#define RIG_REMOTE_KEY 0x00ab3c07

extern char rig_memory[RIG_SIZE];

struct rpma_peer *rig_peer(void);
/* rig_memory, for everything */
struct rpma_mr_local *rig_mr(struct rpma_peer *peer);
struct rpma_mr_remote *rig_remote(uint64_t size, uint8_t usage);
struct rpma_conn_req *rig_active_req(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg);
struct rpma_conn_req *rig_passive_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg);
struct rpma_conn *rig_connect(struct rpma_conn_req *req);
struct rpma_ep *rig_ep(struct rpma_peer *peer);

/* A peer, a region, and an established connection. */
struct rig {
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote; /* RIG_SIZE, for everything */
	struct rpma_conn *conn;
};

struct rig rig_make(const struct rpma_conn_cfg *cfg);
void rig_drop(struct rig *rig);

/* The provider's object under a queue. */
struct rp_cq *rig_base_cq(struct rpma_cq *cq);

/* ---- log ---------------------------------------------------------------- */

/* All records since rig_up() or rig_log_forget(), of all levels. */
unsigned rig_log_count(enum rpma_log_level level);
/* The text of the last one, "" if there is none. */
const char *rig_log_text(void);
void rig_log_forget(void);

/* ---- allocations -------------------------------------------------------- */

/* malloc, calloc and mmap of the library: the n-th from now fails; 0: none. */
void rig_alloc_fail_at(unsigned n);
bool rig_alloc_failed(void);

#endif /* RPMA_TESTS_CORE_RIG_H */
