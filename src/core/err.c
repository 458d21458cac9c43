/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * err.c -- error codes: their texts, and what a provider's result becomes
 */

#include <errno.h>
#include <stdarg.h>

#include "base/log.h"
#include "core/core.h"

const char *rpma_err_2str(int ret)
{
	switch (ret) {
	case 0:
		return "Success";
	case RPMA_E_NOSUPP:
		return "Not supported";
	case RPMA_E_PROVIDER:
		return "Provider error occurred";
	case RPMA_E_NOMEM:
		return "Out of memory";
	case RPMA_E_INVAL:
		return "Invalid argument";
	case RPMA_E_NO_COMPLETION:
		return "No next completion available";
	case RPMA_E_NO_EVENT:
		return "No next event available";
	case RPMA_E_AGAIN:
		return "Temporary error, try again";
	case RPMA_E_SHARED_CHANNEL:
		return "Completion channel is shared";
	case RPMA_E_NOT_SHARED_CHNL:
		return "Completion channel is not shared";
	default:
		return "Unknown error";
	}
}

enum {
	ANY = 0,     /* errno value */
	SILENT = -1, /* level */
};

/*
 * First match. What is in no row is RPMA_E_PROVIDER with an ERROR record; also
 * ENOMEM, which on an adapter is as often a limit of the device as of memory.
 */
static const struct rule {
	enum core_call call;
	int err;
	int code;
	int level;
} rules[] = {
	{ CORE_CALL_PD_ALLOC, ENOMEM, RPMA_E_NOMEM, SILENT },

	{ CORE_CALL_ADVISE, EOPNOTSUPP, RPMA_E_NOSUPP, RP_LOG_ERROR },
	{ CORE_CALL_ADVISE, EFAULT, RPMA_E_INVAL, RP_LOG_ERROR },
	{ CORE_CALL_ADVISE, EINVAL, RPMA_E_INVAL, RP_LOG_ERROR },

	{ CORE_CALL_NEXT_REQ, EAGAIN, RPMA_E_NO_EVENT, SILENT },
	{ CORE_CALL_NEXT_REQ, ENODATA, RPMA_E_NO_EVENT, SILENT },
	{ CORE_CALL_NEXT_REQ, ECANCELED, RPMA_E_PROVIDER, RP_LOG_NOTICE },

	{ CORE_CALL_NEXT_EVENT, EAGAIN, RPMA_E_NO_EVENT, SILENT },
	{ CORE_CALL_NEXT_EVENT, ENODATA, RPMA_E_NO_EVENT, SILENT },
	{ CORE_CALL_NEXT_EVENT, ECANCELED, RPMA_E_PROVIDER, RP_LOG_NOTICE },
	{ CORE_CALL_NEXT_EVENT, EPROTO, RPMA_E_UNKNOWN, SILENT }, /* the provider has logged it */

	{ CORE_CALL_WAIT, EAGAIN, RPMA_E_NO_COMPLETION, SILENT },
	{ CORE_CALL_WAIT, EINTR, RPMA_E_NO_COMPLETION, SILENT },
	{ CORE_CALL_WAIT, ECANCELED, RPMA_E_NO_COMPLETION, SILENT },
	{ CORE_CALL_WAIT, ANY, RPMA_E_NO_COMPLETION, RP_LOG_ERROR },
};

static struct rule rule_for(enum core_call call, int err)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].call == call && (rules[i].err == err || rules[i].err == ANY))
			return rules[i];
	}
	return (struct rule){ call, err, RPMA_E_PROVIDER, RP_LOG_ERROR };
}

int core_result_at(enum core_call call, int rc, const char *file, int line, const char *func,
	const char *what, ...)
{
	struct rule rule;
	char text[512];
	va_list ap;

	if (!rc)
		return 0;
	rule = rule_for(call, -rc);
	if (rule.level == SILENT || !rp_log_enabled(rule.level))
		return rule.code;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	rp_log_emit(rule.level, file, line, func, "%s: %s", text, RP_STRERROR(-rc));
	return rule.code;
}
