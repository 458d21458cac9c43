/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * access.c -- see access.h
 */

#include <stddef.h>

#include "librpma.h"
#include "verbs/access.h"
#include "verbs/features.h"

/*
 * iwarp: a read response is a write to the reader, which the device checks as
 * such. native: only where the device flushes by itself. A region to be flushed
 * is readable even there, as the other side may know no flush but a read.
 */
static const struct {
	int usage;
	int always;
	int iwarp;
	int native;
} rights[] = {
	{ RPMA_MR_USAGE_READ_SRC, IBV_ACCESS_REMOTE_READ, 0, 0 },
	{ RPMA_MR_USAGE_READ_DST, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, 0 },
	{ RPMA_MR_USAGE_WRITE_SRC, IBV_ACCESS_LOCAL_WRITE, 0, 0 },
	{ RPMA_MR_USAGE_WRITE_DST, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE, 0, 0 },
	{ RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, IBV_ACCESS_REMOTE_READ, 0, RV_ACCESS_FLUSH_GLOBAL },
	{ RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, IBV_ACCESS_REMOTE_READ, 0,
		RV_ACCESS_FLUSH_PERSISTENT },
	{ RPMA_MR_USAGE_SEND, 0, 0, 0 },
	{ RPMA_MR_USAGE_RECV, IBV_ACCESS_LOCAL_WRITE, 0, 0 },
};

int rv_access(int usage, bool iwarp, bool native_flush)
{
	int access = 0;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		if (!(usage & rights[i].usage))
			continue;
		access |= rights[i].always;
		if (iwarp)
			access |= rights[i].iwarp;
		if (native_flush)
			access |= rights[i].native;
	}
	return access;
}
