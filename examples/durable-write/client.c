/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT FILE -- write FILE durably into the memory that a server offers
 *
 * The pieces are written one behind the other without waiting, and the flush right
 * behind them: it completes when everything before it is durable at the server.
 */

#include "common/common.h"

enum { DEPTH = 16, PIECE = 1 << 20 };

/* Connect, with room for DEPTH requests; learn from the server where to write. */
static struct rpma_conn *join(struct rpma_peer *peer, char **argv, struct rpma_mr_remote **dst)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_conn_private_data offer;
	enum rpma_conn_event event;

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_timeout(cfg, 10000));
	must(rpma_conn_cfg_set_sq_size(cfg, DEPTH));
	must(rpma_conn_cfg_set_cq_size(cfg, DEPTH));
	must(rpma_conn_req_new(peer, argv[1], argv[2], cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_conn_req_connect(&req, NULL, &conn));
	must(rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_ESTABLISHED)
		quit("client: %s\n", rpma_utils_conn_event_2str(event));
	must(rpma_conn_get_private_data(conn, &offer));
	must(rpma_mr_remote_from_descriptor(offer.ptr, offer.len, dst));
	printf("client: connected; the server sent a descriptor of %u bytes\n", offer.len);
	return conn;
}

/* Take completions: poll until there are some, and wait when there are none. */
static size_t reap(struct rpma_cq *cq)
{
	struct ibv_wc wc[DEPTH];
	int ret, n;

	while ((ret = rpma_cq_get_wc(cq, DEPTH, wc, &n)) == RPMA_E_NO_COMPLETION)
		must(rpma_cq_wait(cq));
	must_be_zero(ret, "rpma_cq_get_wc");
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			quit("client: a request failed: %s\n", ibv_wc_status_str(wc[i].status));
	return (size_t)n;
}

int main(int argc, char **argv)
{
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_mr_local *src;
	struct rpma_mr_remote *dst;
	struct rpma_cq *cq;
	size_t size, room, posted = 0, done = 0;
	int flushable;

	if (argc != 4)
		quit("usage: client ADDR PORT FILE\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	void *mem = map_source(argv[3], &size);
	must(rpma_utils_get_ibv_context(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	must(rpma_peer_new(device, &peer));
	must(rpma_mr_reg(peer, mem, size, RPMA_MR_USAGE_WRITE_SRC, &src));
	struct rpma_conn *conn = join(peer, argv, &dst);
	must(rpma_conn_get_cq(conn, &cq));
	must(rpma_mr_remote_get_size(dst, &room));
	must(rpma_mr_remote_get_flush_type(dst, &flushable));
	if (room < size || !(flushable & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		quit("client: %zu bytes, flush types 0x%x: not enough\n", room, flushable);

	double start = seconds();
	for (size_t at = 0; at < size; at += PIECE, posted++) {
		size_t len = size - at < PIECE ? size - at : PIECE;
		must(rpma_write(conn, dst, at, src, at, len, RPMA_F_COMPLETION_ALWAYS, NULL));
		if (posted + 1 - done == DEPTH)
			done += reap(cq);
	}
	must(rpma_flush(
		conn, dst, 0, size, RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, NULL));
	while (done < posted + 1)
		done += reap(cq);
	printf("client: %zu bytes (%zu writes), then a PERSISTENT flush: durable after %.1f ms\n",
		size, posted, (seconds() - start) * 1e3);

	must(rpma_conn_disconnect(conn));
	must(rpma_conn_delete(&conn));
	must(rpma_mr_remote_delete(&dst));
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
