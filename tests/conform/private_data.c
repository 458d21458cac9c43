/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* private_data.c -- what the sides send along when a connection is made */

#include <string.h>

#include "pair_ops.h"
#include "pair_wait.h"

#define DATA_MAX 255

/* Contents that a careless transport mangles, besides ordinary ones */
enum content { ORDINARY, ZEROS, ONES, CONTENTS };

static void make_data(uint8_t *data, size_t len, enum content content, uint64_t seed)
{
	if (content == ORDINARY)
		fill(data, len, seed);
	else
		memset(data, content == ZEROS ? 0 : 0xff, len);
}

/* A transport may hand on a longer field, filled up with zeros. */
static void check_data(const struct rpma_conn_private_data *got, const uint8_t *sent, size_t len)
{
	if (traits()->exact_data)
		assert_int_equal(got->len, len);
	assert_true(got->len >= len);
	if (got->len == 0) {
		assert_null(got->ptr);
		return;
	}
	assert_memory_equal(got->ptr, sent, len);
	assert_all((uint8_t *)got->ptr + len, got->len - len, 0);
}

static void check_conn_data(const struct rpma_conn *conn, const uint8_t *sent, size_t len)
{
	struct rpma_conn_private_data got = { (void *)(uintptr_t)sent, 77 };

	assert_ok(rpma_conn_get_private_data(conn, &got));
	check_data(&got, sent, len);
}

/* A device tells the other side what it can do in the last bytes of the private data. */
static bool has_told(int side, size_t len)
{
	size_t most = side == CLIENT ? traits()->request_data : traits()->accept_data;

	return !traits()->device || len + 8 <= most;
}

/* Whatever was sent along, the connection can do all that it should. */
static void check_capable(struct pair *p, const size_t len[SIDES])
{
	struct xfer x = { .len = 64, .ctx = CTX(7) };
	struct region mem;
	struct ibv_wc wc;

	for (int from = 0; from < SIDES; from++) {
		region_open(&mem, p->side[!from].peer, 64, USAGE_ALL);
		x.by = &p->side[from];
		x.remote = &mem;
		op_post(&ops[OP_FLUSH_VISIBILITY], &x);
		next_wc(x.by, x.by->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, has_told(!from, len[!from])
						    ? op_opcode(&ops[OP_FLUSH_VISIBILITY])
						    : IBV_WC_RDMA_READ);
		region_close(&mem);
	}
}

static void connect_with(struct net *n, size_t req_len, size_t rep_len, enum content content)
{
	uint8_t data[SIDES][DATA_MAX];
	struct rpma_conn_private_data got = { 0 };
	struct pair_opts o = { 0 };
	struct rpma_conn_req *req;
	struct rpma_conn *conn[SIDES];
	struct pair p = { .net = n };
	const size_t len[SIDES] = { req_len, rep_len };

	case_is("%zu and %zu bytes, content %d", req_len, rep_len, content);
	for (int i = 0; i < SIDES; i++) {
		make_data(data[i], len[i], content, 17 * len[i] + (size_t)i);
		o.side[i].data = len[i] ? data[i] : NULL;
		o.side[i].data_len = (uint8_t)len[i];
	}
	conn[CLIENT] = client_start(n, &o.side[CLIENT]);
	req = server_req(n, &o.side[SERVER]);
	assert_ok(rpma_conn_req_get_private_data(req, &got));
	check_data(&got, data[CLIENT], req_len);
	conn[SERVER] = req_connect(req, &o.side[SERVER]);
	if (got.len > 0)
		assert_memory_equal(got.ptr, data[CLIENT], req_len);
	check_conn_data(conn[SERVER], data[CLIENT], req_len);
	for (int i = 0; i < SIDES; i++) {
		expect_event(conn[i], RPMA_CONN_ESTABLISHED);
		check_conn_data(conn[i], data[!i], len[!i]);
		side_init(&p.side[i], n->peer[i], conn[i], &o.side[i]);
	}
	check_capable(&p, len);
	assert_ok(rpma_conn_disconnect(conn[SERVER]));
	for (int i = 0; i < SIDES; i++) {
		expect_event(conn[i], RPMA_CONN_CLOSED);
		check_conn_data(conn[i], data[!i], len[!i]);
	}
	pair_drop(&p);
}

static const size_t lengths[] = { 0, 1, 21, 56, 57, 196, 231, 232, 235, 236, 250, 251, 252, 255 };

static void in_request(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (int c = 0; c < CONTENTS; c++)
			if (lengths[i] <= traits()->request_data)
				connect_with(&n, lengths[i], 0, (enum content)c);
	net_close(&n);
}

static void in_answer(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (int c = 0; c < CONTENTS; c++)
			if (lengths[i] <= traits()->accept_data)
				connect_with(&n, 0, lengths[i], (enum content)c);
	net_close(&n);
}

static void in_both(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		size_t back = lengths[ARRAY_LEN(lengths) - 1 - i];

		if (lengths[i] <= traits()->request_data && back <= traits()->accept_data)
			connect_with(&n, lengths[i], back, ORDINARY);
		if (lengths[i] <= traits()->request_data && lengths[i] <= traits()->accept_data)
			connect_with(&n, lengths[i], lengths[i], ONES);
	}
	net_close(&n);
}

/* Too long is refused, never cut. */
static void too_long_in_request(void **state)
{
	uint8_t bytes[DATA_MAX] = { 1 };
	struct rpma_conn_private_data data = { bytes, (uint8_t)(traits()->request_data + 1) };
	struct rpma_conn *conn = NULL;
	struct rpma_conn_req *req;
	struct net n;
	int ret;

	(void)state;
	if (traits()->request_data >= DATA_MAX) {
		print_message("the provider takes all that the API can give it\n");
		skip();
	}
	net_open(&n);
	req = client_req(&n, NULL);
	ret = rpma_conn_req_connect(&req, &data, &conn);
	assert_true(ret == RPMA_E_PROVIDER || ret == RPMA_E_INVAL);
	assert_null(req);
	assert_null(conn);
	net_close(&n);
}

static void before_established(void **state)
{
	const struct side_opts o = { .data = "answer", .data_len = 7 };
	struct rpma_conn_private_data got = { CTX(1), 1 };
	struct pair p;
	struct net n;

	(void)state;
	net_open(&n);
	p.net = &n;
	p.side[CLIENT].conn = client_start(&n, NULL);
	assert_ok(rpma_conn_get_private_data(p.side[CLIENT].conn, &got));
	assert_null(got.ptr);
	assert_int_equal(got.len, 0);
	p.side[SERVER].conn = server_start(&n, &o);
	expect_event(p.side[SERVER].conn, RPMA_CONN_ESTABLISHED);
	expect_event(p.side[CLIENT].conn, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_get_private_data(p.side[CLIENT].conn, &got));
	assert_string_equal(got.ptr, "answer");
	pair_close(&p);
	net_close(&n);
}

/* The descriptors of both kinds, back to back, as programs send them */
static void descriptors(void **state)
{
	uint8_t bytes[DESC_SIZE + 1];
	struct rpma_conn_private_data got = { 0 };
	struct side_opts o = { .data = bytes, .data_len = sizeof(bytes) };
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_conn_req *req;
	struct region mem;
	struct rpma_mr_remote *remote;
	struct rpma_conn *cli;
	struct net n;
	bool direct = false;
	size_t size = 0;

	(void)state;
	net_open(&n);
	region_open(&mem, n.peer[CLIENT], 4096, USAGE_ALL);
	desc_of(mem.mr, bytes);
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_peer_cfg_get_descriptor(pcfg, bytes + DESC_SIZE));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	cli = client_start(&n, &o);
	req = server_req(&n, NULL);
	assert_ok(rpma_conn_req_get_private_data(req, &got));
	assert_true(got.len >= sizeof(bytes));
	remote = remote_from(got.ptr);
	assert_ok(rpma_mr_remote_get_size(remote, &size));
	assert_int_equal(size, 4096);
	assert_ok(rpma_peer_cfg_from_descriptor((uint8_t *)got.ptr + DESC_SIZE, 1, &pcfg));
	assert_ok(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct));
	assert_true(direct);
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	assert_ok(rpma_mr_remote_delete(&remote));
	assert_ok(rpma_conn_req_delete(&req));
	expect_event(cli, RPMA_CONN_REJECTED);
	assert_ok(rpma_conn_delete(&cli));
	region_close(&mem);
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_request),
		cmocka_unit_test(in_answer),
		cmocka_unit_test(in_both),
		cmocka_unit_test(too_long_in_request),
		cmocka_unit_test(before_established),
		cmocka_unit_test(descriptors),
	};

	test_init();
	return cmocka_run_group_tests_name("conform-private-data", tests, NULL, NULL);
}
