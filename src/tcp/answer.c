/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * answer.c -- requests of the peer that want an answer; see conn.h
 *
 * Reads, atomics and flushes are answered in the order they came (the irq). Reads
 * are sampled while they are sent (tx.c); an atomic or flush is worked on when it
 * is at the head, so after all that came before it has been answered. A flush
 * that may wait for a disk is a job of persist.c; meanwhile the connection goes on
 * with everything but answers. Flushes that have come behind it by the time it begins
 * and that continue its range, as those of a log do, are done by the same job.
 */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "tcp/conn.h"

enum {
	/* A region registered for flushing only bears the flush by Read of a peer
	 * that has no native one. */
	READABLE = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
		   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
};

static const enum iwarp_err request_error[MEM_ERRS] = {
	[MEM_OK] = IWARP_OK,
	[MEM_STAG] = IWARP_RDMAP_STAG,
	[MEM_PD] = IWARP_RDMAP_STREAM,
	[MEM_ACCESS] = IWARP_RDMAP_ACCESS,
	[MEM_BOUNDS] = IWARP_RDMAP_BOUNDS,
	[MEM_WRAP] = IWARP_RDMAP_WRAP,
};

/* The headers of the request as they came in, for the Terminate. */
void answer_fail(struct tcp_conn *c, const struct irq_entry *q, enum iwarp_err err)
{
	struct terminate_cause *t = &c->cause;
	uint8_t hdr[FPDU_HDR_MAX];
	size_t n;

	switch (q->opcode) {
	case RDMAP_READ_REQ:
		n = fpdu_put_read_req(hdr, q->msn, &q->read);
		break;
	case RDMAP_FLUSH_REQ:
		n = fpdu_put_flush_req(hdr, q->msn, &q->flush);
		break;
	default:
		n = fpdu_put_atomic_req(hdr, q->msn, &q->atomic);
		break;
	}
	*t = (struct terminate_cause){ .err = err, .ddp_hdr_len = DDP_UNTAGGED_HDR };
	memcpy(t->ddp_hdr, hdr + 2, DDP_UNTAGGED_HDR);
	t->ulpdu_len = (uint16_t)(n - 2);
	if (q->opcode == RDMAP_READ_REQ) {
		t->has_read_req = true;
		t->read_req = q->read;
		t->read_req.sink_to += q->sent;
		t->read_req.src_to += q->sent;
		t->read_req.size -= q->sent;
	}
	c->irq.head = c->irq.tail;
	conn_terminate_cause(c);
}

/* ---- rights --------------------------------------------------------------------- */

enum iwarp_err answer_open_read(
	struct tcp_conn *c, uint32_t stag, uint64_t to, uint32_t len, struct tcp_mr **mr)
{
	return request_error[mem_open_remote(c->base.pd, stag, to, len, READABLE, mr)];
}

/* Each kind of flush names the right that the region must be registered with. */
static enum iwarp_err open_flush(
	struct tcp_conn *c, const struct rdmap_flush_req *f, struct tcp_mr **mr)
{
	int usage = f->flags & RDMAP_FLUSH_PERSISTENT ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
						      : RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

	return request_error[mem_open_remote(c->base.pd, f->stag, f->to, f->length, usage, mr)];
}

static enum iwarp_err open_atomic(
	struct tcp_conn *c, const struct rdmap_atomic_req *a, struct tcp_mr **mr)
{
	enum iwarp_err err;

	if (a->op != RDMAP_CMP_SWAP && a->op != RDMAP_FETCH_ADD)
		return IWARP_RDMAP_UNSPECIFIED;
	err = request_error[mem_open_remote(
		c->base.pd, a->stag, a->to, 8, RPMA_MR_USAGE_WRITE_DST, mr)];
	if (err == IWARP_OK && a->to % 8 != 0) {
		mem_close(*mr);
		return IWARP_RDMAP_CATASTROPHIC;
	}
	return err;
}

enum iwarp_err answer_check(struct tcp_conn *c, const struct irq_entry *q)
{
	struct tcp_mr *mr = NULL;
	enum iwarp_err err = IWARP_OK;

	if (q->opcode == RDMAP_ATOMIC_REQ)
		err = open_atomic(c, &q->atomic, &mr);
	else if (q->opcode == RDMAP_FLUSH_REQ && q->flush.length > 0)
		err = open_flush(c, &q->flush, &mr);
	else if (q->opcode == RDMAP_READ_REQ && q->read.size > 0)
		err = answer_open_read(c, q->read.src_stag, q->read.src_to, q->read.size, &mr);
	if (err == IWARP_OK && mr != NULL)
		mem_close(mr);
	return err;
}

/* ---- atomics -------------------------------------------------------------------- */

static enum iwarp_err do_atomic(struct tcp_conn *c, struct irq_entry *q)
{
	const struct rdmap_atomic_req *a = &q->atomic;
	struct tcp_mr *mr;
	enum iwarp_err err = open_atomic(c, a, &mr);
	int r;

	if (err != IWARP_OK)
		return err;
	if (a->op == RDMAP_CMP_SWAP)
		r = mem_cmp_swap(
			mr, a->to, a->compare, a->compare_mask, a->data, a->mask, &q->original);
	else
		r = mem_fetch_add(mr, a->to, a->data, a->mask, &q->original);
	if (!(mr->usage & READABLE))
		q->original = 0; /* the right to write is none to read */
	mem_close(mr);
	return r ? IWARP_RDMAP_CATASTROPHIC : IWARP_OK;
}

/* ---- flush ------------------------------------------------------------------------- */

static enum iwarp_err flush_result(struct tcp_conn *c, int result)
{
	if (result == 0)
		return IWARP_OK;
	conn_note(c, RP_LOG_ERROR, "a persistent flush failed: %s", RP_STRERROR(-result));
	return IWARP_RDMAP_CATASTROPHIC;
}

static bool is_continued(const struct persist_job *job, const struct rdmap_flush_req *f)
{
	return f->to <= job->addr + job->length && f->to + f->length >= job->addr;
}

/* Can the flush q be done by the job as well? What it is to make durable is placed. */
static bool joins(struct tcp_conn *c, const struct persist_job *job, const struct irq_entry *q)
{
	struct tcp_mr *mr;

	if (q->opcode != RDMAP_FLUSH_REQ || !(q->flush.flags & RDMAP_FLUSH_PERSISTENT) ||
		q->flush.length == 0 || open_flush(c, &q->flush, &mr) != IWARP_OK)
		return false;
	mem_close(mr);
	return mr == job->mr && is_continued(job, &q->flush);
}

static void join_followers(struct tcp_conn *c, struct persist_job *job)
{
	uint32_t i = c->irq.head + 1;

	for (; i != c->irq.tail && joins(c, job, irq_entry(c, i)); i++) {
		const struct rdmap_flush_req *f = &irq_entry(c, i)->flush;
		uint64_t end = job->addr + job->length;

		if (f->to + f->length > end)
			end = f->to + f->length;
		if (f->to < job->addr)
			job->addr = f->to;
		job->length = end - job->addr;
	}
	c->flush_end = i;
}

/* Begin the flush at the head. *ready: it is done, or has failed. */
static enum iwarp_err begin_flush(struct tcp_conn *c, const struct rdmap_flush_req *f, bool *ready)
{
	struct persist_job *job = &c->flush_job;
	struct tcp_mr *mr;
	enum iwarp_err err;
	int result = 0;

	*ready = true;
	if (f->length == 0)
		return IWARP_OK;
	err = open_flush(c, f, &mr);
	if (err != IWARP_OK)
		return err;
	/* What came before is placed: so it is visible. */
	if (!(f->flags & RDMAP_FLUSH_PERSISTENT) || persist_now(mr, f->to, f->length, &result)) {
		mem_close(mr);
		return flush_result(c, result);
	}
	job->mr = mr;
	job->addr = f->to;
	job->length = f->length;
	join_followers(c, job);
	result = persist_submit(job);
	if (result) {
		mem_close(mr);
		return flush_result(c, result);
	}
	*ready = false;
	return IWARP_OK;
}

static enum iwarp_err do_flush(struct tcp_conn *c, struct irq_entry *q)
{
	int result = 0;

	switch (persist_poll(&c->flush_job, &result)) {
	case PERSIST_IDLE:
		return begin_flush(c, &q->flush, &q->ready);
	case PERSIST_DONE:
		for (uint32_t i = c->irq.head; i != c->flush_end; i++)
			irq_entry(c, i)->ready = true;
		return flush_result(c, result);
	default:
		return IWARP_OK;
	}
}

void answer_flush_done(struct persist_job *job)
{
	struct tcp_conn *c = container_of(job, struct tcp_conn, flush_job);

	conn_lock(c);
	conn_progress(c);
	conn_unlock(c);
}

void answer_work(struct tcp_conn *c)
{
	struct irq_entry *q = irq_head(c);
	enum iwarp_err err = IWARP_OK;

	if (ring_count(&c->irq) == 0 || q->ready || q->opcode == RDMAP_READ_REQ)
		return;
	if (q->opcode == RDMAP_FLUSH_REQ) {
		err = do_flush(c, q);
	} else {
		err = do_atomic(c, q);
		q->ready = true;
	}
	if (err != IWARP_OK)
		answer_fail(c, q, err);
}
