/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cfg.c -- configurations of connections and of shared receive queues
 *
 * All fields are atomics: one configuration may be read and changed by several
 * threads. Users of a configuration copy from it.
 */

#include <stdlib.h>
#include <string.h>

#include "core/core.h"

const struct rpma_conn_cfg core_conn_cfg_default = {
	.timeout = RPMA_DEFAULT_TIMEOUT_MS,
	.cq_size = 10,
	.rcq_size = 0,
	.sq_size = 10,
	.rq_size = 10,
	.compl_channel = false,
	.srq = NULL,
};

const struct rpma_srq_cfg core_srq_cfg_default = {
	.rq_size = 20,
	.rcq_size = 20,
};

/* rpma_<noun>_new and _delete; *cfg_ptr is NULL when there is no memory. */
#define DEFINE_LIFE(noun)                                                                          \
	int rpma_##noun##_new(struct rpma_##noun **cfg_ptr)                                        \
	{                                                                                          \
		if (!cfg_ptr)                                                                      \
			return RPMA_E_INVAL;                                                       \
                                                                                                   \
		*cfg_ptr = malloc(sizeof(**cfg_ptr));                                              \
		if (!*cfg_ptr)                                                                     \
			return RPMA_E_NOMEM;                                                       \
		memcpy(*cfg_ptr, &core_##noun##_default, sizeof(**cfg_ptr));                       \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	int rpma_##noun##_delete(struct rpma_##noun **cfg_ptr)                                     \
	{                                                                                          \
		if (!cfg_ptr)                                                                      \
			return RPMA_E_INVAL;                                                       \
                                                                                                   \
		free(*cfg_ptr);                                                                    \
		*cfg_ptr = NULL;                                                                   \
		return 0;                                                                          \
	}

/* rpma_<noun>_set_<field> and _get_<field>; refused is said of value. */
#define DEFINE_FIELD(noun, field, type, refused)                                                   \
	int rpma_##noun##_set_##field(struct rpma_##noun *cfg, type value)                         \
	{                                                                                          \
		if (!cfg || (refused))                                                             \
			return RPMA_E_INVAL;                                                       \
                                                                                                   \
		atomic_store(&cfg->field, value);                                                  \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	int rpma_##noun##_get_##field(const struct rpma_##noun *cfg, type *value)                  \
	{                                                                                          \
		if (!cfg || !value)                                                                \
			return RPMA_E_INVAL;                                                       \
                                                                                                   \
		*value = atomic_load(&cfg->field);                                                 \
		return 0;                                                                          \
	}

DEFINE_LIFE(conn_cfg)
DEFINE_FIELD(conn_cfg, timeout, int, value < 0)
DEFINE_FIELD(conn_cfg, cq_size, uint32_t, false)
DEFINE_FIELD(conn_cfg, rcq_size, uint32_t, false)
DEFINE_FIELD(conn_cfg, sq_size, uint32_t, false)
DEFINE_FIELD(conn_cfg, rq_size, uint32_t, false)
DEFINE_FIELD(conn_cfg, compl_channel, bool, false)
DEFINE_FIELD(conn_cfg, srq, struct rpma_srq *, !value)

DEFINE_LIFE(srq_cfg)
DEFINE_FIELD(srq_cfg, rq_size, uint32_t, false)
DEFINE_FIELD(srq_cfg, rcq_size, uint32_t, false)
