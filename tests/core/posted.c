/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

#include "posted.h"

struct rig rig;

const struct signalling signalling[SIGNALLINGS] = {
	{ RPMA_F_COMPLETION_ON_ERROR, 0, NULL },
	{ RPMA_F_COMPLETION_ALWAYS, RP_WR_SIGNALED, (void *)-1 },
	{ 2, RP_WR_SIGNALED, (void *)1 },
	{ 4, 0, POISON },
	{ -1, RP_WR_SIGNALED, (void *)0x123456789abcdef0 },
};

int posted_up(void **state)
{
	rig_up(state);
	rig = rig_make(NULL);
	return 0;
}

int posted_down(void **state)
{
	rig_drop(&rig);
	return rig_down(state);
}

const struct rp_send_wr *posted(void)
{
	return &fake_last(FAKE_POST_SEND)->send;
}

void posted_check(const struct rp_send_wr *want)
{
	const struct rp_send_wr *wr = posted();

	assert_int_equal(wr->opcode, want->opcode);
	assert_int_equal(wr->flags, want->flags);
	assert_true(wr->wr_id == want->wr_id);
	assert_int_equal(wr->lkey, want->lkey);
	assert_true(wr->addr == want->addr);
	assert_true(wr->length == want->length);
	assert_true(wr->remote_addr == want->remote_addr);
	assert_int_equal(wr->rkey, want->rkey);
	assert_int_equal(wr->imm, want->imm);
	assert_int_equal(wr->flush_type, want->flush_type);
}

struct rp_mr *posted_mr(void)
{
	assert_ok(rpma_send(rig.conn, rig.mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, NULL));
	return fake_last(FAKE_POST_SEND)->mr;
}
