/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * interop_end.c -- connections that are refused, closed by either side, or lose the
 * other process; see interop.h
 */

#include <string.h>

#include "interop.h"

#define LEN 4096

/* Near has a receive posted. */
static void stage_open(struct duo *d, void **state)
{
	duo_open(d, role_of(state));
	line_connect(d, 0, 0, 0);
	post_recv(&d->line[0].side, &d->line[0].mem, LEN, CTX(90));
}

static void far_ends(struct duo *d)
{
	far_tell(d, "end 0\n");
	far_answer(d, "end", NULL);
}

static void expect_closed(struct line *l)
{
	expect_event(l->side.conn, RPMA_CONN_CLOSED);
	expect_recv_status(&l->side, CTX(90), IBV_WC_WR_FLUSH_ERR);
}

/* ---- closed ------------------------------------------------------------------ */

static void closed_by_near(void **state)
{
	struct duo d;

	stage_open(&d, state);
	assert_ok(rpma_conn_disconnect(d.line[0].side.conn));
	expect_closed(&d.line[0]);
	far_ends(&d);
	line_drop(&d, 0);
	duo_close(&d);
}

static void closed_by_far(void **state)
{
	struct duo d;

	stage_open(&d, state);
	far_tell(&d, "disconnect 0\n");
	far_answer(&d, "disconnect", NULL);
	expect_closed(&d.line[0]);
	far_ends(&d);
	line_drop(&d, 0);
	duo_close(&d);
}

/* Without a disconnect */
static void deleted_by_far(void **state)
{
	struct duo d;

	stage_open(&d, state);
	far_tell(&d, "delete 0\n");
	far_answer(&d, "delete", NULL);
	expect_closed(&d.line[0]);
	line_forget(&d, 0);
	duo_close(&d);
}

static void deleted_by_near(void **state)
{
	struct duo d;

	stage_open(&d, state);
	line_forget(&d, 0);
	far_ends(&d);
	far_tell(&d, "delete 0\n");
	far_answer(&d, "delete", NULL);
	duo_close(&d);
}

/* What was sent before has arrived. */
static void closed_behind_a_write(void **state)
{
	struct duo d;
	struct xfer x;

	stage_open(&d, state);
	x = line_xfer(&d, 0, LINE_SIZE, CTX(1));
	fill(x.local->data, LINE_SIZE, 8);
	op_post(&ops[OP_WRITE], &x);
	expect_done(x.by, CTX(1));
	assert_ok(rpma_conn_disconnect(x.by->conn));
	expect_closed(&d.line[0]);
	far_ends(&d);
	assert_far_filled(&d, 0, LINE_SIZE, 8);
	line_drop(&d, 0);
	duo_close(&d);
}

/* ---- killed ------------------------------------------------------------------ */

static void killed_when_idle(void **state)
{
	struct duo d;

	stage_open(&d, state);
	child_kill(&d.far);
	expect_end(d.line[0].side.conn);
	expect_recv_status(&d.line[0].side, CTX(90), IBV_WC_WR_FLUSH_ERR);
	line_forget(&d, 0);
	net_close(&d.net);
}

/* Each request comes back, once. */
static void killed_under_load(void **state)
{
	static const int burst[] = { OP_WRITE, OP_READ, OP_FLUSH_VISIBILITY, OP_ATOMIC_WRITE };
	uint64_t seen = 0;
	struct duo d;

	stage_open(&d, state);
	for (uint64_t i = 0; i < LINE_REQUESTS; i++) {
		const struct op *op = &ops[burst[i % ARRAY_LEN(burst)]];
		struct xfer x = line_xfer(&d, 0, op->unit ? op->unit : LINE_SIZE, CTX(i));

		op_post(op, &x);
	}
	child_kill(&d.far);
	for (int i = 0; i < LINE_REQUESTS; i++) {
		struct ibv_wc wc = { 0 };

		next_wc(&d.line[0].side, d.line[0].side.cq, &wc);
		assert_true(wc.wr_id < LINE_REQUESTS && !(seen & UINT64_C(1) << wc.wr_id));
		seen |= UINT64_C(1) << wc.wr_id;
	}
	expect_end(d.line[0].side.conn);
	expect_recv_status(&d.line[0].side, CTX(90), IBV_WC_WR_FLUSH_ERR);
	line_forget(&d, 0);
	net_close(&d.net);
}

/* ---- refused ----------------------------------------------------------------- */

static void rejected_by_far(void **state)
{
	struct rpma_conn *conn;
	struct duo d;

	(void)state;
	duo_open(&d, CLIENT);
	far_tell(&d, "reject 0\n");
	memcpy(d.net.port, d.port, PORT_LEN);
	conn = client_start(&d.net, NULL);
	expect_event(conn, RPMA_CONN_REJECTED);
	far_answer(&d, "reject", NULL);
	assert_ok(rpma_conn_delete(&conn));
	line_connect(&d, 0, 0, 0);
	line_close(&d, 0);
	duo_close(&d);
}

static void rejected_by_near(void **state)
{
	struct rpma_conn_req *req;
	char answer[CHILD_LINE];
	struct duo d;
	int event;

	(void)state;
	duo_open(&d, SERVER);
	far_tell(&d, "connect 0 %s 0 0\n", d.port);
	req = server_req(&d.net, NULL);
	assert_ok(rpma_conn_req_delete(&req));
	far_answer(&d, "up", answer);
	assert_int_equal(sscanf(answer, "%d", &event), 1);
	assert_int_equal(event, RPMA_CONN_REJECTED);
	line_connect(&d, 0, 0, 0);
	line_close(&d, 0);
	duo_close(&d);
}

/* The two share the ports of TCP. */
static void port_of_the_other(void **state)
{
	struct rpma_ep *ep = NULL;
	struct duo d;

	(void)state;
	duo_open(&d, CLIENT);
	assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(d.net.peer[SERVER], d.net.addr, d.port, &ep));
	assert_null(ep);
	duo_close(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(closed_by_near),
		BOTH(closed_by_far),
		BOTH(deleted_by_near),
		BOTH(deleted_by_far),
		BOTH(closed_behind_a_write),
		BOTH(killed_when_idle),
		BOTH(killed_under_load),
		cmocka_unit_test(rejected_by_far),
		cmocka_unit_test(rejected_by_near),
		cmocka_unit_test(port_of_the_other),
	};

	if (duo_init(argc, argv))
		return 0;
	return cmocka_run_group_tests_name("vm-interop-end", tests, NULL, NULL);
}
