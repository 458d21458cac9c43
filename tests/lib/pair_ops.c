/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_ops.c -- see pair_ops.h */

#include "pair_ops.h"
#include "pair_wait.h"

#define LOCAL(x) ((x)->local ? (x)->local->mr : NULL)
#define REMOTE(x) ((x)->remote ? (x)->remote->remote : NULL)

static int flags_of(const struct xfer *x)
{
	return x->flags ? x->flags : RPMA_F_COMPLETION_ALWAYS;
}

static int post_read(const struct xfer *x)
{
	return rpma_read(x->by->conn, LOCAL(x), x->local_off, REMOTE(x), x->remote_off, x->len,
		flags_of(x), x->ctx);
}

static int post_write(const struct xfer *x)
{
	return rpma_write(x->by->conn, REMOTE(x), x->remote_off, LOCAL(x), x->local_off, x->len,
		flags_of(x), x->ctx);
}

static int post_write_imm(const struct xfer *x)
{
	return rpma_write_with_imm(x->by->conn, REMOTE(x), x->remote_off, LOCAL(x), x->local_off,
		x->len, flags_of(x), x->imm, x->ctx);
}

static int post_atomic_write(const struct xfer *x)
{
	return rpma_atomic_write(x->by->conn, REMOTE(x), x->remote_off,
		x->local->data + x->local_off, flags_of(x), x->ctx);
}

static int post_flush(const struct xfer *x, enum rpma_flush_type type)
{
	return rpma_flush(x->by->conn, REMOTE(x), x->remote_off, x->len, type, flags_of(x), x->ctx);
}

static int post_flush_visibility(const struct xfer *x)
{
	return post_flush(x, RPMA_FLUSH_TYPE_VISIBILITY);
}

static int post_flush_persistent(const struct xfer *x)
{
	return post_flush(x, RPMA_FLUSH_TYPE_PERSISTENT);
}

static int post_send(const struct xfer *x)
{
	return rpma_send(x->by->conn, LOCAL(x), x->local_off, x->len, flags_of(x), x->ctx);
}

static int post_send_imm(const struct xfer *x)
{
	return rpma_send_with_imm(
		x->by->conn, LOCAL(x), x->local_off, x->len, flags_of(x), x->imm, x->ctx);
}

int recv_at(struct side *s, struct region *r, size_t off, size_t len, const void *ctx)
{
	return rpma_recv(s->conn, r ? r->mr : NULL, off, len, ctx);
}

const struct op ops[OP_COUNT] = {
	[OP_READ] = {
		.name = "read",
		.post = post_read,
		.opcode = IBV_WC_RDMA_READ,
		.opcode_emulated = IBV_WC_RDMA_READ,
		.recv_opcode = -1,
		.local_usage = RPMA_MR_USAGE_READ_DST,
		.remote_usage = RPMA_MR_USAGE_READ_SRC,
	},
	[OP_WRITE] = {
		.name = "write",
		.post = post_write,
		.opcode = IBV_WC_RDMA_WRITE,
		.opcode_emulated = IBV_WC_RDMA_WRITE,
		.recv_opcode = -1,
		.local_usage = RPMA_MR_USAGE_WRITE_SRC,
		.remote_usage = RPMA_MR_USAGE_WRITE_DST,
	},
	[OP_WRITE_IMM] = {
		.name = "write_with_imm",
		.post = post_write_imm,
		.opcode = IBV_WC_RDMA_WRITE,
		.opcode_emulated = IBV_WC_RDMA_WRITE,
		.recv_opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.imm = true,
		.local_usage = RPMA_MR_USAGE_WRITE_SRC,
		.remote_usage = RPMA_MR_USAGE_WRITE_DST,
	},
	[OP_ATOMIC_WRITE] = {
		.name = "atomic_write",
		.post = post_atomic_write,
		.opcode = WC_ATOMIC_WRITE,
		.opcode_emulated = IBV_WC_RDMA_WRITE,
		.recv_opcode = -1,
		.remote_usage = RPMA_MR_USAGE_WRITE_DST,
		.unit = 8,
	},
	[OP_FLUSH_VISIBILITY] = {
		.name = "flush visibility",
		.post = post_flush_visibility,
		.opcode = WC_FLUSH,
		.opcode_emulated = IBV_WC_RDMA_READ,
		.recv_opcode = -1,
		.remote_usage = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
	},
	[OP_FLUSH_PERSISTENT] = {
		.name = "flush persistent",
		.post = post_flush_persistent,
		.opcode = WC_FLUSH,
		.opcode_emulated = IBV_WC_RDMA_READ,
		.recv_opcode = -1,
		.remote_usage = RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
	},
	[OP_SEND] = {
		.name = "send",
		.post = post_send,
		.opcode = IBV_WC_SEND,
		.opcode_emulated = IBV_WC_SEND,
		.recv_opcode = IBV_WC_RECV,
		.local_usage = RPMA_MR_USAGE_SEND,
		.remote_usage = RPMA_MR_USAGE_RECV,
	},
	[OP_SEND_IMM] = {
		.name = "send_with_imm",
		.post = post_send_imm,
		.opcode = IBV_WC_SEND,
		.opcode_emulated = IBV_WC_SEND,
		.recv_opcode = IBV_WC_RECV,
		.imm = true,
		.local_usage = RPMA_MR_USAGE_SEND,
		.remote_usage = RPMA_MR_USAGE_RECV,
	},
};

int op_opcode(const struct op *op)
{
	bool native = op->opcode == WC_FLUSH ? traits()->native_flush : traits()->atomic_write;

	return native ? op->opcode : op->opcode_emulated;
}

bool op_exists(const struct op *op)
{
	return !op->imm || traits()->immediate;
}

/* A read of nothing is answered behind all that came before it. */
void arrive_at(struct side *s, const char *where)
{
	if (traits()->acknowledged)
		return;
	check_code(0, rpma_read(s->conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, CTX(0xa1)),
		"rpma_read", where);
	expect_status_at(s, CTX(0xa1), IBV_WC_SUCCESS, where);
}

/* ---- a pair with memory -------------------------------------------------- */

void field_connect(struct field *f, struct net *n, const struct pair_opts *opts, size_t size)
{
	struct rpma_peer_cfg *pcfg = NULL;

	pair_connect(&f->pair, n, opts);
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	for (int i = 0; i < SIDES; i++) {
		assert_ok(rpma_conn_apply_remote_peer_cfg(f->pair.side[i].conn, pcfg));
		region_open(&f->mem[i], n->peer[i], size, USAGE_ALL);
	}
	assert_ok(rpma_peer_cfg_delete(&pcfg));
}

void field_open(struct field *f, const struct pair_opts *opts, size_t size)
{
	net_open(&f->pair.own);
	field_connect(f, &f->pair.own, opts, size);
}

/* The connection first: what was never waited for still uses the regions. */
void field_drop(struct field *f)
{
	for (int i = 0; i < SIDES; i++)
		assert_ok(rpma_conn_delete(&f->pair.side[i].conn));
	for (int i = 0; i < SIDES; i++)
		region_close(&f->mem[i]);
	pair_drop(&f->pair);
}

void field_close(struct field *f)
{
	pair_disconnect(&f->pair);
	field_drop(f);
}

struct xfer field_xfer(struct field *f, int from, size_t len, const void *ctx)
{
	return (struct xfer){
		.by = &f->pair.side[from],
		.local = &f->mem[from],
		.remote = &f->mem[!from],
		.len = len,
		.ctx = ctx,
	};
}

/* One exchange in each direction; the numbers of the queue pairs fit. */
void pair_exchange(struct pair *p)
{
	struct region mem[SIDES];

	for (int i = 0; i < SIDES; i++)
		region_open(&mem[i], p->side[i].peer, 64, USAGE_ALL);
	for (int from = 0; from < SIDES; from++) {
		struct xfer x = {
			.by = &p->side[from],
			.local = &mem[from],
			.len = 64,
			.ctx = CTX(1),
		};

		fill(mem[from].data, 64, (uint64_t)from);
		post_recv(&p->side[!from], &mem[!from], 64, CTX(2));
		op_post(&ops[OP_SEND], &x);
		expect_done(&p->side[from], CTX(1));
		expect_recv(&p->side[!from], CTX(2));
		assert_filled(mem[!from].data, 64, (uint64_t)from);
	}
	for (int i = 0; i < SIDES; i++)
		region_close(&mem[i]);
}
