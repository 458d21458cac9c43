/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fake.h -- a provider without a transport, for tests of src/core
 *
 * It records each call, can let any of them fail, counts what is alive, and
 * hands out the events, requests and completions that the test puts in. It
 * never blocks: an empty queue is -EAGAIN. Breaking the rules of provider.h
 * (order of destruction, steps of a connection) aborts the program.
 *
 * State is global and the fake is for one thread; fake_reset() starts afresh.
 */

#ifndef RPMA_TESTS_FAKE_H
#define RPMA_TESTS_FAKE_H 1

#include "provider.h"

enum fake_op {
	FAKE_FIND,
	FAKE_OPEN,
	FAKE_PD_ALLOC,
	FAKE_PD_FREE,
	FAKE_MR_REG,
	FAKE_MR_DEREG,
	FAKE_MR_ADVISE,
	FAKE_CHANNEL_CREATE,
	FAKE_CHANNEL_DESTROY,
	FAKE_CHANNEL_WAIT,
	FAKE_CQ_CREATE,
	FAKE_CQ_DESTROY,
	FAKE_CQ_ARM,
	FAKE_CQ_POLL,
	FAKE_SRQ_CREATE,
	FAKE_SRQ_DESTROY,
	FAKE_SRQ_POST_RECV,
	FAKE_LISTENER_CREATE,
	FAKE_LISTENER_DESTROY,
	FAKE_LISTENER_NEXT,
	FAKE_CONN_CREATE,
	FAKE_CONN_SETUP_QP,
	FAKE_CONN_CONNECT,
	FAKE_CONN_ACCEPT,
	FAKE_CONN_REJECT,
	FAKE_CONN_NEXT_EVENT,
	FAKE_CONN_DISCONNECT,
	FAKE_CONN_DESTROY,
	FAKE_POST_SEND,
	FAKE_POST_RECV,
	FAKE_OPS,
};

/* One call of an op, or of what the objects have for posting and polling; fields that
 * it has no argument for are 0. */
struct fake_call {
	enum fake_op op;
	const void *object; /* what it is called on */
	char addr[64];	    /* of a peer, or in find */
	char port[16];
	int type; /* find: context type; mr_reg: usage; mr_advise: advice */
	int timeout_ms;
	uint32_t flags;			  /* mr_advise */
	uint32_t size;			  /* cq_create, srq_create; cq_poll: n */
	const struct rp_channel *channel; /* cq_create */
	uint64_t memory;		  /* mr_reg, mr_advise */
	uint64_t length;		  /* likewise */
	struct rp_qp_attr attr;
	uint8_t data[256]; /* private data */
	size_t data_len;
	struct rp_send_wr send;
	uint8_t inlined[8];	/* of send */
	struct rp_recv_wr recv; /* also srq_post_recv */
	struct rp_mr *mr;	/* of send or recv; NULL: none */
};

extern const struct rp_provider fake_provider; /* "fake" */

/* Forgets calls, failures and queued things; frees what is alive. */
void fake_reset(void);

/* ---- the device --------------------------------------------------------- */

struct ibv_context *fake_context(void);
/* enum rp_cap of the device, and of connections; none after fake_reset(). */
void fake_set_caps(unsigned device, unsigned conn);

/* ---- failures ----------------------------------------------------------- */

/* The n-th call from now (from 1) fails with -err; 0: none does. */
void fake_fail_at(unsigned n, int err);
/* The next call of op fails with -err. */
void fake_fail(enum fake_op op, int err);
/* Has a failure come true since it was ordered? */
bool fake_failed(void);
/* Runs in the next call of op, before it does anything. */
void fake_hook(enum fake_op op, void (*hook)(void *arg), void *arg);

/* ---- looking back ------------------------------------------------------- */

unsigned fake_count(enum fake_op op);
unsigned fake_calls(void);
const char *fake_op_name(enum fake_op op);
/* The i-th call of all, and the last one of op; NULL when there is none. */
const struct fake_call *fake_call(unsigned i);
const struct fake_call *fake_last(enum fake_op op);

/* Objects that have been made and not destroyed, of all kinds. */
unsigned fake_alive(void);

/* ---- things to hand out ------------------------------------------------- */

/* To whichever connection asks next. peer_data goes with ESTABLISHED. */
void fake_push_event(enum rpma_conn_event event);
void fake_set_peer_data(const void *data, uint8_t len);
/* A request for whichever listener asks next; it carries the peer data. */
void fake_push_request(void);
/* Into a queue; tells its channel when it is armed. */
void fake_push_wc(struct rp_cq *cq, const struct ibv_wc *wc);
/* An event of cq, without a completion. */
void fake_push_cq_event(struct rp_channel *channel, struct rp_cq *cq);
/* What polls return from now on, whatever the queue holds. */
void fake_set_poll_result(int result);

#endif /* RPMA_TESTS_FAKE_H */
