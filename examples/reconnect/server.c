/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE COUNT -- offer FILE to one client, which tells of COUNT records
 *
 * Each record comes as a write with immediate data, which needs a receive here: after
 * COUNT of them the client has to wait. Killed there and started anew, the server offers
 * what the file has then; nothing else is left of the old connection.
 */

#include "common/steps.h"
#include "reconnect/record.h"

static struct rpma_conn *admit_with(struct rpma_ep *ep, struct rpma_mr_local *mr, int receives)
{
	struct rpma_conn_private_data offer;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	char desc[32];

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_rq_size(cfg, (uint32_t)receives));
	must(rpma_conn_cfg_set_cq_size(cfg, (uint32_t)receives));
	must(rpma_ep_next_conn_req(ep, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	for (int i = 0; i < receives; i++)
		must(rpma_conn_req_recv(req, mr, 0, 0, NULL));
	offer = describe(mr, desc);
	must(rpma_conn_req_connect(&req, &offer, &conn));
	await_start(conn);
	return conn;
}

int main(int argc, char **argv)
{
	int count = argc == 5 ? atoi(argv[4]) : 0;
	struct rpma_mr_local *mr;

	if (count <= 0)
		quit("usage: server ADDR PORT FILE COUNT\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct record *records = map_target(argv[3], RECORDS * sizeof(*records));
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, records, RECORDS * sizeof(*records),
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
		&mr));
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn *conn = admit_with(ep, mr, count);

	for (int i = 0; i < count; i++)
		take(cq_of(conn));
	printf("server: %d records have come\n", count);
	await_end(&conn);
	for (int i = 0; i < RECORDS; i++)
		printf("server: %s\n", records[i].text);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
