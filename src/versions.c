/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * versions.c -- the symbol versions that programs of older releases ask for
 *
 * A version script gives a symbol one version only. So each further version is a
 * function here that does nothing but call the one which everybody else gets;
 * versions.py writes them from the header and versions.txt. They behave as 1.x
 * does: what that changes for a program is told in doc/COMPATIBILITY.md.
 *
 * Only the shared library has this file: an archive has no versions.
 */

#include <string.h>

#define RPMA_DEPRECATED
#pragma GCC visibility push(default)
#include "librpma.h"

/* The attribute survives link-time optimisation, the directive does not. */
#ifdef __has_attribute
#if __has_attribute(symver)
#define SYMVER_ATTRIBUTE 1
#endif
#endif

#ifdef SYMVER_ATTRIBUTE
#define AT(name, node) __attribute__((symver(#name "@LIBRPMA_" node)))
#define ENTRY(type, name, parameters, result, at)                                                  \
	type old_##name parameters;                                                                \
	at type old_##name parameters                                                              \
	{                                                                                          \
		return result;                                                                     \
	}
#else
#define AT(name, node) __asm__(".symver old_" #name ", " #name "@LIBRPMA_" node);
#define ENTRY(type, name, parameters, result, at)                                                  \
	type old_##name parameters;                                                                \
	type old_##name parameters                                                                 \
	{                                                                                          \
		return result;                                                                     \
	}                                                                                          \
	at
#endif

#define OLD(type, name, parameters, arguments, at) ENTRY(type, name, parameters, name arguments, at)

#include "versions.inc"

/* The completion of 0.9 ended with op_status, and so does what its programs have
 * room for. */
struct completion_0_9 {
	void *op_context;
	enum rpma_op op;
	uint32_t byte_len;
	enum ibv_wc_status op_status;
};

static int completion_get_0_9(struct rpma_conn *conn, struct rpma_completion *cmpl)
{
	struct rpma_completion whole;
	int ret;

	if (!cmpl)
		return RPMA_E_INVAL;

	memcpy(&whole, cmpl, sizeof(struct completion_0_9));
	ret = rpma_conn_completion_get(conn, &whole);
	memcpy(cmpl, &whole, sizeof(struct completion_0_9));
	return ret;
}

/* clang-format off */
ENTRY(int, rpma_conn_completion_get, (struct rpma_conn *conn, struct rpma_completion *cmpl),
	completion_get_0_9(conn, cmpl), AT(rpma_conn_completion_get, "1.0"))
/* clang-format on */
