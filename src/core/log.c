/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * log.c -- the public face of base/log.h
 */

#include "base/log.h"
#include "core/core.h"

/* An enum with a negative value is an int to the compilers that we know, so
 * that the two function types are one. */
_Static_assert(_Generic((rpma_log_function *)0, rp_log_fn * : 1, default : 0),
	"rpma_log_function is rp_log_fn");
_Static_assert(
	(int)RPMA_LOG_LEVEL_FATAL == RP_LOG_FATAL && (int)RPMA_LOG_LEVEL_DEBUG == RP_LOG_DEBUG,
	"the levels are the same");

static bool threshold_known(enum rpma_log_threshold threshold)
{
	return threshold == RPMA_LOG_THRESHOLD || threshold == RPMA_LOG_THRESHOLD_AUX;
}

int rpma_log_set_function(rpma_log_function *log_function)
{
	rp_log_set_fn(log_function);
	return 0;
}

int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level)
{
	if (!threshold_known(threshold))
		return RPMA_E_INVAL;
	if (level < RPMA_LOG_DISABLED || level > RPMA_LOG_LEVEL_DEBUG)
		return RPMA_E_INVAL;

	rp_log_set_threshold((int)threshold, level);
	return 0;
}

int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level)
{
	if (!threshold_known(threshold) || !level)
		return RPMA_E_INVAL;

	*level = rp_log_get_threshold((int)threshold);
	return 0;
}
