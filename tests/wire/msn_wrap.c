/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * msn_wrap.c -- message sequence numbers pass 2^32: item 61
 *
 * Four billion messages take too long: the provider is used by its seam here, and a
 * connection starts with numbers near the end.
 */

#include <stdlib.h>
#include <string.h>

#include "tcp/conn.h"
#include "tcp/cq.h"

#include "rig.h"
#undef post_recv /* here it is that of the provider */

#define LAST UINT32_MAX

struct end {
	const struct rp_ops *ops;
	struct rp_pd *pd;
	struct rp_channel *channel;
	struct rp_cq *cq;
	struct rp_mr *mr;
	struct rp_conn *conn;
	char data[64];
};

static void next_completion(struct end *e, uint64_t wr_id)
{
	struct rp_cq *cq;
	struct ibv_wc wc;

	while (cq_poll(e->cq, 1, &wc) == 0) {
		assert_int_equal(e->ops->cq_arm(e->cq), 0);
		if (cq_poll(e->cq, 1, &wc) == 1)
			break;
		wait_fd(e->channel->fd);
		assert_int_equal(e->ops->channel_wait(e->channel, &cq), 0);
	}
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
}

static void end_open(struct end *e, struct raw *r)
{
	struct rp_qp_attr attr = { .sq_size = 8, .rq_size = 8 };
	struct ibv_context *context = NULL;
	enum rpma_conn_event event;
	struct rp_device *dev;
	struct raw_door door;
	struct bytes t = { 0 };

	*e = (struct end){ 0 };
	raw_open_door(&door, "127.0.0.1");
	assert_int_equal(
		rp_provider_tcp.find("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, 1000, &context), 0);
	assert_int_equal(rp_provider_tcp.open(context, &dev), 0);
	e->ops = dev->ops;
	assert_int_equal(e->ops->pd_alloc(dev, &e->pd), 0);
	assert_int_equal(e->ops->channel_create(dev, &e->channel), 0);
	assert_int_equal(e->ops->cq_create(dev, e->channel, 16, &e->cq), 0);
	assert_int_equal(e->ops->mr_reg(e->pd, e->data, sizeof(e->data), USAGE_ALL, &e->mr), 0);
	assert_int_equal(e->ops->conn_create(e->pd, "127.0.0.1", door.port, 10000, &e->conn), 0);
	attr.send_cq = attr.recv_cq = e->cq;
	assert_int_equal(e->ops->conn_setup_qp(e->conn, &attr), 0);
	tcp_conn(e->conn)->tx.send_msn = tcp_conn(e->conn)->rx.send_msn = LAST;
	tcp_conn(e->conn)->tx.read_msn = tcp_conn(e->conn)->rx.read_msn = LAST;
	tcp_conn(e->conn)->tx.resp_msn = tcp_conn(e->conn)->rx.resp_msn = LAST;
	assert_int_equal(e->ops->conn_connect(e->conn, NULL, 0), 0);
	raw_accept(r, &door);
	bytes_trailer(&t, 1);
	raw_expect(r, REQ "50 02 0018 8010 c010 %p", t.p, t.len);
	t.len = 0;
	bytes_trailer(&t, 2);
	raw_send(r, REP "50 02 0018 8010 8010 %p", t.p, t.len);
	bytes_free(&t);
	raw_expect(r, WRITE_RTR);
	wait_fd(e->conn->event_fd);
	assert_int_equal(e->ops->conn_next_event(e->conn, &event), 0);
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
}

static void end_close(struct end *e, struct raw *r)
{
	assert_int_equal(e->ops->conn_destroy(e->conn), 0);
	assert_int_equal(e->ops->mr_dereg(e->mr), 0);
	assert_int_equal(e->ops->cq_destroy(e->cq), 0);
	assert_int_equal(e->ops->channel_destroy(e->channel), 0);
	assert_int_equal(e->ops->pd_free(e->pd), 0);
	raw_close(r);
}

static void item_061_numbers_in(void **state)
{
	struct end e;
	struct raw r;

	(void)state;
	end_open(&e, &r);
	for (uint64_t i = 0; i < 3; i++) {
		struct rp_recv_wr recv = { .wr_id = i };
		uint32_t msn = LAST + (uint32_t)i;

		assert_int_equal(post_recv(e.conn, &recv), 0);
		raw_fpdu(&r, "41 43 00000000 00000000 %4 00000000", msn);
		next_completion(&e, i);
		raw_fpdu(&r,
			"41 41 00000000 00000001 %4 00000000 00000007 0000000000000007"
			"00000000 00000001 0000000000000000",
			msn);
		raw_expect_fpdu(&r, "c1 42 00000007 0000000000000007");
	}
	end_close(&e, &r);
}

static void item_061_numbers_out(void **state)
{
	struct end e;
	struct raw r;

	(void)state;
	end_open(&e, &r);
	for (uint64_t i = 0; i < 3; i++) {
		struct rp_send_wr send = { .opcode = RP_OP_SEND, .wr_id = i };
		struct rp_send_wr flush = { .opcode = RP_OP_FLUSH,
			.wr_id = 10 + i,
			.flags = RP_WR_SIGNALED,
			.rkey = 7,
			.remote_addr = 0x1000,
			.length = 8,
			.flush_type = RPMA_FLUSH_TYPE_VISIBILITY };
		uint32_t msn = LAST + (uint32_t)i;

		assert_int_equal(post_send(e.conn, &send), 0);
		raw_expect_fpdu(&r, "41 43 00000000 00000000 %4 00000000", msn);
		assert_int_equal(post_send(e.conn, &flush), 0);
		raw_expect_fpdu(&r,
			"41 4c 00000000 00000001 %4 00000000 00000007 00000008"
			"0000000000001000 00000002",
			msn);
		raw_fpdu(&r, "41 4d 00000000 00000003 %4 00000000", msn);
		next_completion(&e, 10 + i);
	}
	end_close(&e, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_061_numbers_in),
		cmocka_unit_test(item_061_numbers_out),
	};

	wire_init();
	return cmocka_run_group_tests_name("wire-msn-wrap", tests, NULL, NULL);
}
