/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * log.h -- what the library has to say
 *
 * One record per call, ended with a newline here. Levels are those of enum
 * rpma_log_level. Callable from any thread; no lock of the library is held
 * while the user's function runs, so never log under one.
 */

#ifndef RPMA_BASE_LOG_H
#define RPMA_BASE_LOG_H 1

#include <stdatomic.h>
#include <stdbool.h>

enum {
	RP_LOG_FATAL = 0,
	RP_LOG_ERROR = 1,
	RP_LOG_WARNING = 2,
	RP_LOG_NOTICE = 3,
	RP_LOG_INFO = 4,
	RP_LOG_DEBUG = 5,
};

enum {
	RP_LOG_MAIN, /* to the current function */
	RP_LOG_AUX,  /* of these, also to stderr by the built-in one */
	RP_LOG_THRESHOLDS,
};

extern _Atomic int rp_log_thresholds[RP_LOG_THRESHOLDS] __attribute__((visibility("hidden")));

/* The shape of the public rpma_log_function, level as int. */
typedef void rp_log_fn(
	int level, const char *file, int line, const char *func, const char *format, ...);

/* Current function and thresholds; see rpma_log_set_function(3). Atomic. */
void rp_log_set_fn(rp_log_fn *fn); /* NULL: the built-in one */
void rp_log_set_threshold(int which, int level);
int rp_log_get_threshold(int which);

/* True when a record of this level reaches the function. */
static inline bool rp_log_enabled(int level)
{
	return level <= atomic_load_explicit(&rp_log_thresholds[RP_LOG_MAIN], memory_order_relaxed);
}

void rp_log_emit(int level, const char *file, int line, const char *func, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#define rp_log(level, ...)                                                                         \
	do {                                                                                       \
		if (rp_log_enabled(level))                                                         \
			rp_log_emit((level), __FILE__, __LINE__, __func__, __VA_ARGS__);           \
	} while (0)

#define rp_log_error(...) rp_log(RP_LOG_ERROR, __VA_ARGS__)
#define rp_log_warning(...) rp_log(RP_LOG_WARNING, __VA_ARGS__)
#define rp_log_notice(...) rp_log(RP_LOG_NOTICE, __VA_ARGS__)
#define rp_log_info(...) rp_log(RP_LOG_INFO, __VA_ARGS__)
#define rp_log_debug(...) rp_log(RP_LOG_DEBUG, __VA_ARGS__)

/* The text of an errno value, thread-safe; buf of RP_STRERROR_MAX. */
#define RP_STRERROR_MAX 96
const char *rp_strerror(int err, char *buf);
#define RP_STRERROR(err) rp_strerror((err), (char[RP_STRERROR_MAX]){ 0 })

#endif /* RPMA_BASE_LOG_H */
