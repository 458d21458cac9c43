/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * provider.h -- the seam between the public nouns (src/core) and what moves
 * the bytes (src/tcp, src/verbs)
 *
 * Above the seam are arguments, defaults, error codes and log records; below it
 * are RDMA objects and work requests. Nothing above it knows a socket or a
 * verbs call, nothing below it knows struct rpma_conn.
 *
 * Rules for all ops
 * - Result: 0, or -errno (a count for poll). The first error
 *   wins. Providers do not log what core logs from the result; they log what
 *   the number cannot say.
 * - Out-parameters are written on success only.
 * - An op that fails has no effect and leaves nothing behind, with one
 *   exception: a destroy/free/dereg op frees its object in every case.
 * - No op blocks on the network or on a disk, except the ones marked BLOCKS.
 * - A BLOCKS op obeys O_NONBLOCK on the descriptor it waits for (-EAGAIN when
 *   there is nothing) and restarts after a signal. When another thread destroys
 *   the object it is woken with -ECANCELED and must not be called again; the
 *   destroying op returns only after it has left.
 * - Ops may be called from any thread, on distinct objects at the same time.
 *   The data path, cq_arm, channel_wait, conn_next_event and conn_disconnect may
 *   run at the same time on one object. Creating and destroying an object, and all
 *   other ops on it, are serialised by the caller.
 * - No lock of core is held while an op runs, and no op calls back into core
 *   (except into the log).
 * - The data path (posting, polling) is not in the table of ops but at the objects,
 *   because there each instruction counts, and has rules of its own: see "posting"
 *   and struct rp_cq.
 * - Order of destruction: conn, srq before the cq and channel they use (a cq may
 *   not go while a QP uses it); everything before its pd; pd before nothing (a
 *   device is never closed).
 * - Embedding: a provider embeds the base struct in its own and comes back by
 *   container_of. Base fields are set by the provider before it returns the
 *   object and are read-only for core.
 */

#ifndef RPMA_PROVIDER_H
#define RPMA_PROVIDER_H 1

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "base/log.h"
#include "librpma.h"

struct rp_ops;

/* What a device can do; a connection may have less, see rp_conn.caps. */
enum rp_cap {
	RP_CAP_FLUSH = 1 << 0,	      /* RP_OP_FLUSH, both types */
	RP_CAP_ATOMIC_WRITE = 1 << 1, /* RP_OP_ATOMIC_WRITE */
	RP_CAP_ODP = 1 << 2,	      /* memory need not be pinned */
};

struct rp_device {
	const struct rp_ops *ops;
	struct ibv_context *context; /* the public face of the device */
	unsigned caps;		     /* enum rp_cap */
};

struct rp_pd {
	struct rp_device *dev;
};

struct rp_mr {
	struct rp_pd *pd;
	void *addr;
	uint64_t length;
	uint32_t rkey; /* what the descriptor carries */
	uint32_t lkey; /* by which our own requests name it */
};

/* A completion channel: where the completion queues on it tell of completions */
struct rp_channel {
	struct rp_device *dev;
	int fd; /* readable while an event is queued */
};

/*
 * A completion queue. poll(source, n, wc) takes up to n (>= 1) completions, oldest
 * first, and returns how many, or less than 0; it has the form of libibverbs, so that
 * a device's own function can stand here. Both may change while the queue is in use
 * by way of rp_cq_set_source().
 *
 * Core counts what it takes, for providers whose devices do not know by themselves when
 * the slot of a request is free. After the first completion that failed the counts mean
 * nothing any more.
 */
struct rp_cq {
	struct rp_device *dev;
	struct rp_channel *channel;
	int (*_Atomic poll)(struct ibv_cq *source, int n, struct ibv_wc *wc);
	_Atomic(struct ibv_cq *) source;
	atomic_uint sends; /* successful completions of requests, taken */
	atomic_uint recvs; /* and of receives */
	atomic_bool failed;
};

/* The new poll bears to be called with the new source only, the old one with both. */
static inline void rp_cq_set_source(struct rp_cq *cq, struct ibv_cq *source,
	int (*poll)(struct ibv_cq *source, int n, struct ibv_wc *wc))
{
	atomic_store_explicit(&cq->source, source, memory_order_relaxed);
	atomic_store_explicit(&cq->poll, poll, memory_order_release);
}

/* ---- posting ------------------------------------------------------------ */

/*
 * A request is built in place, in the queue that it is for, while the queue's lock is
 * held; post() hands it on, releases the lock, and ends the public call: it returns 0 or
 * what rp_send_failed() returns. So between a call of the public API and a device that
 * takes the form of libibverbs there is one indirect call and no copy.
 *
 * The request is wr and what it points to. All of its fields that the opcode makes use of
 * are written each time, and no others; num_sge is 1, or no_data of the queue. sg_list,
 * next and no_data are the provider's to set, once. Beside the opcodes of libibverbs there
 * are, not in all of its versions and perhaps not known to the device, these:
 */
#define RP_WR_FLUSH ((enum ibv_wr_opcode)0x100)	       /* only with RP_CAP_FLUSH */
#define RP_WR_ATOMIC_WRITE ((enum ibv_wr_opcode)0x101) /* only with RP_CAP_ATOMIC_WRITE */

/*
 * Local range: [addr, addr + length) in the region of lkey. The provider judges it; a
 * violation ends as IBV_WC_LOC_PROT_ERR completion, or as -EINVAL from the post.
 *
 * opcode		local range	remote_addr, rkey	length
 * SEND			source		-			of the message
 * RDMA_WRITE		source		destination		of the data
 * RDMA_READ		destination	source			of the data
 * RP_WR_FLUSH		none		range			of the remote range, in flush
 * RP_WR_ATOMIC_WRITE	8 INLINE bytes	destination		8
 *
 * Flags: SIGNALED, completes also when it succeeds. FENCE, starts after all earlier reads
 * and flushes. INLINE, the bytes are copied now and lkey is not looked at; at most 8, of
 * a send or write.
 *
 * On success the request ends in exactly one way: by a completion, or silently if it
 * succeeds and is not SIGNALED. Its slot is free when it, or a later request of the same
 * queue, has been polled. After a failure of the connection every request ends as
 * IBV_WC_WR_FLUSH_ERR, in order. It fails with -ENOMEM when the queue is full, with
 * -EINVAL when it is not connected yet, or malformed.
 */
struct rp_sq {
	struct lock lock;
	int no_data;
	int (*post)(struct rp_sq *sq);
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct {
		uint64_t length;
		enum rpma_flush_type type;
	} flush;
};

/* Receives, likewise; of a connection or shared. -ENOMEM: full. -EINVAL: the connection
 * uses an SRQ. */
struct rp_rq {
	struct lock lock;
	int no_data;
	int (*post)(struct rp_rq *rq);
	struct ibv_sge sge;
	struct ibv_recv_wr wr;
};

static inline void rp_sq_init(struct rp_sq *sq, int (*post)(struct rp_sq *sq), int no_data)
{
	sq->wr.sg_list = &sq->sge;
	sq->no_data = no_data;
	sq->post = post;
}

static inline void rp_rq_init(struct rp_rq *rq, int (*post)(struct rp_rq *rq), int no_data)
{
	rq->wr.sg_list = &rq->sge;
	rq->no_data = no_data;
	rq->post = post;
}

/*
 * The same in one piece, for who keeps requests, and to tell of them. Without data lkey
 * and addr are 0, and so is the lkey of INLINE.
 */
enum rp_opcode {
	RP_OP_SEND,
	RP_OP_WRITE,
	RP_OP_READ,
	RP_OP_FLUSH,
	RP_OP_ATOMIC_WRITE,
	RP_OP_MAX,
};

enum rp_wr_flag {
	RP_WR_FENCE = IBV_SEND_FENCE,
	RP_WR_SIGNALED = IBV_SEND_SIGNALED,
	RP_WR_INLINE = IBV_SEND_INLINE,
	RP_WR_IMM = 1 << 7, /* imm goes along, SEND and WRITE only */
};

struct rp_send_wr {
	enum rp_opcode opcode;
	unsigned flags; /* enum rp_wr_flag */
	uint64_t wr_id;
	uint64_t addr;
	uint64_t length;
	uint64_t remote_addr;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t imm; /* host byte order */
	enum rpma_flush_type flush_type;
};

struct rp_recv_wr {
	uint64_t wr_id;
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* request.c. Need the lock. */
void rp_sq_get(const struct rp_sq *sq, struct rp_send_wr *wr);
void rp_rq_get(const struct rp_rq *rq, struct rp_recv_wr *wr);

/* Leave a record, without the lock, and are what post() returns. err: -errno. */
int rp_send_failed(const struct rp_send_wr *wr, int err);
int rp_recv_failed(const struct rp_recv_wr *wr, int err);

/* ---- other objects ------------------------------------------------------ */

struct rp_srq {
	struct rp_pd *pd;
	struct rp_rq rq;
};

struct rp_listener {
	struct rp_pd *pd;
	int fd; /* readable while a request is queued */
};

/*
 * A connection, from resolved address or received request to its end:
 *
 *   conn_create ----.                    .-> conn_connect -.
 *                    >-- conn_setup_qp --+                  >- conn_next_event
 *   listener_next --'                    '-> conn_accept --'   .. disconnect
 *                    \                                              |
 *                     '-> conn_reject                               |
 *                             \____________ conn_destroy ___________/
 *
 * conn_destroy is allowed at every point.
 */
struct rp_conn {
	struct rp_pd *pd;
	int event_fd;	 /* from conn_connect/conn_accept on; -1 before.
				 * Readable while an event is queued */
	uint32_t qp_num; /* from conn_setup_qp on */
	/* What the other side sent along; storage of the provider, valid until
	 * conn_destroy. Passive side: from listener_next on. Active side: from
	 * the moment conn_next_event returns ESTABLISHED. {NULL, 0}: nothing */
	struct rpma_conn_private_data peer_data;
	/* What it really has of RP_CAP_FLUSH and RP_CAP_ATOMIC_WRITE; does not
	 * change after ESTABLISHED */
	atomic_uint caps;
	struct rp_sq sq; /* from conn_setup_qp on */
	struct rp_rq rq;
};

struct rp_qp_attr {
	struct rp_cq *send_cq;
	struct rp_cq *recv_cq;
	struct rp_srq *srq; /* or NULL */
	uint32_t sq_size;   /* requests that can be posted and not yet polled */
	uint32_t rq_size;   /* receives, likewise; not used with an SRQ */
};

struct rp_ops {
	const char *name; /* of the provider: "tcp", "verbs" */

	/* ---- protection domain, memory ---------------------------------- */

	int (*pd_alloc)(struct rp_device *dev, struct rp_pd **pd);
	/* -EBUSY when something still uses it; then it leaks, unusable. */
	int (*pd_free)(struct rp_pd *pd);

	/* usage: RPMA_MR_USAGE_* bits, not zero, no others. Every registration
	 * has its own rkey, also of the same memory. */
	int (*mr_reg)(struct rp_pd *pd, void *addr, uint64_t length, int usage, struct rp_mr **mr);
	/* BLOCKS until the accesses under way have ended; afterwards nothing
	 * touches the memory. Requests that still need it end with an error. */
	int (*mr_dereg)(struct rp_mr *mr);
	/* Range, advice, flags unchecked: -EINVAL, -EFAULT, -EOPNOTSUPP. */
	int (*mr_advise)(
		struct rp_mr *mr, uint64_t addr, uint64_t length, int advice, uint32_t flags);

	/* ---- completions ------------------------------------------------ */

	int (*channel_create)(struct rp_device *dev, struct rp_channel **channel);
	int (*channel_destroy)(struct rp_channel *channel);
	/* BLOCKS. Takes one event; *cq: the queue that it speaks of. An event
	 * may be stale (its completions polled already). */
	int (*channel_wait)(struct rp_channel *channel, struct rp_cq **cq);

	/* At least size entries; the provider makes it as large as the queues
	 * that complete into it need, so it never overruns. Not armed. */
	int (*cq_create)(struct rp_device *dev, struct rp_channel *channel, uint32_t size,
		struct rp_cq **cq);
	/* Unpolled completions and untaken events of it vanish. */
	int (*cq_destroy)(struct rp_cq *cq);
	/* The next completion queues one event, then it is disarmed again. */
	int (*cq_arm)(struct rp_cq *cq);

	/* ---- shared receive queue --------------------------------------- */

	int (*srq_create)(struct rp_pd *pd, uint32_t size, struct rp_srq **srq);
	/* -EBUSY while a QP uses it; then it leaks, unusable. */
	int (*srq_destroy)(struct rp_srq *srq);

	/* ---- connections ------------------------------------------------ */

	/* BLOCKS in the resolution of names. Port "0" picks a free one. */
	int (*listener_create)(struct rp_pd *pd, const char *addr, const char *port,
		struct rp_listener **listener);
	/* Requests not taken yet are refused; taken ones live on. */
	int (*listener_destroy)(struct rp_listener *listener);
	/* BLOCKS. The caller owns the connection. */
	int (*listener_next)(struct rp_listener *listener, struct rp_conn **conn);

	/* BLOCKS in the resolution of names and routes, for timeout_ms each.
	 * timeout_ms also bounds the time conn_connect has, from its call to
	 * the other side's answer (0: no bound of ours), where the provider
	 * makes the connection itself. */
	int (*conn_create)(struct rp_pd *pd, const char *addr, const char *port, int timeout_ms,
		struct rp_conn **conn);
	/* Once. Receives may be posted afterwards. */
	int (*conn_setup_qp)(struct rp_conn *conn, const struct rp_qp_attr *attr);
	/* Active side, once. data may be NULL; copied. The outcome comes as
	 * event: ESTABLISHED, REJECTED, UNREACHABLE or LOST. -EINVAL also when
	 * len is more than the transport carries. */
	int (*conn_connect)(struct rp_conn *conn, const void *data, size_t len);
	/* Passive side, once, likewise: ESTABLISHED or LOST. */
	int (*conn_accept)(struct rp_conn *conn, const void *data, size_t len);
	/* Passive side, instead of accept. Only conn_destroy may follow. */
	int (*conn_reject)(struct rp_conn *conn);
	/* BLOCKS. After CLOSED or LOST no further event comes on tcp; verbs may
	 * repeat CLOSED. -EPROTO: an event without a meaning here (logged). */
	int (*conn_next_event)(struct rp_conn *conn, enum rpma_conn_event *event);
	/* Start an orderly end. Allowed in every state after connect/accept, and
	 * repeatedly. CLOSED comes as event when it is done. */
	int (*conn_disconnect)(struct rp_conn *conn);
	/* Ends the connection whatever its state; BLOCKS only until accesses of
	 * the library to the caller's memory on its behalf have ended.
	 * Outstanding requests vanish. Completions that it has in a queue which
	 * lives on (that of an SRQ) stay. */
	int (*conn_destroy)(struct rp_conn *conn);
};

/* A provider, as src/core/providers.c lists it. */
struct rp_provider {
	const char *name;
	/* BLOCKS. Is there a device that owns (LOCAL) or reaches (REMOTE) addr?
	 * -ENODEV: none here, another provider may have one. Other errors: the
	 * address is no good for anybody. */
	int (*find)(const char *addr, enum rpma_util_ibv_context_type type, int timeout_ms,
		struct ibv_context **context);
	/* The device behind a context that find() gave out, or that the user got
	 * from libibverbs. -ENODEV: not of this provider. Never closed. */
	int (*open)(struct ibv_context *context, struct rp_device **dev);
};

extern const struct rp_provider rp_provider_tcp;
extern const struct rp_provider rp_provider_verbs;

#endif /* RPMA_PROVIDER_H */
