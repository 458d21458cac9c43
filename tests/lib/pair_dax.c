/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_dax.c -- see pair_dax.h */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_check.h"
#include "pair_dax.h"

/* The device maps in multiples of this only. */
#define UNIT ((size_t)2 << 20)

enum { UNITS = 192 };

static struct {
	int fd;
	void *map[UNITS]; /* by the first unit of each mapping */
	bool used[UNITS]; /* by this process; a lock keeps the others out */
} dax = { .fd = -1 };

bool dax_is_there(void)
{
	const char *name = getenv("RPMA_TEST_DAX");

	return name && *name;
}

static bool lock_unit(size_t unit, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)unit,
		.l_len = 1,
	};

	return fcntl(dax.fd, F_OFD_SETLK, &lock) == 0;
}

static bool take_units(size_t first, size_t n)
{
	size_t got;

	for (got = 0; got < n; got++)
		if (dax.used[first + got] || !lock_unit(first + got, F_WRLCK))
			break;
	for (size_t i = 0; i < got; i++) {
		dax.used[first + i] = got == n;
		if (got < n)
			lock_unit(first + i, F_UNLCK);
	}
	return got == n;
}

void *dax_map(size_t len)
{
	size_t n = (len + UNIT - 1) / UNIT, first = 0;
	void *p;

	if (dax.fd < 0)
		dax.fd = open(getenv("RPMA_TEST_DAX"), O_RDWR | O_CLOEXEC);
	assert_true(dax.fd >= 0);
	while (first + n <= UNITS && !take_units(first, n))
		first++;
	assert_true(first + n <= UNITS);
	p = mmap(NULL, n * UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, dax.fd, (off_t)(first * UNIT));
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, 0, len);
	dax.map[first] = p;
	return p;
}

void dax_unmap(void *p, size_t len)
{
	size_t n = (len + UNIT - 1) / UNIT, first = 0;

	while (dax.map[first] != p)
		first++;
	dax.map[first] = NULL;
	assert_int_equal(munmap(p, n * UNIT), 0);
	for (size_t i = first; i < first + n; i++) {
		dax.used[i] = false;
		lock_unit(i, F_UNLCK);
	}
}
