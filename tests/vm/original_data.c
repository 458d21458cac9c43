/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_data.c -- scenarios: remote memory and messages
 */

#include <string.h>

#include "original.h"

/* ---- remote memory --------------------------------------------------------- */

static void writes(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		fill(e.mem, MEM_SIZE, 'a');
		TELL(rpma_write(e.conn, e.far, 0, e.mr, 0, MEM_SIZE, ALWAYS, CTX(1)));
		say_wc("write", e.cq, e.conn);
		fill(e.mem, 100, 'A');
		TELL(rpma_write(e.conn, e.far, 100, e.mr, 0, 100, ON_ERROR, CTX(2)));
		TELL(rpma_write(e.conn, e.far, 200, e.mr, 0, 7, ALWAYS, CTX(3)));
		say_wc("write", e.cq, e.conn);
		TELL(rpma_write(e.conn, NULL, 0, NULL, 0, 0, ALWAYS, CTX(4)));
		say_wc("write of nothing", e.cq, e.conn);
		say_empty(e.cq);
		TELL(rpma_write(e.conn, e.far, 0, e.mr, 0, 1, 0, CTX(5)));
		TELL(rpma_write(e.conn, e.far, 0, NULL, 0, 1, ALWAYS, CTX(5)));
	}
	meet();
	if (role == SERVER) {
		say_memory("start", e.mem, 100, 'a');
		say_memory("middle", e.mem + 100, 100, 'A');
		say_memory("last", e.mem + 200, 7, 'A');
		say_empty(e.cq);
	}
	end_all(&e);
}

static void reads(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == SERVER)
		fill(e.mem, MEM_SIZE, 'a');
	meet();
	if (role == CLIENT) {
		TELL(rpma_read(e.conn, e.mr, 0, e.far, 0, MEM_SIZE, ALWAYS, CTX(1)));
		say_wc("read", e.cq, e.conn);
		say_memory("all", e.mem, MEM_SIZE, 'a');
		TELL(rpma_read(e.conn, e.mr, 0, e.far, 26, 11, ALWAYS, CTX(2)));
		say_wc("read", e.cq, e.conn);
		TELL(rpma_read(e.conn, NULL, 0, NULL, 0, 0, ALWAYS, CTX(3)));
		say_wc("read of nothing", e.cq, e.conn);
	}
	end_all(&e);
}

static void write_with_imm(void)
{
	struct rpma_conn_req *req;
	struct end e;
	int ret = 0;

	end_open(&e, ALL_USAGE);
	req = end_request(&e, NULL);
	if (role == SERVER) {
		TELL(rpma_conn_req_recv(req, e.mr, 4096, 8, CTX(11)));
		TELL(rpma_conn_req_recv(req, NULL, 0, 0, CTX(12)));
	}
	end_start(&e, req);
	if (role == CLIENT) {
		fill(e.mem, 300, 'a');
		ret = rpma_write_with_imm(
			e.conn, e.far, 0, e.mr, 0, 300, ALWAYS, 0x12345678, CTX(1));
		say_result("write", ret);
	}
	if (agree(ret == 0)) {
		say_wc("completion", e.cq, e.conn);
		if (role == SERVER)
			say_memory("memory", e.mem, 300, 'a');
	}
	end_all(&e);
}

static void flushes(void)
{
	struct rpma_conn *conn;
	struct end e;

	end_open_connected(&e);
	conn = e.conn;
	if (role == CLIENT) {
		fill(e.mem, 64, 'a');
		TELL(rpma_write(conn, e.far, 0, e.mr, 0, 64, ON_ERROR, CTX(1)));
		TELL(rpma_flush(conn, e.far, 0, 64, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CTX(2)));
		say_wc("visibility", e.cq, conn);
		TELL(rpma_conn_apply_remote_peer_cfg(conn, e.far_cfg));
		TELL(rpma_flush(conn, e.far, 0, 64, RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, CTX(3)));
		say_wc("persistent", e.cq, conn);
		TELL(rpma_flush(conn, e.far, 0, 64, RPMA_FLUSH_TYPE_PERSISTENT, 0, CTX(4)));
		say_empty(e.cq);
	}
	meet();
	if (role == SERVER)
		say_memory("memory", e.mem, 64, 'a');
	end_all(&e);
}

/* Before the other side has declared anything */
static void flush_undeclared(void)
{
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		int ret =
			rpma_flush(e.conn, e.far, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, CTX(1));

		say_result("persistent", ret);
		if (ret == 0)
			say_wc("persistent", e.cq, e.conn);
	}
	end_all(&e);
}

/* Regions that are not for it */
static void flush_refused(void)
{
	struct end e;

	end_open(&e, ALL_USAGE & ~(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
					 RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT));
	end_connect(&e);
	if (role == CLIENT) {
		MUST(rpma_conn_apply_remote_peer_cfg(e.conn, e.far_cfg));
		TELL(rpma_flush(e.conn, e.far, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CTX(1)));
		TELL(rpma_flush(e.conn, e.far, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, CTX(2)));
	}
	end_all(&e);
}

/* Regions that are flushed and not read */
static void flush_unreadable(void)
{
	struct end e;

	end_open(&e, RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
			     RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	end_connect(&e);
	if (role == CLIENT) {
		TELL(rpma_flush(e.conn, e.far, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CTX(1)));
		say_wc("visibility", e.cq, e.conn);
	}
	end_all(&e);
}

static void atomic_writes(void)
{
	static const char eight[8] = "abcdefg";
	struct end e;

	end_open_connected(&e);
	if (role == CLIENT) {
		TELL(rpma_atomic_write(e.conn, e.far, 16, eight, ALWAYS, CTX(1)));
		say_wc("atomic write", e.cq, e.conn);
		TELL(rpma_atomic_write(e.conn, e.far, 4, eight, ALWAYS, CTX(2)));
		TELL(rpma_atomic_write(e.conn, e.far, 16, NULL, ALWAYS, CTX(3)));
		say_empty(e.cq);
	}
	meet();
	if (role == SERVER)
		say("memory", "%s", memcmp(e.mem + 16, eight, 8) ? "other bytes" : "as sent");
	end_all(&e);
}

/* ---- messages --------------------------------------------------------------- */

static void messages(void)
{
	struct rpma_conn_req *req;
	struct end e;

	end_open(&e, ALL_USAGE);
	req = end_request(&e, NULL);
	TELL(rpma_conn_req_recv(req, e.mr, 4096, 1024, CTX(11)));
	TELL(rpma_conn_req_recv(req, e.mr, 5120, 1024, CTX(12)));
	end_start(&e, req);
	meet();
	if (role == CLIENT) {
		fill(e.mem, 1000, 'a');
		TELL(rpma_send(e.conn, e.mr, 0, 1000, ALWAYS, CTX(1)));
		say_wc("send", e.cq, e.conn);
		meet();
	} else {
		say_wc("received", e.cq, e.conn);
		say_memory("message", e.mem + 4096, 1000, 'a');
		meet();
		fill(e.mem, 3, 'A');
		TELL(rpma_send(e.conn, e.mr, 0, 3, ON_ERROR, CTX(1)));
	}
	if (role == CLIENT) {
		say_wc("received", e.cq, e.conn);
		say_memory("message", e.mem + 4096, 3, 'A');
	}
	end_all(&e);
}

static void messages_with_imm(void)
{
	struct rpma_conn_req *req;
	struct end e;
	int ret = 0;

	end_open(&e, ALL_USAGE);
	req = end_request(&e, NULL);
	for (unsigned i = 0; i < 2; i++)
		MUST(rpma_conn_req_recv(req, e.mr, 4096 + i * 1024, 1024, CTX(11 + i)));
	end_start(&e, req);
	if (role == CLIENT) {
		ret = rpma_send_with_imm(e.conn, e.mr, 0, 10, ALWAYS, 0xcafe0001, CTX(1));
		say_result("send", ret);
		ret = rpma_send_with_imm(e.conn, NULL, 0, 0, ALWAYS, 0xcafe0002, CTX(2));
		say_result("send of nothing", ret);
	}
	if (agree(ret == 0)) {
		say_wc("completion", e.cq, e.conn);
		say_wc("completion", e.cq, e.conn);
	}
	end_all(&e);
}

static void nothing_sent(void)
{
	struct end e;
	int ret = 0;

	end_open_connected(&e);
	if (role == SERVER) {
		ret = rpma_recv(e.conn, NULL, 0, 0, CTX(11));
		say_result("receive", ret);
	}
	if (agree(ret == 0)) {
		if (role == CLIENT)
			TELL(rpma_send(e.conn, NULL, 0, 0, ALWAYS, CTX(1)));
		say_wc("completion", e.cq, e.conn);
	}
	end_all(&e);
}

const struct scenario data_scenarios[] = {
	{ SCENARIO(writes) },
	{ SCENARIO(reads) },
	{ SCENARIO(write_with_imm) },
	{ SCENARIO(flushes) },
	{ SCENARIO(flush_undeclared) },
	{ SCENARIO(flush_refused) },
	{ SCENARIO(flush_unreadable) },
	{ SCENARIO(atomic_writes) },
	{ SCENARIO(messages) },
	{ SCENARIO(messages_with_imm) },
	{ SCENARIO(nothing_sent) },
	{ 0 },
};
