/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_log.c -- see pair_log.h */

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "pair_log.h"

static atomic_int most;
static void (*_Atomic current)(const char *text);

static __attribute__((format(printf, 5, 6))) void take(enum rpma_log_level level,
	const char *file_name, const int line_no, const char *function_name,
	const char *message_format, ...)
{
	char text[1024];
	va_list args;

	(void)file_name, (void)line_no, (void)function_name;
	if ((int)level > atomic_load(&most))
		return;
	va_start(args, message_format);
	vsnprintf(text, sizeof(text), message_format, args);
	va_end(args);
	atomic_load (&current)(text);
}

void log_hear(enum rpma_log_level level, void (*hear)(const char *text))
{
	atomic_store(&most, level);
	atomic_store(&current, hear);
	rpma_log_set_function(take);
}
