/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mr.c -- memory regions of this side and of the other
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/core.h"

#define USAGE_ALL                                                                                  \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |               \
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |                    \
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV)

#define USAGE_FLUSH (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

/* ---- this side's -------------------------------------------------------- */

int rpma_mr_reg(
	struct rpma_peer *peer, void *ptr, size_t size, int usage, struct rpma_mr_local **mr_ptr)
{
	struct rpma_mr_local *mr;
	int ret;

	if (!peer || !ptr || !size || !mr_ptr)
		return RPMA_E_INVAL;
	if (!usage || (usage & ~USAGE_ALL))
		return RPMA_E_INVAL;

	mr = malloc(sizeof(*mr));
	if (!mr)
		return RPMA_E_NOMEM;
	ret = core_result(CORE_CALL,
		peer->pd->dev->ops->mr_reg(peer->pd, ptr, size, usage, &mr->mr),
		"cannot register %zu bytes at %p, usage 0x%x", size, ptr, (unsigned)usage);
	if (ret) {
		free(mr);
		return ret;
	}
	mr->usage = (uint8_t)usage;
	*mr_ptr = mr;
	return 0;
}

int rpma_mr_dereg(struct rpma_mr_local **mr_ptr)
{
	struct rp_mr *mr;
	int ret;

	if (!mr_ptr)
		return RPMA_E_INVAL;
	if (!*mr_ptr)
		return 0;

	mr = (*mr_ptr)->mr;
	ret = core_result(
		CORE_CALL, mr->pd->dev->ops->mr_dereg(mr), "cannot deregister a memory region");
	free(*mr_ptr);
	*mr_ptr = NULL;
	return ret;
}

int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr)
{
	if (!mr || !ptr)
		return RPMA_E_INVAL;

	*ptr = mr->mr->addr;
	return 0;
}

int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size)
{
	if (!mr || !size)
		return RPMA_E_INVAL;

	*size = mr->mr->length;
	return 0;
}

int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	struct rpma_mr_remote told;

	if (!mr || !desc)
		return RPMA_E_INVAL;

	told = (struct rpma_mr_remote){
		.addr = (uintptr_t)mr->mr->addr,
		.size = mr->mr->length,
		.rkey = mr->mr->rkey,
		.usage = mr->usage,
	};
	core_mr_desc_encode(desc, &told);
	return 0;
}

int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	if (!mr || !desc_size)
		return RPMA_E_INVAL;

	*desc_size = CORE_MR_DESC_SIZE;
	return 0;
}

int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags)
{
	uint64_t addr;

	if (!mr)
		return RPMA_E_INVAL;

	addr = (uintptr_t)mr->mr->addr + (uint64_t)offset;
	return core_result(CORE_CALL_ADVISE,
		mr->mr->pd->dev->ops->mr_advise(mr->mr, addr, len, advice, flags),
		"cannot advise %d, flags 0x%" PRIx32 ", on %zu bytes at offset %zu of %" PRIu64,
		advice, flags, len, offset, mr->mr->length);
}

/* ---- the other side's --------------------------------------------------- */

int rpma_mr_remote_from_descriptor(
	const void *desc, size_t desc_size, struct rpma_mr_remote **mr_ptr)
{
	struct rpma_mr_remote *mr, decoded;

	if (!desc || !mr_ptr)
		return RPMA_E_INVAL;
	if (desc_size < CORE_MR_DESC_SIZE) {
		rp_log_error("memory region descriptor of %zu bytes, %d needed", desc_size,
			CORE_MR_DESC_SIZE);
		return RPMA_E_INVAL;
	}
	core_mr_desc_decode(desc, &decoded);
	if (!decoded.usage) {
		rp_log_error("memory region descriptor without usage");
		return RPMA_E_INVAL;
	}

	mr = malloc(sizeof(*mr));
	if (!mr)
		return RPMA_E_NOMEM;
	*mr = decoded;
	rp_log_debug("memory region descriptor: %" PRIu64 " bytes at 0x%" PRIx64 ", key 0x%" PRIx32
		     ", usage 0x%02x",
		mr->size, mr->addr, mr->rkey, mr->usage);
	*mr_ptr = mr;
	return 0;
}

int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size)
{
	if (!mr || !size)
		return RPMA_E_INVAL;

	*size = mr->size;
	return 0;
}

int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type)
{
	if (!mr || !flush_type)
		return RPMA_E_INVAL;

	*flush_type = mr->usage & USAGE_FLUSH;
	return 0;
}

int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr)
{
	if (!mr_ptr)
		return RPMA_E_INVAL;

	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}
