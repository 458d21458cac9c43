/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT TEXT -- write a text durably into the memory of a server
 */

#include "common/steps.h"
#include "flush-to-persistent/offer.h"

static struct rpma_mr_remote *accept_offer(struct rpma_conn *conn)
{
	struct rpma_conn_private_data data;
	struct offer offer;
	struct rpma_mr_remote *region;
	struct rpma_peer_cfg *server;
	bool direct;

	must(rpma_conn_get_private_data(conn, &data));
	if (data.len < sizeof(offer))
		quit("client: the offer is too short\n");
	memcpy(&offer, data.ptr, sizeof(offer));
	if (offer.region_len + offer.self_len > (int)sizeof(offer.bytes))
		quit("client: the offer makes no sense\n");
	must(rpma_mr_remote_from_descriptor(offer.bytes, offer.region_len, &region));
	must(rpma_peer_cfg_from_descriptor(
		offer.bytes + offer.region_len, offer.self_len, &server));
	must(rpma_peer_cfg_get_direct_write_to_pmem(server, &direct));
	printf("client: the server %s direct write to pmem\n", direct ? "declares" : "has no");
	/* From here on the connection knows what it may conclude from a read. */
	must(rpma_conn_apply_remote_peer_cfg(conn, server));
	must(rpma_peer_cfg_delete(&server));
	return region;
}

int main(int argc, char **argv)
{
	char text[64] = "";
	struct rpma_mr_local *src;
	int types, ret;

	if (argc != 4)
		quit("usage: client ADDR PORT TEXT\n");
	snprintf(text, sizeof(text), "%s", argv[3]);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, text, sizeof(text), RPMA_MR_USAGE_WRITE_SRC, &src));
	struct rpma_conn *conn = join(peer, argv, NULL);
	struct rpma_mr_remote *dst = accept_offer(conn);
	must(rpma_mr_remote_get_flush_type(dst, &types));
	if (!(types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		quit("client: the region cannot be flushed to persistence\n");

	must(rpma_write(conn, dst, 0, src, 0, sizeof(text), RPMA_F_COMPLETION_ON_ERROR, NULL));
	ret = rpma_flush(conn, dst, 0, sizeof(text), RPMA_FLUSH_TYPE_PERSISTENT,
		RPMA_F_COMPLETION_ALWAYS, NULL);
	if (ret == RPMA_E_NOSUPP)
		quit("client: this server gives no way to be sure\n");
	must_be_zero(ret, "rpma_flush");
	take(cq_of(conn));
	printf("client: durable: %s\n", text);

	must(rpma_mr_remote_delete(&dst));
	leave(&conn);
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
