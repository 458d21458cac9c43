/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- a server that drops its client once, in the middle
 *
 * Each record comes as a write with immediate data, which needs a receive here. The
 * first client gets receives for half of the records, and after that many it is
 * disconnected. The memory and its descriptor outlive the connection.
 */

#include "common/steps.h"
#include "reconnect/record.h"

static void serve(struct rpma_ep *ep, const struct rpma_conn_private_data *offer,
	struct rpma_mr_local *in, int receives)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_rq_size(cfg, (uint32_t)receives));
	must(rpma_conn_cfg_set_cq_size(cfg, (uint32_t)receives));
	must(rpma_ep_next_conn_req(ep, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	for (int i = 0; i < receives; i++)
		must(rpma_conn_req_recv(req, in, 0, 1, NULL));
	must(rpma_conn_req_connect(&req, offer, &conn));
	await_start(conn);
	if (receives < RECORDS) {
		for (int i = 0; i < receives; i++)
			take(cq_of(conn));
		printf("server: dropping the client after %d records\n", receives);
		must(rpma_conn_delete(&conn));
		return;
	}
	await_end(&conn);
}

int main(int argc, char **argv)
{
	struct rpma_mr_local *mr, *in;
	char desc[32], unused[1];

	if (argc != 4)
		quit("usage: server ADDR PORT FILE\n");
	struct record *records = map_target(argv[3], RECORDS * sizeof(*records));
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, records, RECORDS * sizeof(*records),
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &mr));
	must(rpma_mr_reg(peer, unused, sizeof(unused), RPMA_MR_USAGE_RECV, &in));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn_private_data offer = describe(mr, desc);
	serve(ep, &offer, in, RECORDS / 2);
	serve(ep, &offer, in, RECORDS);
	for (int i = 0; i < RECORDS; i++)
		printf("server: %s\n", records[i].text);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&in));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
