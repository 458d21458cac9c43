/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * core.h -- the public nouns and what they are made of
 *
 * A noun is a thin owner of objects of a provider. It holds nothing that would
 * have to be locked: fields are written before the noun is handed out, or they
 * are atomic.
 *
 * Nouns do not point to the nouns they came from, only to the provider's
 * objects and to what is counted (struct core_sink): a peer, an endpoint or a
 * shared receive queue that is deleted too early makes the provider say "busy",
 * never core touch freed memory.
 */

#ifndef RPMA_CORE_CORE_H
#define RPMA_CORE_CORE_H 1

/* The public functions are seen from outside, whatever the build says of the
 * others; librpma.map says which. */
#pragma GCC visibility push(default)
#include "librpma.h"
#pragma GCC visibility pop

#include <stdatomic.h>
#include "provider.h"

/* ---- sink.c ------------------------------------------------------------- */

/*
 * Where the emulated flush reads to: 8 bytes that nobody looks at, one sink for
 * all connections of a peer. They have a page of their own, so that a fork
 * which takes registered pages from the child takes nothing that it needs.
 *
 * Counted: the peer, its endpoints and its connections hold it. The last
 * one deregisters it, so deletion in the wrong order is harmless.
 */
struct core_sink {
	atomic_uint refs;
	void *page;
	struct rp_mr *mr;
};

#define CORE_SINK_SIZE 8

int core_sink_new(struct rp_pd *pd, struct core_sink **sink_ptr);
struct core_sink *core_sink_get(struct core_sink *sink);
int core_sink_put(struct core_sink *sink); /* NULL: nothing */

/* ---- peer, memory ------------------------------------------------------- */

struct rpma_peer {
	struct rp_pd *pd;
	struct core_sink *sink;
};

struct rpma_peer_cfg {
	atomic_bool direct_write_to_pmem;
};

struct rpma_mr_local {
	struct rp_mr *mr;
	uint8_t usage; /* RPMA_MR_USAGE_* */
};

/* What the descriptor said; nothing of it is checked but that usage is not 0. */
struct rpma_mr_remote {
	uint64_t addr;
	uint64_t size;
	uint32_t rkey;
	uint8_t usage; /* RPMA_MR_USAGE_* */
};

/* descriptor.c: the bytes of both descriptors. Any alignment. */
#define CORE_MR_DESC_SIZE 21
#define CORE_PEER_CFG_DESC_SIZE 1

void core_mr_desc_encode(void *desc, const struct rpma_mr_remote *mr);
void core_mr_desc_decode(const void *desc, struct rpma_mr_remote *mr);
void core_peer_cfg_desc_encode(void *desc, bool direct_write_to_pmem);
bool core_peer_cfg_desc_decode(const void *desc);

/* ---- queues ------------------------------------------------------------- */

struct rpma_cq {
	struct rp_cq *cq;
	struct rp_channel *channel;
	bool shared; /* the channel is somebody else's */
};

/* An armed queue, on the channel given or (NULL) on one of its own. */
int core_cq_new(
	struct rp_device *dev, struct rp_channel *shared, uint32_t size, struct rpma_cq **cq_ptr);
int core_cq_delete(struct rpma_cq *cq); /* NULL: nothing */
int core_cq_rearm(struct rp_cq *cq);
int core_cq_wait(struct rpma_cq *cq);
int core_cq_get_wc(struct rpma_cq *cq, int n, struct ibv_wc *wc, int *got);
/* The provider's accounting of a completion that is not of a request done well. */
void core_cq_count_other(struct rp_cq *cq, const struct ibv_wc *wc);

int core_channel_new(struct rp_device *dev, struct rp_channel **channel);
int core_channel_delete(struct rp_channel *channel); /* NULL: nothing */
/* Waits. After a failure the channel may be gone. */
int core_channel_next_event(struct rp_channel *channel, struct rp_cq **cq);

struct rpma_srq_cfg {
	_Atomic uint32_t rq_size;
	_Atomic uint32_t rcq_size;
};

struct rpma_srq {
	struct rp_srq *srq;
	struct rpma_cq *rcq; /* or NULL */
};

/* ---- connection --------------------------------------------------------- */

struct rpma_conn_cfg {
	_Atomic int timeout;
	_Atomic uint32_t cq_size;
	_Atomic uint32_t rcq_size;
	_Atomic uint32_t sq_size;
	_Atomic uint32_t rq_size;
	_Atomic bool compl_channel;
	struct rpma_srq *_Atomic srq;
};

/* cfg.c: what a NULL configuration means. */
extern const struct rpma_conn_cfg core_conn_cfg_default;
extern const struct rpma_srq_cfg core_srq_cfg_default;

/*
 * A connection is complete from its request on; the request only keeps it until
 * rpma_conn_req_connect() hands it out. Its one destructor, core_conn_delete(),
 * takes it at every stage: what is not there yet is NULL.
 */
struct rpma_conn {
	struct rp_conn *conn;
	struct core_sink *sink;
	struct rp_channel *channel; /* shared by both queues, or NULL */
	struct rpma_cq *cq;
	struct rpma_cq *rcq;		  /* or NULL */
	atomic_bool direct_write_to_pmem; /* the other side declares it */
	atomic_bool has_peer_data;	  /* conn->peer_data may be read */
};

struct rpma_conn_req {
	struct rpma_conn *conn;
	bool passive; /* came from an endpoint */
};

struct rpma_ep {
	struct rp_listener *listener;
	struct core_sink *sink;
};

/* Memory, nothing else. */
int core_conn_alloc(bool passive, struct rpma_conn **conn_ptr);
int core_conn_delete(struct rpma_conn *conn);
void core_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata);

int core_conn_req_alloc(bool passive, struct rpma_conn_req **req_ptr);
/* Queues and a hold on the sink for the connection, which the provider has made.
 * cfg NULL: the defaults. After a failure the request can only be deleted. */
int core_conn_req_equip(
	struct rpma_conn_req *req, struct core_sink *sink, const struct rpma_conn_cfg *cfg);
/* Rejects the other side when the request came from an endpoint. */
int core_conn_req_delete(struct rpma_conn_req *req);

/* ---- err.c -------------------------------------------------------------- */

/* Calls of the seam whose errors mean the same to the user. */
enum core_call {
	CORE_CALL, /* all others: RPMA_E_PROVIDER */
	CORE_CALL_PD_ALLOC,
	CORE_CALL_ADVISE,
	CORE_CALL_NEXT_REQ,
	CORE_CALL_NEXT_EVENT,
	CORE_CALL_WAIT,
};

/* The public code for a result of a provider, 0 for 0. A failure leaves a record
 * ("<what>: <errno text>"), unless nothing was simply there. What it says is looked at
 * for a failure only. */
#define core_result(call, rc, ...)                                                                 \
	({                                                                                         \
		int core_rc_ = (rc);                                                               \
		core_rc_ ? core_result_at(                                                         \
				   (call), core_rc_, __FILE__, __LINE__, __func__, __VA_ARGS__)    \
			 : 0;                                                                      \
	})
int core_result_at(enum core_call call, int rc, const char *file, int line, const char *func,
	const char *what, ...) __attribute__((format(printf, 6, 7)));

/* Deletion goes on after a failure: the first one counts. */
static inline int core_first(int ret, int next)
{
	return ret ? ret : next;
}

/* ---- shorthand for the seam --------------------------------------------- */

static inline const struct rp_ops *core_conn_ops(const struct rpma_conn *conn)
{
	return conn->conn->pd->dev->ops;
}

/* enum rp_cap */
static inline unsigned core_conn_caps(const struct rpma_conn *conn)
{
	return atomic_load_explicit(&conn->conn->caps, memory_order_relaxed);
}

#endif /* RPMA_CORE_CORE_H */
