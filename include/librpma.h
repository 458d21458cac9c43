/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * librpma.h -- remote persistent memory access over RDMA
 *
 * Read, write and durably flush another host's memory, and exchange messages
 * with it. Each function has a manual page; librpma(7) tells the whole.
 *
 * Unless a comment says otherwise a function returns 0 or a negative
 * RPMA_E_* code, and writes its out-parameters on success only. Sizes, lengths
 * and offsets are in bytes, timeouts in milliseconds.
 */

#ifndef LIBRPMA_H
#define LIBRPMA_H 1

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdbool.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls kept for programs written for 0.10. Define RPMA_DEPRECATED empty before
 * including this file to silence the compiler about them. */
#ifndef RPMA_DEPRECATED
#if defined(__GNUC__)
#define RPMA_DEPRECATED __attribute__((deprecated))
#else
#define RPMA_DEPRECATED
#endif
#endif

/* ---- errors ------------------------------------------------------------ */

#define RPMA_E_UNKNOWN (-100000)	 /* unknown error */
#define RPMA_E_NOSUPP (-100001)		 /* not supported */
#define RPMA_E_PROVIDER (-100002)	 /* the RDMA provider failed; the log says why */
#define RPMA_E_NOMEM (-100003)		 /* out of memory */
#define RPMA_E_INVAL (-100004)		 /* invalid argument */
#define RPMA_E_NO_COMPLETION (-100005)	 /* no completion is there */
#define RPMA_E_NO_EVENT (-100006)	 /* no event is there */
#define RPMA_E_AGAIN (-100007)		 /* temporary failure, try again */
#define RPMA_E_SHARED_CHANNEL (-100008)	 /* the completion channel is shared */
#define RPMA_E_NOT_SHARED_CHNL (-100009) /* the completion channel is not shared */

/* A static text for a code returned by any function of the library. */
const char *rpma_err_2str(int ret);

/* ---- utilities --------------------------------------------------------- */

enum rpma_util_ibv_context_type {
	RPMA_UTIL_IBV_CONTEXT_LOCAL = 0,  /* the address is this host's */
	RPMA_UTIL_IBV_CONTEXT_REMOTE = 1, /* the address is the other host's */
};

/*
 * The device that owns (LOCAL) or reaches (REMOTE) an address. Also the place
 * where the provider is chosen, see RPMA_PROVIDER in librpma(7). The context
 * belongs to the library: never close it.
 */
int rpma_utils_get_ibv_context(
	const char *addr, enum rpma_util_ibv_context_type type, struct ibv_context **ibv_ctx_ptr);

/* 1 when memory need not be pinned to be registered, else 0. */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable);

/* ---- peer configuration ------------------------------------------------ */

struct rpma_peer_cfg;

/* What one side declares of itself: is data written to its persistent memory
 * persistent once it is placed ("direct write to pmem")? Initially false. */
int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr);
int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr);
int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported);
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported);

/* The descriptor, 1 byte, is what travels to the other side. */
int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc);
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size);
int rpma_peer_cfg_from_descriptor(
	const void *desc, size_t desc_size, struct rpma_peer_cfg **pcfg_ptr);

/* ---- peer -------------------------------------------------------------- */

struct rpma_peer;

/* This side's protection domain on a device: owner of all that follows. */
int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr);
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/* ---- memory regions ---------------------------------------------------- */

struct rpma_mr_local;
struct rpma_mr_remote;

#define RPMA_MR_USAGE_READ_SRC (1 << 0)		     /* may be read remotely */
#define RPMA_MR_USAGE_READ_DST (1 << 1)		     /* rpma_read() puts data here */
#define RPMA_MR_USAGE_WRITE_SRC (1 << 2)	     /* rpma_write() takes data here */
#define RPMA_MR_USAGE_WRITE_DST (1 << 3)	     /* may be written remotely */
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4) /* may be flushed remotely */
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5) /* may be flushed remotely */
#define RPMA_MR_USAGE_SEND (1 << 6)		     /* rpma_send() takes data here */
#define RPMA_MR_USAGE_RECV (1 << 7)		     /* rpma_recv() puts data here */

/* Register memory. usage: one or more RPMA_MR_USAGE_*. The memory stays the
 * caller's and must outlive the registration. */
int rpma_mr_reg(
	struct rpma_peer *peer, void *ptr, size_t size, int usage, struct rpma_mr_local **mr_ptr);
/* When it returns, nobody reaches the memory through this registration. */
int rpma_mr_dereg(struct rpma_mr_local **mr_ptr);

int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr);
int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size);

/* The descriptor, 21 bytes, is what the other side needs to reach the region:
 * u64 address, u64 length, u32 key, u8 usage; little endian. */
int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);
int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);
int rpma_mr_remote_from_descriptor(
	const void *desc, size_t desc_size, struct rpma_mr_remote **mr_ptr);

int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size);
/* An OR of RPMA_MR_USAGE_FLUSH_TYPE_*. */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type);
/* Allowed as soon as the operations that use it are posted. */
int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr);

/* Advise on the use of a range; advice and flags as for ibv_advise_mr(3). */
int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags);

/* ---- shared receive queue ---------------------------------------------- */

struct rpma_srq_cfg;
struct rpma_srq;
struct rpma_cq;

/* Defaults: 20 receives; a completion queue of its own of 20 (0: none). */
int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr);
int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr);
int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size);
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size);
int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size);
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size);

/* cfg NULL: the defaults. Must outlive the connections that use it. */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr);
int rpma_srq_delete(struct rpma_srq **srq_ptr);
/* NULL (and success) when it has no completion queue of its own. Borrowed. */
int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr);
int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context);

/* ---- connection configuration ------------------------------------------ */

struct rpma_conn_cfg;

#define RPMA_DEFAULT_TIMEOUT_MS 1000

/* Defaults: timeout 1000 ms; completion, send and receive queue of 10 each; no
 * receive completion queue (0); own completion channels; no shared receive
 * queue. A configuration may be deleted once it has been used. */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr);
int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr);
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms);
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms);
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size);
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size);
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size);
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size);
int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size);
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size);
int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size);
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size);
/* true: the two completion queues of a connection share one channel, and
 * rpma_conn_wait() takes the place of rpma_cq_wait(). */
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared);
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared);
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq);
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr);

/* ---- connection requests ----------------------------------------------- */

struct rpma_conn;
struct rpma_conn_req;

struct rpma_conn_private_data {
	void *ptr;
	uint8_t len;
};

/* Prepare a connection to a listening peer. cfg NULL: the defaults. */
int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
	const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr);
/* On a request that came from an endpoint this rejects the other side. */
int rpma_conn_req_delete(struct rpma_conn_req **req_ptr);
/* Connect (or accept). Consumes the request, also on failure. pdata: 1 to 255
 * bytes for the other side, or NULL. */
int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
	const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr);
/* Post a receive before the connection is made. */
int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
	size_t len, const void *op_context);
/* What came with the request, or {NULL, 0}. Borrowed. */
int rpma_conn_req_get_private_data(
	const struct rpma_conn_req *req, struct rpma_conn_private_data *pdata);

/* ---- connection -------------------------------------------------------- */

enum rpma_conn_event {
	RPMA_CONN_UNDEFINED = -1,
	RPMA_CONN_ESTABLISHED = 0, /* ready for use */
	RPMA_CONN_CLOSED = 1,	   /* closed by either side */
	RPMA_CONN_LOST = 2,	   /* broken */
	RPMA_CONN_REJECTED = 3,	   /* refused by the other side */
	RPMA_CONN_UNREACHABLE = 4, /* the other side does not answer */
};

const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event);

/* Wait for the next event of the connection; with O_NONBLOCK set on the event
 * descriptor RPMA_E_NO_EVENT when there is none. */
int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event);
int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd);

/* What the other side sent when the connection was made, or {NULL, 0}. */
int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata);
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg);
int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num);

/* The completion queues; borrowed, they live as long as the connection. *rcq is
 * NULL (and the call succeeds) when there is no receive completion queue. */
int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr);
int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr);

/* Only with a shared completion channel: its descriptor, and waiting on it.
 * is_rcq may be NULL; flags is not used, pass 0. */
int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd);
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq);

int rpma_conn_disconnect(struct rpma_conn *conn);
int rpma_conn_delete(struct rpma_conn **conn_ptr);

/* ---- endpoint ---------------------------------------------------------- */

struct rpma_ep;

int rpma_ep_listen(
	struct rpma_peer *peer, const char *addr, const char *port, struct rpma_ep **ep_ptr);
int rpma_ep_shutdown(struct rpma_ep **ep_ptr);
int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd);
/* Wait for the next connection request; with O_NONBLOCK set on the descriptor
 * RPMA_E_NO_EVENT when there is none. cfg NULL: the defaults. */
int rpma_ep_next_conn_req(
	struct rpma_ep *ep, const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr);

/* ---- remote memory access and messages --------------------------------- */

/* flags: when the operation produces a completion. */
#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)
#define RPMA_F_COMPLETION_ALWAYS (1 << 1 | RPMA_F_COMPLETION_ON_ERROR)

#define RPMA_ATOMIC_WRITE_ALIGNMENT 8
#define RPMA_W_WAIT_FOR_COMPLETION (1) /* not used by any call */

enum rpma_flush_type {
	RPMA_FLUSH_TYPE_PERSISTENT = 0, /* survives a power cut */
	RPMA_FLUSH_TYPE_VISIBILITY = 1, /* seen by all readers */
};

/*
 * All of these post a request and return at once. op_context comes back as
 * wr_id of the completion. Local memory belongs to the request until then
 * (the 8 bytes of an atomic write are copied at once). Lengths are at most
 * 2^32 - 1.
 */
int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	const void *op_context);
int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	const void *op_context);
/* imm in host byte order; the other side finds it in network order in
 * wc.imm_data, in the completion of a receive that this consumes. */
int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags, uint32_t imm,
	const void *op_context);
/* dst_offset: a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT. */
int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const char src[8], int flags, const void *op_context);
/* Completes when all that was written before to the range is visible, or
 * persistent, at the other side. */
int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	enum rpma_flush_type type, int flags, const void *op_context);
int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	int flags, const void *op_context);
int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
	size_t len, int flags, uint32_t imm, const void *op_context);
int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context);

/* ---- completions ------------------------------------------------------- */

/* Wait until the queue has had a completion; then poll it empty. With
 * O_NONBLOCK set on the descriptor RPMA_E_NO_COMPLETION when it had none. */
int rpma_cq_wait(struct rpma_cq *cq);
int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd);
/* Take up to num_entries completions. num_entries_got may be NULL when
 * num_entries is 1. Never blocks. */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got);

/* ---- calls of release 0.10 --------------------------------------------- */

enum rpma_op {
	RPMA_OP_READ = 0,
	RPMA_OP_WRITE = 1,
	RPMA_OP_FLUSH = 2,
	RPMA_OP_SEND = 3,
	RPMA_OP_RECV = 4,
	RPMA_OP_RECV_RDMA_WITH_IMM = 5,
};

struct rpma_completion {
	void *op_context;
	enum rpma_op op;
	uint32_t byte_len;
	enum ibv_wc_status op_status;
	unsigned flags; /* IBV_WC_* flags */
	uint32_t imm;	/* host byte order, with IBV_WC_WITH_IMM */
};

/* Use rpma_conn_get_cq() and rpma_cq_get_fd(), _wait(), _get_wc() instead. */
RPMA_DEPRECATED int rpma_conn_get_completion_fd(const struct rpma_conn *conn, int *fd);
RPMA_DEPRECATED int rpma_conn_completion_wait(struct rpma_conn *conn);
RPMA_DEPRECATED int rpma_conn_completion_get(struct rpma_conn *conn, struct rpma_completion *cmpl);
RPMA_DEPRECATED int rpma_cq_get_completion(struct rpma_cq *cq, struct rpma_completion *cmpl);
/* Use rpma_atomic_write() instead. */
RPMA_DEPRECATED int rpma_write_atomic(struct rpma_conn *conn, struct rpma_mr_remote *dst,
	size_t dst_offset, const struct rpma_mr_local *src, size_t src_offset, int flags,
	const void *op_context);

/* ---- logging ----------------------------------------------------------- */

enum rpma_log_level {
	RPMA_LOG_DISABLED = -1,
	RPMA_LOG_LEVEL_FATAL = 0,
	RPMA_LOG_LEVEL_ERROR = 1,
	RPMA_LOG_LEVEL_WARNING = 2,
	RPMA_LOG_LEVEL_NOTICE = 3,
	RPMA_LOG_LEVEL_INFO = 4,
	RPMA_LOG_LEVEL_DEBUG = 5,
};

enum rpma_log_threshold {
	RPMA_LOG_THRESHOLD = 0,	    /* to the log function; default WARNING */
	RPMA_LOG_THRESHOLD_AUX = 1, /* of these, also to stderr by the built-in
					 * function; default DISABLED */
	RPMA_LOG_THRESHOLD_MAX = 2,
};

typedef void rpma_log_function(enum rpma_log_level level, const char *file_name, const int line_no,
	const char *function_name, const char *message_format, ...);

#define RPMA_LOG_USE_DEFAULT_FUNCTION (NULL)

/* The function is called in the thread that has something to say: in the
 * caller's, or in one of the library's own. */
int rpma_log_set_function(rpma_log_function *log_function);
int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level);
int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level);

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMA_H */
