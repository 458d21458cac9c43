/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop_far.c -- the process that does what it is told; see interop.h */

#include <stdlib.h>
#include <string.h>

#include "interop.h"
#include "interop_log.h"

static struct {
	struct net net;
	struct line line[LINES]; /* from this side: far is near's region */
} far;

/* ---- making ---------------------------------------------------------------- */

/* What came along, against what was sent; there may be more behind it. */
static bool data_is(struct rpma_conn *conn, size_t len, size_t *got)
{
	struct rpma_conn_private_data data = { 0 };
	uint8_t sent[256];

	assert_ok(rpma_conn_get_private_data(conn, &data));
	fill(sent, len, SEED_NEAR);
	*got = data.len;
	return data.len >= len && (len == 0 || memcmp(data.ptr, sent, len) == 0);
}

static void up(struct line *l, struct rpma_peer *peer, struct rpma_conn *conn, size_t len)
{
	struct side_opts o = line_opts(NULL, 0);
	enum rpma_conn_event event = next_event(conn);
	size_t got = 0;
	bool same;

	if (event != RPMA_CONN_ESTABLISHED) {
		assert_ok(rpma_conn_delete(&conn));
		printf("up %d 0 0\n", event);
		return;
	}
	side_init(&l->side, peer, conn, &o);
	region_open(&l->mem, peer, LINE_SIZE, USAGE_ALL);
	same = data_is(conn, len, &got);
	printf("up %d %zu %d\n", event, got, same);
}

/* connect LINE PORT LENGTH LENGTH_OF_NEAR */
static void do_connect(struct line *l, const char *args)
{
	uint8_t data[256];
	struct side_opts o;
	size_t len, near_len;

	assert_int_equal(sscanf(args, "%7s %zu %zu", far.net.port, &len, &near_len), 3);
	fill(data, len, SEED_FAR);
	o = line_opts(data, len);
	up(l, far.net.peer[CLIENT], client_start(&far.net, &o), near_len);
}

/* accept LINE LENGTH LENGTH_OF_NEAR */
static void do_accept(struct line *l, const char *args)
{
	uint8_t data[256];
	struct side_opts o;
	size_t len, near_len;

	assert_int_equal(sscanf(args, "%zu %zu", &len, &near_len), 2);
	fill(data, len, SEED_FAR);
	o = line_opts(data, len);
	up(l, far.net.peer[SERVER], server_start(&far.net, &o), near_len);
}

/* reject: the next request */
static void do_reject(struct line *l, const char *args)
{
	struct rpma_conn_req *req = server_req(&far.net, NULL);

	(void)l;
	(void)args;
	assert_ok(rpma_conn_req_delete(&req));
	puts("reject");
}

/* ---- memory ---------------------------------------------------------------- */

/* region LINE USAGE SIZE: register it anew; 0: as it is. Tells its face. */
static void do_region(struct line *l, const char *args)
{
	uint8_t desc[DESC_SIZE];
	unsigned usage;
	size_t size;

	assert_int_equal(sscanf(args, "%x %zu", &usage, &size), 2);
	if (usage) {
		region_close(&l->mem);
		region_open(&l->mem, l->side.peer, size, (int)usage);
	}
	desc_of(l->mem.mr, desc);
	printf("region ");
	for (int i = 0; i < DESC_SIZE; i++)
		printf("%02x", desc[i]);
	puts("");
}

/* face LINE HEX: that of near's region */
static void do_face(struct line *l, const char *args)
{
	uint8_t desc[DESC_SIZE];

	for (int i = 0; i < DESC_SIZE; i++)
		assert_int_equal(sscanf(args + 1 + 2 * i, "%2hhx", &desc[i]), 1);
	l->far.remote = remote_from(desc);
	puts("face");
}

/* fill LINE LENGTH SEED */
static void do_fill(struct line *l, const char *args)
{
	unsigned seed;
	size_t len;

	assert_int_equal(sscanf(args, "%zu %u", &len, &seed), 2);
	fill(l->mem.data, len, seed);
	puts("fill");
}

/* check LINE LENGTH SEED */
static void do_check(struct line *l, const char *args)
{
	char *want;
	unsigned seed;
	size_t len;

	assert_int_equal(sscanf(args, "%zu %u", &len, &seed), 2);
	want = malloc(len + 8);
	assert_non_null(want);
	fill(want, len, seed);
	printf("check %d\n", memcmp(want, l->mem.data, len) == 0);
	free(want);
}

/* ---- requests -------------------------------------------------------------- */

static void say_wc(const char *word, struct line *l, struct rpma_cq *cq)
{
	struct ibv_wc wc = { 0 };

	next_wc(&l->side, cq, &wc);
	printf("%s %d %d %u\n", word, wc.status, wc.opcode, wc.byte_len);
}

/* op LINE OP LENGTH: on the starts of both regions; tells its completion. */
static void do_op(struct line *l, const char *args)
{
	struct xfer x = { .by = &l->side, .local = &l->mem, .remote = &l->far, .ctx = CTX(1) };
	int op;

	assert_int_equal(sscanf(args, "%d %zu", &op, &x.len), 2);
	op_post(&ops[op], &x);
	say_wc("op", l, l->side.cq);
}

/* nudge LINE: a write of nothing; no answer */
static void do_nudge(struct line *l, const char *args)
{
	(void)args;
	assert_ok(rpma_write(l->side.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ON_ERROR, NULL));
}

/* recv LINE LENGTH: at the start of the region */
static void do_recv(struct line *l, const char *args)
{
	post_recv(&l->side, &l->mem, strtoul(args, NULL, 10), CTX(2));
	puts("recv");
}

/* got LINE: the completion of a receive */
static void do_got(struct line *l, const char *args)
{
	(void)args;
	say_wc("got", l, l->side.rcq);
}

/* ---- end ------------------------------------------------------------------- */

/* end LINE: wait for it */
static void do_end(struct line *l, const char *args)
{
	(void)args;
	expect_end(l->side.conn);
	puts("end");
}

/* broken LINE: the same after an error */
static void do_broken(struct line *l, const char *args)
{
	(void)args;
	expect_broken(l->side.conn);
	puts("broken");
}

static void do_disconnect(struct line *l, const char *args)
{
	(void)args;
	assert_ok(rpma_conn_disconnect(l->side.conn));
	puts("disconnect");
}

static void do_delete(struct line *l, const char *args)
{
	(void)args;
	assert_ok(rpma_conn_delete(&l->side.conn));
	region_close(&l->mem);
	if (l->far.remote)
		assert_ok(rpma_mr_remote_delete(&l->far.remote));
	puts("delete");
}

static void do_terminate(struct line *l, const char *args)
{
	char code[CHILD_LINE];

	(void)l;
	(void)args;
	log_take_terminate(code, sizeof(code));
	printf("terminate %s\n", code);
}

static const struct {
	const char *word;
	void (*run)(struct line *l, const char *args);
} commands[] = {
	{ "connect", do_connect },
	{ "accept", do_accept },
	{ "reject", do_reject },
	{ "region", do_region },
	{ "face", do_face },
	{ "fill", do_fill },
	{ "check", do_check },
	{ "nudge", do_nudge },
	{ "op", do_op },
	{ "recv", do_recv },
	{ "got", do_got },
	{ "end", do_end },
	{ "broken", do_broken },
	{ "disconnect", do_disconnect },
	{ "delete", do_delete },
	{ "terminate", do_terminate },
};

static void obey(const char *text)
{
	char word[16];
	int i, at;

	assert_int_equal(sscanf(text, "%15s %d%n", word, &i, &at), 2);
	for (size_t k = 0; k < ARRAY_LEN(commands); k++)
		if (strcmp(commands[k].word, word) == 0) {
			commands[k].run(&far.line[i], text + at);
			return;
		}
	fail_msg("what is '%s'?", text);
}

int far_main(void)
{
	char text[CHILD_LINE];

	net_open(&far.net);
	printf("port %s\n", far.net.port);
	while (fgets(text, sizeof(text), stdin))
		obey(text);
	net_close(&far.net);
	return 0;
}
