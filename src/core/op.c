/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * op.c -- remote memory access and messages
 *
 * Each call checks its arguments, builds a request in the queue that it is for, see
 * "posting" in provider.h, and ends in the queue's post(). What the connection cannot
 * do itself is built here from what every provider can: a flush from a read, an atomic
 * write from an inline write.
 *
 * A call has so little to do on its way to the device that how it is compiled is a good
 * part of it. So the common case goes in one line down to post(), a jump, and the others
 * are apart (..._else): requests without data, and waiting for another thread that posts
 * at the same time, for which all arguments would have to be put aside.
 */

#include "base/log.h"
#include "core/core.h"

#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

/* The part of RPMA_F_COMPLETION_ALWAYS that makes the difference. */
#define SIGNALED (RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR)

struct args {
	enum ibv_wr_opcode opcode;
	unsigned how; /* IBV_SEND_* besides SIGNALED */
	const struct rpma_mr_local *mine;
	size_t my_offset;
	const struct rpma_mr_remote *theirs; /* NULL also of a message */
	size_t their_offset;
	size_t len;
	int flags;
	uint32_t imm;
	const void *op_context;
};

/* ---- parts of a request ------------------------------------------------- */

INLINE void build_head(struct rp_sq *sq, const struct args a)
{
	sq->wr.wr_id = (uintptr_t)a.op_context;
	sq->wr.opcode = a.opcode;
	sq->wr.send_flags = a.how | (a.flags & SIGNALED ? IBV_SEND_SIGNALED : 0);
	if (a.opcode == IBV_WR_RDMA_WRITE_WITH_IMM || a.opcode == IBV_WR_SEND_WITH_IMM)
		sq->wr.imm_data = htonl(a.imm);
}

/* Sums may wrap here and below: whether a range lies in the region is judged where the
 * region is known, by the provider or by the other side. */
INLINE int build_local(struct ibv_sge *sge, const struct rp_mr *mr, size_t offset, size_t len)
{
	sge->addr = (uintptr_t)mr->addr + (uint64_t)offset;
	sge->length = (uint32_t)len;
	sge->lkey = mr->lkey;
	return 1;
}

static int build_no_data(struct ibv_sge *sge, int no_data)
{
	*sge = (struct ibv_sge){ 0 };
	return no_data;
}

INLINE void build_remote(struct rp_sq *sq, const struct rpma_mr_remote *mr, size_t offset)
{
	sq->wr.wr.rdma.remote_addr = mr->addr + offset;
	sq->wr.wr.rdma.rkey = mr->rkey;
}

/* ---- read, write -------------------------------------------------------- */

INLINE int transfer_now(struct rp_sq *sq, const struct args a)
{
	build_head(sq, a);
	sq->wr.num_sge = build_local(&sq->sge, a.mine->mr, a.my_offset, a.len);
	build_remote(sq, a.theirs, a.their_offset);
	return sq->post(sq);
}

APART int transfer_else(struct rp_sq *sq, const struct args a)
{
	static const struct rpma_mr_remote nowhere;

	if (!a.mine != !a.theirs)
		return RPMA_E_INVAL;
	if (!a.mine && (a.my_offset || a.their_offset || a.len))
		return RPMA_E_INVAL;

	lock_take(&sq->lock);
	if (a.mine)
		return transfer_now(sq, a);
	build_head(sq, a);
	sq->wr.num_sge = build_no_data(&sq->sge, sq->no_data);
	build_remote(sq, &nowhere, 0);
	return sq->post(sq);
}

/* Two regions, or none and no data. */
INLINE int transfer(struct rpma_conn *conn, const struct args a)
{
	struct rp_sq *sq;

	if (!conn || !a.flags || a.len > UINT32_MAX)
		return RPMA_E_INVAL;

	sq = &conn->conn->sq;
	if (!a.mine || !a.theirs || !lock_try(&sq->lock))
		return transfer_else(sq, a);
	return transfer_now(sq, a);
}

int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	const void *op_context)
{
	return transfer(conn, (struct args){ IBV_WR_RDMA_READ, 0, dst, dst_offset, src, src_offset,
				      len, flags, 0, op_context });
}

int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	const void *op_context)
{
	return transfer(conn, (struct args){ IBV_WR_RDMA_WRITE, 0, src, src_offset, dst, dst_offset,
				      len, flags, 0, op_context });
}

int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags, uint32_t imm,
	const void *op_context)
{
	return transfer(conn, (struct args){ IBV_WR_RDMA_WRITE_WITH_IMM, 0, src, src_offset, dst,
				      dst_offset, len, flags, imm, op_context });
}

/* ---- atomic write ------------------------------------------------------- */

/* From where they are, 8 bytes. */
INLINE int inline_now(struct rp_sq *sq, const struct args a, const char *src)
{
	build_head(sq, a);
	sq->wr.num_sge = 1;
	sq->sge.addr = (uintptr_t)src;
	sq->sge.length = 8;
	build_remote(sq, a.theirs, a.their_offset);
	return sq->post(sq);
}

APART int inline_else(struct rp_sq *sq, const struct args a, const char *src)
{
	lock_take(&sq->lock);
	return inline_now(sq, a, src);
}

int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const char src[8], int flags, const void *op_context)
{
	struct args a = { RP_WR_ATOMIC_WRITE, IBV_SEND_INLINE, NULL, 0, dst, dst_offset, 8, flags,
		0, op_context };
	struct rp_sq *sq;
	unsigned caps;

	if (!conn || !dst || !src || !flags)
		return RPMA_E_INVAL;
	if (dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;

	/* A write may overtake a read, thus also the flush that is one. */
	caps = core_conn_caps(conn);
	if (!(caps & RP_CAP_FLUSH))
		a.how |= IBV_SEND_FENCE;
	if (!(caps & RP_CAP_ATOMIC_WRITE)) {
		a.opcode = IBV_WR_RDMA_WRITE;
		a.how |= IBV_SEND_FENCE;
	}
	sq = &conn->conn->sq;
	return lock_try(&sq->lock) ? inline_now(sq, a, src) : inline_else(sq, a, src);
}

/* Of release 0.10: from a region, which has to stay until the completion. */
int rpma_write_atomic(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	const struct rpma_mr_local *src, size_t src_offset, int flags, const void *op_context)
{
	if (!dst || !src)
		return RPMA_E_INVAL;
	if (dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;

	return transfer(conn, (struct args){ IBV_WR_RDMA_WRITE, IBV_SEND_FENCE, src, src_offset,
				      dst, dst_offset, 8, flags, 0, op_context });
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
INLINE void build_flush_by_read(struct rp_sq *sq, const struct rpma_mr_remote *dst, uint64_t offset,
	uint64_t len, const struct core_sink *sink)
{
	uint64_t n = dst->size < CORE_SINK_SIZE ? dst->size : CORE_SINK_SIZE;

	if (offset > dst->size || len > dst->size - offset) {
		n = 1;
		if (offset < dst->size)
			offset = dst->size;
	} else if (offset > dst->size - n) {
		offset = dst->size - n;
	}

	sq->wr.num_sge =
		n ? build_local(&sq->sge, sink->mr, 0, n) : build_no_data(&sq->sge, sq->no_data);
	build_remote(sq, dst, offset);
}

int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	enum rpma_flush_type type, int flags, const void *op_context)
{
	struct args a = { .opcode = IBV_WR_RDMA_READ, .flags = flags, .op_context = op_context };
	struct rp_sq *sq;
	bool native;
	int ret;

	if (!conn || !dst || !flags)
		return RPMA_E_INVAL;
	if (type != RPMA_FLUSH_TYPE_PERSISTENT && type != RPMA_FLUSH_TYPE_VISIBILITY)
		return RPMA_E_INVAL;
	native = core_conn_caps(conn) & RP_CAP_FLUSH;
	ret = flush_allowed(conn, dst, type, native);
	if (ret)
		return ret;

	sq = &conn->conn->sq;
	lock_take(&sq->lock);
	if (native) {
		a.opcode = RP_WR_FLUSH;
		sq->flush.length = len;
		sq->flush.type = type;
		build_remote(sq, dst, dst_offset);
	} else {
		build_flush_by_read(sq, dst, dst_offset, len, conn->sink);
	}
	build_head(sq, a);
	return sq->post(sq);
}

/* ---- messages ----------------------------------------------------------- */

INLINE int message_now(struct rp_sq *sq, const struct args a)
{
	build_head(sq, a);
	sq->wr.num_sge = build_local(&sq->sge, a.mine->mr, a.my_offset, a.len);
	return sq->post(sq);
}

APART int message_else(struct rp_sq *sq, const struct args a)
{
	if (!a.mine && (a.my_offset || a.len))
		return RPMA_E_INVAL;

	lock_take(&sq->lock);
	if (a.mine)
		return message_now(sq, a);
	build_head(sq, a);
	sq->wr.num_sge = build_no_data(&sq->sge, sq->no_data);
	return sq->post(sq);
}

/* No region: no data. */
INLINE int message(struct rpma_conn *conn, const struct args a)
{
	struct rp_sq *sq;

	if (!conn || !a.flags || a.len > UINT32_MAX)
		return RPMA_E_INVAL;

	sq = &conn->conn->sq;
	return a.mine && lock_try(&sq->lock) ? message_now(sq, a) : message_else(sq, a);
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	int flags, const void *op_context)
{
	return message(conn,
		(struct args){ IBV_WR_SEND, 0, src, offset, NULL, 0, len, flags, 0, op_context });
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
	size_t len, int flags, uint32_t imm, const void *op_context)
{
	return message(conn, (struct args){ IBV_WR_SEND_WITH_IMM, 0, src, offset, NULL, 0, len,
				     flags, imm, op_context });
}

/* ---- receives ----------------------------------------------------------- */

INLINE int receive_now(struct rp_rq *rq, const struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	rq->wr.wr_id = (uintptr_t)op_context;
	rq->wr.num_sge = build_local(&rq->sge, dst->mr, offset, len);
	return rq->post(rq);
}

APART int receive_else(struct rp_rq *rq, const struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	if (!dst && (offset || len))
		return RPMA_E_INVAL;

	lock_take(&rq->lock);
	if (dst)
		return receive_now(rq, dst, offset, len, op_context);
	rq->wr.wr_id = (uintptr_t)op_context;
	rq->wr.num_sge = build_no_data(&rq->sge, rq->no_data);
	return rq->post(rq);
}

/* Likewise. */
INLINE int receive(struct rp_rq *rq, const struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	return dst && lock_try(&rq->lock) ? receive_now(rq, dst, offset, len, op_context)
					  : receive_else(rq, dst, offset, len, op_context);
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	if (!conn || len > UINT32_MAX)
		return RPMA_E_INVAL;

	return receive(&conn->conn->rq, dst, offset, len, op_context);
}

/* Not without a region, unlike the others. */
int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
	size_t len, const void *op_context)
{
	if (!req || !dst || len > UINT32_MAX)
		return RPMA_E_INVAL;

	return receive(&req->conn->conn->rq, dst, offset, len, op_context);
}

int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context)
{
	if (!srq || len > UINT32_MAX)
		return RPMA_E_INVAL;

	return receive(&srq->srq->rq, dst, offset, len, op_context);
}
