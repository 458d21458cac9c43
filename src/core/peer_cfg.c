/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * peer_cfg.c -- what one side declares of itself
 */

#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

static int peer_cfg_new(bool direct_write_to_pmem, struct rpma_peer_cfg **pcfg_ptr)
{
	struct rpma_peer_cfg *pcfg = malloc(sizeof(*pcfg));

	if (!pcfg)
		return RPMA_E_NOMEM;
	atomic_init(&pcfg->direct_write_to_pmem, direct_write_to_pmem);
	*pcfg_ptr = pcfg;
	return 0;
}

int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr)
{
	return pcfg_ptr ? peer_cfg_new(false, pcfg_ptr) : RPMA_E_INVAL;
}

int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr)
{
	if (!pcfg_ptr)
		return RPMA_E_INVAL;

	free(*pcfg_ptr);
	*pcfg_ptr = NULL;
	return 0;
}

int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported)
{
	if (!pcfg)
		return RPMA_E_INVAL;

	atomic_store(&pcfg->direct_write_to_pmem, supported);
	return 0;
}

int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported)
{
	if (!pcfg || !supported)
		return RPMA_E_INVAL;

	*supported = atomic_load(&pcfg->direct_write_to_pmem);
	return 0;
}

int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc)
{
	if (!pcfg || !desc)
		return RPMA_E_INVAL;

	core_peer_cfg_desc_encode(desc, atomic_load(&pcfg->direct_write_to_pmem));
	return 0;
}

int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size)
{
	if (!pcfg || !desc_size)
		return RPMA_E_INVAL;

	*desc_size = CORE_PEER_CFG_DESC_SIZE;
	return 0;
}

int rpma_peer_cfg_from_descriptor(
	const void *desc, size_t desc_size, struct rpma_peer_cfg **pcfg_ptr)
{
	bool direct;
	int ret;

	if (!desc || !pcfg_ptr)
		return RPMA_E_INVAL;
	if (desc_size < CORE_PEER_CFG_DESC_SIZE) {
		rp_log_error("peer descriptor of %zu bytes, %d needed", desc_size,
			CORE_PEER_CFG_DESC_SIZE);
		return RPMA_E_INVAL;
	}

	direct = core_peer_cfg_desc_decode(desc);
	ret = peer_cfg_new(direct, pcfg_ptr);
	if (!ret)
		rp_log_info("peer descriptor: direct write to pmem %s",
			direct ? "declared" : "not declared");
	return ret;
}
