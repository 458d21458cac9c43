/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * posted.h -- for tests of what is posted: a rig that is up in each of them,
 * and what the provider got
 */

#ifndef RPMA_TESTS_CORE_POSTED_H
#define RPMA_TESTS_CORE_POSTED_H 1

#include "rig.h"

extern struct rig rig;

int posted_up(void **state);
int posted_down(void **state);

#define posted_test(f) cmocka_unit_test_setup_teardown(f, posted_up, posted_down)

/* The last request, and whether it is this one. */
const struct rp_send_wr *posted(void);
void posted_check(const struct rp_send_wr *want);

/* The region of the provider behind rig.mr, as a message shows it. */
struct rp_mr *posted_mr(void);

/* Flags of a call, whether they mean RP_WR_SIGNALED, and a context for it, which
 * comes out as wr_id whatever it is. */
struct signalling {
	int flags;
	unsigned signaled;
	const void *context;
};

#define SIGNALLINGS 5

extern const struct signalling signalling[SIGNALLINGS];

#endif /* RPMA_TESTS_CORE_POSTED_H */
