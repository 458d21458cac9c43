/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * completion.c -- the tables of rpma_completion(7): a case for each cell
 *
 * The cases are named after section, row, column and content of the cell, and given
 * the argument "list" this program prints the names; tests/man compares them with the
 * page. What each looks at is told in completion_shot.h. "t" is a yes between two tcp
 * providers, a no between the tcp provider and one that seems to be of another make,
 * and with devices nothing is looked at but the end.
 */

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "completion_shot.h"
#include "pair_wait.h"

enum moment { RETURNED, COMPLETED, LATER, MOMENTS };
enum { OP_RECV = OP_COUNT, OP_WRITE_SEND };

static const char *const moments[MOMENTS] = {
	[RETURNED] = "when the call has returned",
	[COMPLETED] = "when its completion says success",
	[LATER] = "when the completion of a later request says success",
};

static const char *const columns[COLUMNS] = { "local memory", "placed", "visible", "durable" };

struct row {
	enum moment moment;
	const char *name;
	int op;
	const char *cell[COLUMNS]; /* "-": nothing to tell, no case */
};

static const struct row rows[] = {
	{ RETURNED, "rpma_read", OP_READ, { "no", "-", "-", "-" } },
	{ RETURNED, "rpma_write", OP_WRITE, { "no", "no", "no", "no" } },
	{ RETURNED, "rpma_write_with_imm", OP_WRITE_IMM, { "no", "no", "no", "no" } },
	{ RETURNED, "rpma_atomic_write", OP_ATOMIC_WRITE, { "yes", "no", "no", "no" } },
	{ RETURNED, "rpma_flush, visibility", OP_FLUSH_VISIBILITY, { "-", "no", "no", "no" } },
	{ RETURNED, "rpma_flush, persistent", OP_FLUSH_PERSISTENT, { "-", "no", "no", "no" } },
	{ RETURNED, "rpma_send", OP_SEND, { "no", "no", "no", "no" } },
	{ RETURNED, "rpma_send_with_imm", OP_SEND_IMM, { "no", "no", "no", "no" } },
	{ RETURNED, "rpma_recv", OP_RECV, { "no", "-", "-", "-" } },

	{ COMPLETED, "rpma_read", OP_READ, { "yes", "-", "-", "-" } },
	{ COMPLETED, "rpma_write", OP_WRITE, { "yes", "t", "t", "no" } },
	{ COMPLETED, "rpma_write_with_imm", OP_WRITE_IMM, { "yes", "t", "t", "no" } },
	{ COMPLETED, "rpma_atomic_write", OP_ATOMIC_WRITE, { "yes", "t", "t", "no" } },
	{ COMPLETED, "rpma_flush, visibility", OP_FLUSH_VISIBILITY, { "-", "yes", "yes", "no" } },
	{ COMPLETED, "rpma_flush, persistent", OP_FLUSH_PERSISTENT, { "-", "yes", "yes", "yes" } },
	{ COMPLETED, "rpma_send", OP_SEND, { "yes", "t", "t", "no" } },
	{ COMPLETED, "rpma_send_with_imm", OP_SEND_IMM, { "yes", "t", "t", "no" } },
	{ COMPLETED, "rpma_recv", OP_RECV, { "yes", "-", "-", "-" } },

	{ LATER, "write, send", OP_WRITE_SEND, { "yes", "t", "t", "no" } },
	{ LATER, "atomic write", OP_ATOMIC_WRITE, { "yes", "t", "t", "no" } },
	{ LATER, "read", OP_READ, { "yes", "yes", "yes", "no" } },
	{ LATER, "flush, visibility", OP_FLUSH_VISIBILITY, { "yes", "yes", "yes", "no" } },
	{ LATER, "flush, persistent", OP_FLUSH_PERSISTENT, { "yes", "yes", "yes", "yes" } },
};

struct cell {
	const struct row *row;
	enum column column;
	char name[128];
	bool passed;
};

/* Of the other process; the library finds this one before that of libc. */
__attribute__((visibility("default"))) int msync(void *addr, size_t len, int flags)
{
	int ret = (int)syscall(SYS_msync, addr, len, flags);

	if (ret == 0)
		far_record_sync(addr, len);
	return ret;
}

/* ---- cells --------------------------------------------------------------- */

/* Each earlier request, before each one whose completion speaks for it */
static void run_later(const struct shot *s, int op)
{
	static const int earlier[] = { OP_WRITE, OP_WRITE_IMM, OP_ATOMIC_WRITE };
	static const int write_send[] = { OP_WRITE, OP_SEND };
	bool two = op == OP_WRITE_SEND;

	for (size_t i = 0; i < ARRAY_LEN(earlier); i++) {
		for (size_t j = 0; j < (two ? 2 : 1); j++) {
			struct shot one = *s;

			if (!op_exists(&ops[earlier[i]]))
				continue;
			one.carrier = earlier[i];
			one.ahead = true;
			one.op = two ? write_send[j] : op;
			shot_run(&one);
		}
	}
}

/* With each flag where that makes no difference */
static void run_own(const struct shot *s, int op)
{
	static const int flags[] = { RPMA_F_COMPLETION_ALWAYS, RPMA_F_COMPLETION_ON_ERROR };

	for (size_t i = 0; i < (s->returned ? 2 : 1); i++) {
		struct shot one = *s;

		one.flags = flags[i];
		one.ahead = shot_is_flush(op);
		one.carrier = one.ahead ? OP_WRITE : op;
		one.op = op;
		if (op == OP_READ)
			shot_read(&one);
		else
			shot_run(&one);
	}
}

static void run_cell(void **state)
{
	struct cell *c = *state;
	bool exists = c->row->op >= OP_COUNT || op_exists(&ops[c->row->op]);
	const char *content = c->row->cell[c->column];
	struct shot s = {
		.column = c->column,
		.yes = strcmp(content, "yes") == 0,
		.returned = c->row->moment == RETURNED,
		.flags = RPMA_F_COMPLETION_ALWAYS,
	};

	c->passed = !exists; /* it may be skipped, too */
	if (strcmp(content, "t") == 0)
		s.yes = traits()->acknowledged && !traits()->device;
	if (c->row->moment == LATER)
		run_later(&s, c->row->op);
	else if (c->row->op == OP_RECV)
		shot_receive(&s);
	else if (exists)
		run_own(&s, c->row->op);
	else
		shot_refused(c->row->op);
	c->passed = true;
}

/* A failure shall not make the next case fail. */
static int begin_anew(void **state)
{
	const struct cell *c = *state;

	if (!c->passed) {
		far_drop(&far);
		far_open(&far);
	}
	return 0;
}

enum { CELLS_MAX = ARRAY_LEN(rows) * COLUMNS };

static struct cell cells[CELLS_MAX];
static struct CMUnitTest tests[CELLS_MAX];

static size_t make_tests(void)
{
	size_t n = 0;

	for (size_t i = 0; i < CELLS_MAX; i++) {
		const struct row *row = &rows[i / COLUMNS];
		enum column column = i % COLUMNS;

		if (strcmp(row->cell[column], "-") == 0)
			continue;
		cells[n] = (struct cell){ .row = row, .column = column };
		snprintf(cells[n].name, sizeof(cells[n].name), "%s: %s: %s: %s",
			moments[row->moment], row->name, columns[column], row->cell[column]);
		tests[n] = (struct CMUnitTest){
			.name = cells[n].name,
			.test_func = run_cell,
			.teardown_func = begin_anew,
			.initial_state = &cells[n],
		};
		n++;
	}
	return n;
}

static int up(void **state)
{
	(void)state;
	far_open(&far);
	return 0;
}

static int down(void **state)
{
	(void)state;
	far_close(&far);
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = make_tests();

	test_init();
	if (argc == 1)
		return _cmocka_run_group_tests("conform-completion", tests, n, up, down);
	if (strcmp(argv[1], FAR_ROLE) == 0)
		return far_be(argc > 2 ? argv[2] : NULL);
	for (size_t i = 0; i < n; i++)
		puts(cells[i].name);
	return 0;
}
