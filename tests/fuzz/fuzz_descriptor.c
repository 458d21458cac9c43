/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* fuzz_descriptor.c -- any bytes as the descriptor of a region, and of a peer */

#include "codec.h"
#include "librpma.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
	return 0;
}

static void region(const uint8_t *p, size_t size)
{
	struct rpma_mr_remote *mr = NULL;
	int ret = rpma_mr_remote_from_descriptor(p, size, &mr);
	size_t len = 0;
	int type = -1;

	if (ret != 0) {
		MUST(mr == NULL);
		return;
	}
	MUST(size >= 21);
	MUST(rpma_mr_remote_get_size(mr, &len) == 0);
	for (int i = 0; i < 8; i++)
		MUST((len >> 8 * i & 0xff) == p[8 + i]);
	MUST(rpma_mr_remote_get_flush_type(mr, &type) == 0);
	MUST(type == (p[20] & (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
				      RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)));
	MUST(rpma_mr_remote_delete(&mr) == 0);
}

static void peer(const uint8_t *p, size_t size)
{
	struct rpma_peer_cfg *cfg = NULL;
	bool direct;

	if (rpma_peer_cfg_from_descriptor(p, size, &cfg) != 0) {
		MUST(cfg == NULL);
		return;
	}
	MUST(size >= 1);
	MUST(rpma_peer_cfg_get_direct_write_to_pmem(cfg, &direct) == 0);
	MUST(rpma_peer_cfg_delete(&cfg) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = exact_copy(data, size);

	region(p, size);
	peer(p, size);
	free(p);
	return 0;
}
