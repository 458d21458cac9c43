/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE -- let a client write to a file and flush it
 *
 * A persistent flush of the region is answered when the file holds the bytes. Where
 * the provider has no flush of its own and makes it of a read, that is true only if
 * data is durable as soon as it is placed. Whether it is so here nobody but the
 * owner of the machine knows: "direct write to pmem" is how the server declares it.
 */

#include "common/steps.h"
#include "flush-to-persistent/offer.h"

enum { SIZE = 4096 };

static void fill(struct offer *offer, struct rpma_mr_local *mr, bool direct)
{
	struct rpma_peer_cfg *self;
	size_t region_len, self_len;

	must(rpma_peer_cfg_new(&self));
	must(rpma_peer_cfg_set_direct_write_to_pmem(self, direct));
	must(rpma_mr_get_descriptor_size(mr, &region_len));
	must(rpma_peer_cfg_get_descriptor_size(self, &self_len));
	if (region_len + self_len > sizeof(offer->bytes))
		quit("server: the descriptors are too long\n");
	must(rpma_mr_get_descriptor(mr, offer->bytes));
	must(rpma_peer_cfg_get_descriptor(self, offer->bytes + region_len));
	must(rpma_peer_cfg_delete(&self));
	offer->region_len = (uint8_t)region_len;
	offer->self_len = (uint8_t)self_len;
}

int main(int argc, char **argv)
{
	struct rpma_mr_local *mr;
	struct offer offer;

	if (argc != 4 && argc != 5)
		quit("usage: server ADDR PORT FILE [direct]\n");
	char *mem = map_target(argv[3], SIZE);
	printf("server: the file holds \"%.60s\"\n", mem);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	must(rpma_mr_reg(peer, mem, SIZE,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &mr));
	fill(&offer, mr, argc == 5);
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn *conn =
		admit(ep, NULL, &(struct rpma_conn_private_data){ &offer, sizeof(offer) });
	await_end(&conn);
	printf("server: the file holds \"%.60s\"\n", mem);

	must(rpma_ep_shutdown(&ep));
	must(rpma_mr_dereg(&mr));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
