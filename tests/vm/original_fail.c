/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_fail.c -- scenarios: requests that fail, and flushes of what is not there
 */

#include "original.h"

/* ---- requests that fail -------------------------------------------------------- */

/* The first completion of the client's says how, then the connection is of no use. */
static void failing(int usage, int (*post)(struct end *e))
{
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, usage);
	req = end_request(&e, NULL);
	MUST(rpma_conn_req_recv(req, e.mr, 4096, 16, CTX(11)));
	end_start(&e, req);
	if (role == CLIENT) {
		say_result("post", post(&e));
		say_wc("completion", e.cq, e.conn);
	}
	meet();
	if (role == CLIENT)
		say_result("disconnect", rpma_conn_disconnect(e.conn));
	say_event(e.conn);
	if (role == SERVER)
		say_result("disconnect", rpma_conn_disconnect(e.conn));
	say_wc("of the receive", e.cq, e.conn);
	end_drop(&e);
	end_close(&e);
}

static int post_wrong_key(struct end *e)
{
	unsigned char desc[21];

	MUST(rpma_mr_get_descriptor(e->mr, desc));
	desc[16] ^= 0xa5;
	desc[18] ^= 0x3c;
	MUST(rpma_mr_remote_delete(&e->far));
	MUST(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &e->far));
	return rpma_write(e->conn, e->far, 0, e->mr, 0, 8, ALWAYS, CTX(1));
}

static int post_read_beyond(struct end *e)
{
	return rpma_read(e->conn, e->mr, 0, e->far, MEM_SIZE, 8, ALWAYS, CTX(1));
}

static int post_write_beyond(struct end *e)
{
	return rpma_write(e->conn, e->far, MEM_SIZE - 7, e->mr, 0, 8, ALWAYS, CTX(1));
}

static int post_write(struct end *e)
{
	return rpma_write(e->conn, e->far, 0, e->mr, 0, 8, ALWAYS, CTX(1));
}

static int post_read(struct end *e)
{
	return rpma_read(e->conn, e->mr, 0, e->far, 0, 8, ALWAYS, CTX(1));
}

static int post_from_beyond(struct end *e)
{
	return rpma_write(e->conn, e->far, 0, e->mr, MEM_SIZE - 7, 8, ALWAYS, CTX(1));
}

static int post_too_long(struct end *e)
{
	return rpma_send(e->conn, e->mr, 0, 17, ALWAYS, CTX(1));
}

static void wrong_key(void)
{
	failing(ALL_USAGE, post_wrong_key);
}

static void read_beyond(void)
{
	failing(ALL_USAGE, post_read_beyond);
}

static void write_beyond(void)
{
	failing(ALL_USAGE, post_write_beyond);
}

static void write_not_allowed(void)
{
	failing(RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_SRC, post_write);
}

static void read_not_allowed(void)
{
	failing(RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_DST, post_read);
}

static void from_beyond(void)
{
	failing(ALL_USAGE, post_from_beyond);
}

static void message_too_long(void)
{
	failing(ALL_USAGE, post_too_long);
}

/* ---- flushes ------------------------------------------------------------------- */

static int post_flush_at_end(struct end *e)
{
	return rpma_flush(
		e->conn, e->far, MEM_SIZE - 2, 2, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CTX(1));
}

static int post_flush_beyond(struct end *e)
{
	return rpma_flush(
		e->conn, e->far, MEM_SIZE - 2, 16, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CTX(1));
}

static void flush_at_end(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		say_result("post", post_flush_at_end(&e));
		say_wc("flush", e.cq, e.conn);
	}
	end_all(&e);
}

static void flush_beyond(void)
{
	failing(ALL_USAGE, post_flush_beyond);
}

static void flush_unknown(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		int ret = rpma_flush(e.conn, e.far, 0, 8, (enum rpma_flush_type)7, ALWAYS, CTX(1));

		say_result("post", ret);
		if (ret == 0)
			say_wc("flush", e.cq, e.conn);
	}
	end_all(&e);
}

const struct scenario fail_scenarios[] = {
	{ SCENARIO(wrong_key) },
	{ SCENARIO(read_beyond), .not_iwarp = true },
	{ SCENARIO(write_beyond) },
	{ SCENARIO(write_not_allowed) },
	{ SCENARIO(read_not_allowed), .not_iwarp = true },
	{ SCENARIO(from_beyond) },
	{ SCENARIO(message_too_long) },
	{ SCENARIO(flush_at_end) },
	{ SCENARIO(flush_beyond) },
	{ SCENARIO(flush_unknown) },
	{ 0 },
};
