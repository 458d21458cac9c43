/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * op.c -- remote memory access and messages
 *
 * Each call checks its arguments, fills a request of the seam and ends in
 * post_send(), or in one of the two doors for receives. What the connection
 * cannot do itself is built here from what every provider can: a flush from a
 * read, an atomic write from an inline write.
 */

#include <inttypes.h>

#include "base/log.h"
#include "core/core.h"

/* The part of RPMA_F_COMPLETION_ALWAYS that makes the difference. */
#define SIGNALED (RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR)

static bool has_cap(const struct rpma_conn *conn, enum rp_cap cap)
{
	return core_conn_ops(conn)->conn_caps(conn->conn) & cap;
}

/* Sums may wrap here: whether a range lies in the region is judged where the
 * region is known, by the provider or by the other side. */
static uint64_t local_addr(const struct rpma_mr_local *mr, size_t offset)
{
	return (uintptr_t)mr->mr->addr + (uint64_t)offset;
}

static uint64_t remote_addr(const struct rpma_mr_remote *mr, size_t offset)
{
	return mr->addr + offset;
}

/* The end of all requests but receives. */
static int post_send(
	struct rpma_conn *conn, struct rp_send_wr *wr, int flags, const void *op_context)
{
	static const char *const names[RP_OP_MAX] = {
		[RP_OP_SEND] = "send",
		[RP_OP_WRITE] = "write",
		[RP_OP_READ] = "read",
		[RP_OP_FLUSH] = "flush",
		[RP_OP_ATOMIC_WRITE] = "atomic write",
	};

	wr->wr_id = (uintptr_t)op_context;
	if (flags & SIGNALED)
		wr->flags |= RP_WR_SIGNALED;
	return core_result(CORE_CALL, core_conn_ops(conn)->post_send(conn->conn, wr),
		"cannot post a %s of %" PRIu64 " bytes, local address 0x%" PRIx64
		", remote address 0x%" PRIx64 ", key 0x%" PRIx32,
		names[wr->opcode], wr->length, wr->addr, wr->remote_addr, wr->rkey);
}

/* ---- read, write -------------------------------------------------------- */

/* Two regions, or none and no data. wr says what is done and how. */
static int transfer(struct rpma_conn *conn, struct rp_send_wr *wr,
	const struct rpma_mr_local *local, size_t local_offset, const struct rpma_mr_remote *remote,
	size_t remote_offset, size_t len, int flags, const void *op_context)
{
	if (!conn || !flags || !local != !remote || len > UINT32_MAX)
		return RPMA_E_INVAL;
	if (!local && (local_offset || remote_offset || len))
		return RPMA_E_INVAL;

	if (local) {
		wr->mr = local->mr;
		wr->addr = local_addr(local, local_offset);
		wr->length = len;
		wr->remote_addr = remote_addr(remote, remote_offset);
		wr->rkey = remote->rkey;
	}
	return post_send(conn, wr, flags, op_context);
}

int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_READ };

	return transfer(conn, &wr, dst, dst_offset, src, src_offset, len, flags, op_context);
}

int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_WRITE };

	return transfer(conn, &wr, src, src_offset, dst, dst_offset, len, flags, op_context);
}

int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags, uint32_t imm,
	const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_WRITE, .flags = RP_WR_IMM, .imm = imm };

	return transfer(conn, &wr, src, src_offset, dst, dst_offset, len, flags, op_context);
}

/* ---- atomic write ------------------------------------------------------- */

int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const char src[8], int flags, const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_ATOMIC_WRITE, .flags = RP_WR_INLINE };

	if (!conn || !dst || !src || !flags)
		return RPMA_E_INVAL;
	if (dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;

	/* A write may overtake a read, thus also the flush that is one. */
	if (!has_cap(conn, RP_CAP_FLUSH))
		wr.flags |= RP_WR_FENCE;
	if (!has_cap(conn, RP_CAP_ATOMIC_WRITE)) {
		wr.opcode = RP_OP_WRITE;
		wr.flags |= RP_WR_FENCE;
	}
	wr.addr = (uintptr_t)src;
	wr.length = 8;
	wr.remote_addr = remote_addr(dst, dst_offset);
	wr.rkey = dst->rkey;
	return post_send(conn, &wr, flags, op_context);
}

/* Of release 0.10: from a region, which has to stay until the completion. */
int rpma_write_atomic(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, int flags, const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_WRITE, .flags = RP_WR_FENCE };

	if (!dst || !src)
		return RPMA_E_INVAL;
	if (dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;

	return transfer(conn, &wr, src, src_offset, dst, dst_offset, 8, flags, op_context);
}

/* ---- flush -------------------------------------------------------------- */

static int flush_allowed(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
	enum rpma_flush_type type, bool native)
{
	bool persistent = type == RPMA_FLUSH_TYPE_PERSISTENT;
	int usage = persistent ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
			       : RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

	/* A read brings data only to the other side's memory controller. That
	 * this is enough is for the other side to say. */
	if (persistent && !native && !atomic_load(&conn->direct_write_to_pmem)) {
		rp_log_error("no persistent flush: the connection has only reads for it, and the "
			     "other side has not declared direct write to pmem");
		return RPMA_E_NOSUPP;
	}
	if (!(dst->usage & usage)) {
		rp_log_error("no %s flush: the remote region is not registered for it",
			persistent ? "persistent" : "visibility");
		return RPMA_E_NOSUPP;
	}
	return 0;
}

/*
 * What to read instead of flushing [offset, offset + len). Any read of the
 * region does, so take one that lies inside of it: up to CORE_SINK_SIZE bytes
 * as near as can be, none of an empty region. If the range leaves the region,
 * take the first byte outside: the other side refuses it, as it would the flush.
 */
static void flush_by_read(const struct rpma_mr_remote *dst, uint64_t offset, uint64_t len,
	const struct core_sink *sink, struct rp_send_wr *wr)
{
	uint64_t n = dst->size < CORE_SINK_SIZE ? dst->size : CORE_SINK_SIZE;

	if (offset > dst->size || len > dst->size - offset) {
		n = 1;
		if (offset < dst->size)
			offset = dst->size;
	} else if (offset > dst->size - n) {
		offset = dst->size - n;
	}

	wr->opcode = RP_OP_READ;
	if (n) {
		wr->mr = sink->mr;
		wr->addr = (uintptr_t)sink->page;
	}
	wr->length = n;
	wr->remote_addr = remote_addr(dst, offset);
}

int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	enum rpma_flush_type type, int flags, const void *op_context)
{
	struct rp_send_wr wr = { 0 };
	bool native;
	int ret;

	if (!conn || !dst || !flags)
		return RPMA_E_INVAL;
	if (type != RPMA_FLUSH_TYPE_PERSISTENT && type != RPMA_FLUSH_TYPE_VISIBILITY)
		return RPMA_E_INVAL;
	native = has_cap(conn, RP_CAP_FLUSH);
	ret = flush_allowed(conn, dst, type, native);
	if (ret)
		return ret;

	wr.rkey = dst->rkey;
	if (native) {
		wr.opcode = RP_OP_FLUSH;
		wr.flush_type = type;
		wr.length = len;
		wr.remote_addr = remote_addr(dst, dst_offset);
	} else {
		flush_by_read(dst, dst_offset, len, conn->sink, &wr);
	}
	return post_send(conn, &wr, flags, op_context);
}

/* ---- messages ----------------------------------------------------------- */

/* No region: no data. */
static bool message_valid(const struct rpma_mr_local *mr, size_t offset, size_t len)
{
	return len <= UINT32_MAX && (mr || (!offset && !len));
}

static int send_message(struct rpma_conn *conn, struct rp_send_wr *wr,
	const struct rpma_mr_local *src, size_t offset, size_t len, int flags,
	const void *op_context)
{
	if (!conn || !flags || !message_valid(src, offset, len))
		return RPMA_E_INVAL;

	if (src) {
		wr->mr = src->mr;
		wr->addr = local_addr(src, offset);
		wr->length = len;
	}
	return post_send(conn, wr, flags, op_context);
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	int flags, const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_SEND };

	return send_message(conn, &wr, src, offset, len, flags, op_context);
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
	size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct rp_send_wr wr = { .opcode = RP_OP_SEND, .flags = RP_WR_IMM, .imm = imm };

	return send_message(conn, &wr, src, offset, len, flags, op_context);
}

/* ---- receives ----------------------------------------------------------- */

static struct rp_recv_wr recv_wr(
	const struct rpma_mr_local *dst, size_t offset, size_t len, const void *op_context)
{
	struct rp_recv_wr wr = { .wr_id = (uintptr_t)op_context };

	if (dst) {
		wr.mr = dst->mr;
		wr.addr = local_addr(dst, offset);
		wr.length = len;
	}
	return wr;
}

static int recv_result(int rc, const struct rp_recv_wr *wr)
{
	return core_result(CORE_CALL, rc,
		"cannot post a receive of %" PRIu64 " bytes, address 0x%" PRIx64, wr->length,
		wr->addr);
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	struct rp_recv_wr wr;

	if (!conn || !message_valid(dst, offset, len))
		return RPMA_E_INVAL;

	wr = recv_wr(dst, offset, len, op_context);
	return recv_result(core_conn_ops(conn)->post_recv(conn->conn, &wr), &wr);
}

/* Not without a region, unlike the others. */
int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
	size_t len, const void *op_context)
{
	struct rp_recv_wr wr;

	if (!req || !dst || !message_valid(dst, offset, len))
		return RPMA_E_INVAL;

	wr = recv_wr(dst, offset, len, op_context);
	return recv_result(core_conn_ops(req->conn)->post_recv(req->conn->conn, &wr), &wr);
}

int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	struct rp_recv_wr wr;

	if (!srq || !message_valid(dst, offset, len))
		return RPMA_E_INVAL;

	wr = recv_wr(dst, offset, len, op_context);
	return recv_result(srq->srq->pd->dev->ops->srq_post_recv(srq->srq, &wr), &wr);
}
