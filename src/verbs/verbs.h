/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * verbs.h -- the objects of the verbs provider: a thin translation of the seam
 * to libibverbs and librdmacm
 *
 * Each embeds the base of provider.h and comes back by rv_<noun>(). ibv is the
 * object of libibverbs behind it.
 */

#ifndef RPMA_VERBS_VERBS_H
#define RPMA_VERBS_VERBS_H 1

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "provider.h"
#include "verbs/cm.h"
#include "verbs/features.h"
#include "verbs/gate.h"
#include "verbs/hello.h"

/* Kept for ever, in the list of device.c. */
struct rv_device {
	struct rp_device base;
	struct list node;
	/* to notice that a context was closed and its address used again */
	struct ibv_device *ibv;
	struct rv_features features;
};

struct rv_pd {
	struct rp_pd base;
	struct ibv_pd *ibv;
};

struct rv_mr {
	struct rp_mr base;
	struct ibv_mr *ibv;
};

/*
 * lock: held while an event is taken and counted, and while a queue on this
 * channel is made or destroyed. So no event of a queue is ever taken and not yet
 * counted when the queue goes, which would make ibv_destroy_cq() wait.
 */
struct rv_channel {
	struct rp_channel base;
	struct ibv_comp_channel *ibv;
	struct gate gate;
	pthread_mutex_t lock;
};

/*
 * A completion queue becomes an ibv_cq only in rv_cq_ready(), when the queue
 * pair is made that completes into it: then it is known how large it must be to
 * never overrun, and not every device can resize one. Before that it is empty,
 * and remembers that it was armed.
 */
struct rv_cq {
	struct rp_cq base;
	_Atomic(struct ibv_cq *) ibv; /* set once, under the channel's lock */
	uint32_t size;		      /* at least this many entries */
	bool armed;		      /* before ibv; the channel's lock */
	unsigned unacked;	      /* events taken; the channel's lock */
	bool taken;		      /* the requests of a connection complete here */
};

/*
 * The queues as the seam has them: of the asked size, and a request holds its slot
 * until it, or a later one, has been polled. Devices round the size up, and those made
 * of software free a slot when the request is done, so they would go on to fill a
 * completion queue that nobody polls, and it loses what does not fit. After the first
 * error the device alone decides: the queue pair does no more than flush.
 *
 * To post takes one of free; only when there is none left is it looked up how many
 * completions core has taken meanwhile (rp_cq.sends, recvs). silent[i] is how many
 * requests have been posted that are not signaled and complete with signaled one i. The
 * posting locks guard all that.
 */
struct rv_sends {
	int32_t free;
	uint32_t signaled; /* this many were posted; free-running */
	uint32_t done;	   /* of them: have been polled, when last looked */
	uint32_t quiet;	   /* how many silent speaks of */
	uint32_t mask;	   /* of the ring silent, whose size is a power of two */
	uint32_t *silent;
	struct ibv_send_wr *bad; /* for the device to name the one it refuses */
};

struct rv_recvs {
	int (*post)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
	int32_t free;
	uint32_t done; /* likewise */
	struct ibv_recv_wr *bad;
};

struct rv_srq {
	struct rp_srq base;
	struct ibv_srq *ibv;
	uint32_t size; /* what the device made of it */
};

/* lock: held while a request is taken and moved to a channel of its own, so that
 * no other thread gets at later events of it. */
struct rv_listener {
	struct rp_listener base;
	struct rv_cm cm;
	pthread_mutex_t lock;
};

/* event_lock: held while an event is taken and what it means is found out, so that
 * several threads at once do so in the order of the events. */
struct rv_conn {
	struct rp_conn base;
	struct rv_cm cm;
	struct rv_cq *send_cq; /* from conn_setup_qp on */
	struct rv_cq *recv_cq;
	struct ibv_qp *qp; /* cm.id->qp */
	struct rv_sends sends;
	struct rv_recvs recvs;
	atomic_bool sendable; /* the queue pair has reached the state for it */
	pthread_mutex_t event_lock;
	atomic_bool leaving;	      /* a disconnect has been asked for */
	bool established;	      /* has been told */
	bool closed;		      /* is to be told next: it came too early */
	unsigned qp_caps;	      /* what the queue pair was made for */
	bool heard;		      /* what the other side sends along has come: */
	unsigned peer_caps;	      /* what it understands */
	uint8_t data[HELLO_DATA_MAX]; /* base.peer_data */
};

static inline struct rv_device *rv_device(struct rp_device *dev)
{
	return container_of(dev, struct rv_device, base);
}

static inline struct rv_pd *rv_pd(struct rp_pd *pd)
{
	return container_of(pd, struct rv_pd, base);
}

static inline struct rv_mr *rv_mr(struct rp_mr *mr)
{
	return container_of(mr, struct rv_mr, base);
}

static inline struct rv_channel *rv_channel(struct rp_channel *channel)
{
	return container_of(channel, struct rv_channel, base);
}

static inline struct rv_cq *rv_cq(struct rp_cq *cq)
{
	return container_of(cq, struct rv_cq, base);
}

static inline struct rv_srq *rv_srq(struct rp_srq *srq)
{
	return container_of(srq, struct rv_srq, base);
}

static inline struct rv_listener *rv_listener(struct rp_listener *listener)
{
	return container_of(listener, struct rv_listener, base);
}

static inline struct rv_conn *rv_conn(struct rp_conn *conn)
{
	return container_of(conn, struct rv_conn, base);
}

/* device.c */
int rv_device_open(struct ibv_context *context, struct rp_device **dev);
bool rv_is_iwarp(const struct ibv_context *context);
int rv_pd_alloc(struct rp_device *dev, struct rp_pd **pd);
int rv_pd_free(struct rp_pd *pd);

/* mr.c */
int rv_mr_reg(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **mr);
int rv_mr_dereg(struct rp_mr *mr);
int rv_mr_advise(struct rp_mr *mr, uint64_t addr, uint64_t length, int advice, uint32_t flags);

/* cq.c */
int rv_channel_create(struct rp_device *dev, struct rp_channel **channel);
int rv_channel_destroy(struct rp_channel *channel);
int rv_channel_wait(struct rp_channel *channel, struct rp_cq **cq);
int rv_cq_create(
	struct rp_device *dev, struct rp_channel *channel, uint32_t size, struct rp_cq **cq);
int rv_cq_destroy(struct rp_cq *cq);
int rv_cq_arm(struct rp_cq *cq);
/* Makes the ibv_cq, if there is none yet, for entries at least. */
int rv_cq_ready(struct rv_cq *cq, uint64_t entries);

/* qp.c */
int rv_srq_create(struct rp_pd *pd, uint32_t size, struct rp_srq **srq);
int rv_srq_destroy(struct rp_srq *srq);
int rv_conn_setup_qp(struct rp_conn *conn, const struct rp_qp_attr *attr);
/* The queue pair can send and receive now. */
void rv_qp_ready(struct rv_conn *conn);
void rv_qp_free(struct rv_conn *conn);

/* post.c: post() of the queues, see provider.h */
int rv_post_send(struct rp_sq *sq);
int rv_post_send_early(struct rp_sq *sq); /* before rv_qp_ready() */
int rv_post_recv(struct rp_rq *rq);
int rv_post_recv_refused(struct rp_rq *rq); /* of a connection with an SRQ */
int rv_srq_post_recv(struct rp_rq *rq);
/* How many elements a request without data has. */
int rv_no_data(const struct rp_pd *pd);

/* listener.c */
int rv_listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **listener);
int rv_listener_destroy(struct rp_listener *listener);
int rv_listener_next(struct rp_listener *listener, struct rp_conn **conn);

/* conn.c */
int rv_conn_create(struct rp_pd *pd, const char *addr, const char *port, int timeout_ms,
	struct rp_conn **conn);
int rv_conn_connect(struct rp_conn *conn, const void *data, size_t len);
int rv_conn_accept(struct rp_conn *conn, const void *data, size_t len);
int rv_conn_reject(struct rp_conn *conn);
int rv_conn_disconnect(struct rp_conn *conn);
int rv_conn_destroy(struct rp_conn *conn);
/* A connection that is nothing yet, on pd. */
struct rv_conn *rv_conn_new(struct rp_pd *pd);
void rv_conn_free(struct rv_conn *conn);
/* -ENODEV when the connection has come to be on another device than its pd. */
int rv_conn_check_device(const struct rv_conn *conn);

/* event.c */
int rv_conn_next_event(struct rp_conn *conn, enum rpma_conn_event *event);

/* tell.c */
/* What base.caps is made of has changed. */
void rv_conn_find_caps(struct rv_conn *conn);
/* Keeps what the other side sent along, the first time. */
void rv_conn_hear(struct rv_conn *conn, const struct rdma_conn_param *param);
/* Fills in param, which uses buf, of HELLO_DATA_MAX bytes. field: HELLO_IN_*. */
int rv_conn_tell(const struct rv_conn *conn, uint8_t field, const void *data, size_t len,
	uint8_t *buf, struct rdma_conn_param *param);

/* find.c */
int rv_find(const char *addr, enum rpma_util_ibv_context_type type, int timeout_ms,
	struct ibv_context **context);

#endif /* RPMA_VERBS_VERBS_H */
