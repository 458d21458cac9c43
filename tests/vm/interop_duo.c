/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* interop_duo.c -- near's hold of both processes; see interop.h */

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "interop.h"
#include "interop_log.h"

int role_client = CLIENT, role_server = SERVER;

/* ---- providers --------------------------------------------------------------- */

static const char *provider(const char *variable)
{
	const char *name = getenv(variable);

	return name ? name : "tcp";
}

bool near_is(const char *name)
{
	return strcmp(provider("RPMA_INTEROP_NEAR"), name) == 0;
}

bool far_is(const char *name)
{
	return strcmp(provider("RPMA_INTEROP_FAR"), name) == 0;
}

/* The traits are those of a connection to a stranger. */
bool duo_init(int argc, char **argv)
{
	const bool is_far = argc > 1 && strcmp(argv[1], "far") == 0;
	const char *own = provider(is_far ? "RPMA_INTEROP_FAR" : "RPMA_INTEROP_NEAR");

	setenv("RPMA_TEST_PROVIDER", own, 1);
	if (strcmp(own, "tcp") == 0)
		setenv("RPMA_TEST_TRAITS",
			"-acknowledged,-atomic_write,-exact_status,-immediate,-native_flush", 1);
	else
		unsetenv("RPMA_TEST_TRAITS");
	test_init();
	log_watch();
	return is_far && far_main() == 0;
}

/* ---- far --------------------------------------------------------------------- */

void far_answer(struct duo *d, const char *word, char answer[CHILD_LINE])
{
	child_expect(&d->far, word, answer);
}

void check_far(struct duo *d, int i, size_t len, unsigned seed, const char *where)
{
	char answer[CHILD_LINE];

	far_tell(d, "check %d %zu %u\n", i, len, seed);
	far_answer(d, "check", answer);
	if (answer[0] != '1')
		fail_msg("%s: wrong content in far's first %zu bytes", where, len);
}

void far_fill(struct duo *d, int i, size_t len, unsigned seed)
{
	far_tell(d, "fill %d %zu %u\n", i, len, seed);
	far_answer(d, "fill", NULL);
}

void far_reads(struct duo *d, int i)
{
	far_tell(d, "op %d %d 0\n", i, OP_READ);
	far_answer(d, "op 0", NULL);
}

void terminate_near(struct duo *d, char code[CHILD_LINE])
{
	(void)d;
	log_take_terminate(code, CHILD_LINE);
}

void terminate_far(struct duo *d, char code[CHILD_LINE])
{
	far_tell(d, "terminate 0\n");
	far_answer(d, "terminate", code);
}

/* ---- both -------------------------------------------------------------------- */

void duo_open(struct duo *d, int we)
{
	*d = (struct duo){ .we = we };
	net_open(&d->net);
	child_start(&d->far, "far", NULL, false);
	if (we == SERVER) {
		memcpy(d->port, d->net.port, PORT_LEN);
	} else {
		char port[CHILD_LINE];

		child_expect(&d->far, "port", port);
		snprintf(d->port, PORT_LEN, "%.*s", PORT_LEN - 1, port);
	}
}

void duo_close(struct duo *d)
{
	child_finish(&d->far);
	net_close(&d->net);
}

/* ---- lines ------------------------------------------------------------------- */

struct side_opts line_opts(const void *data, size_t len)
{
	return (struct side_opts){
		.sq_size = LINE_REQUESTS,
		.cq_size = LINE_REQUESTS,
		.rcq_size = LINE_RECEIVES,
		.data = len ? data : NULL,
		.data_len = (uint8_t)len,
	};
}

/*
 * A server that is siw may miss the client's first message, and with it that the
 * connection stands, until more comes: so the client sends more until the server has
 * something to say.
 */
static void wake_server(struct duo *d, int i, struct rpma_conn *conn)
{
	struct pollfd p = { .fd = d->far.out, .events = POLLIN };
	const bool to_far = d->we == CLIENT;

	if (!to_far)
		assert_ok(rpma_conn_get_event_fd(conn, &p.fd));
	while ((to_far ? far_is("verbs") : near_is("verbs")) && poll(&p, 1, 200) == 0)
		if (to_far)
			assert_ok(rpma_write(
				conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ON_ERROR, NULL));
		else
			far_tell(d, "nudge %d\n", i);
}

struct rpma_conn *line_start(struct duo *d, int i, size_t near_len, size_t far_len)
{
	uint8_t data[256];
	struct side_opts o = line_opts(data, near_len);
	struct rpma_conn *conn;

	fill(data, near_len, SEED_NEAR);
	if (d->we == SERVER) {
		far_tell(d, "connect %d %s %zu %zu\n", i, d->port, far_len, near_len);
		conn = server_start(&d->net, &o);
		wake_server(d, i, conn);
		return conn;
	}
	far_tell(d, "accept %d %zu %zu\n", i, far_len, near_len);
	memcpy(d->net.port, d->port, PORT_LEN);
	return client_start(&d->net, &o);
}

/* A client of tcp tells a stranger who it is, if there is room, and the stranger takes
 * that for data. */
static size_t surplus(const struct duo *d, bool to_near, size_t len)
{
	const char *caps = getenv("RPMA_TCP_CAPS");
	bool from_client = to_near == (d->we == SERVER);
	bool tcp = to_near ? far_is("tcp") : near_is("tcp");

	if (!from_client || !tcp || (caps && strcmp(caps, "off") == 0) || len > 231)
		return 0;
	return 20;
}

static void check_data(
	struct duo *d, int i, struct rpma_conn *conn, size_t near_len, size_t far_len)
{
	struct rpma_conn_private_data data = { 0 };
	char answer[CHILD_LINE];
	int event, same;
	size_t got;

	assert_ok(rpma_conn_get_private_data(conn, &data));
	assert_int_equal(data.len, far_len + surplus(d, true, far_len));
	if (far_len)
		assert_filled(data.ptr, far_len, SEED_FAR);
	if (d->we == CLIENT)
		wake_server(d, i, conn);
	far_answer(d, "up", answer);
	assert_int_equal(sscanf(answer, "%d %zu %d", &event, &got, &same), 3);
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
	assert_int_equal(got, near_len + surplus(d, false, near_len));
	assert_true(same);
}

static void swap_faces(struct duo *d, int i)
{
	struct line *l = &d->line[i];
	uint8_t desc[DESC_SIZE];

	line_far_region(d, i, 0, LINE_SIZE);
	desc_of(l->mem.mr, desc);
	far_tell(d, "face %d ", i);
	for (int k = 0; k < DESC_SIZE; k++)
		far_tell(d, "%02x", desc[k]);
	far_tell(d, "\n");
	far_answer(d, "face", NULL);
}

void line_finish(struct duo *d, int i, struct rpma_conn *conn, size_t near_len, size_t far_len)
{
	struct side_opts o = line_opts(NULL, 0);
	struct line *l = &d->line[i];

	check_data(d, i, conn, near_len, far_len);
	side_init(&l->side, d->net.peer[d->we], conn, &o);
	region_open(&l->mem, l->side.peer, LINE_SIZE, USAGE_ALL);
	swap_faces(d, i);
	if (d->we == SERVER)
		far_reads(d, i);
	else
		arrive(&l->side);
}

void line_connect(struct duo *d, int i, size_t near_len, size_t far_len)
{
	struct rpma_conn *conn = line_start(d, i, near_len, far_len);

	expect_event(conn, RPMA_CONN_ESTABLISHED);
	line_finish(d, i, conn, near_len, far_len);
}

void line_far_region(struct duo *d, int i, int usage, size_t size)
{
	struct region *r = &d->line[i].far;
	uint8_t desc[DESC_SIZE];
	char hex[CHILD_LINE];

	far_tell(d, "region %d %x %zu\n", i, (unsigned)usage, size);
	far_answer(d, "region", hex);
	for (int k = 0; k < DESC_SIZE; k++)
		assert_int_equal(sscanf(hex + 2 * k, "%2hhx", &desc[k]), 1);
	if (r->remote)
		assert_ok(rpma_mr_remote_delete(&r->remote));
	*r = (struct region){ .remote = remote_from(desc), .size = size };
}

struct xfer line_xfer(struct duo *d, int i, size_t len, const void *ctx)
{
	struct line *l = &d->line[i];

	return (struct xfer){
		.by = &l->side,
		.local = &l->mem,
		.remote = &l->far,
		.len = len,
		.ctx = ctx,
	};
}

void line_forget(struct duo *d, int i)
{
	struct line *l = &d->line[i];

	assert_ok(rpma_conn_delete(&l->side.conn));
	region_close(&l->mem);
	assert_ok(rpma_mr_remote_delete(&l->far.remote));
}

void line_drop(struct duo *d, int i)
{
	line_forget(d, i);
	far_tell(d, "delete %d\n", i);
	far_answer(d, "delete", NULL);
}

void line_close(struct duo *d, int i)
{
	assert_ok(rpma_conn_disconnect(d->line[i].side.conn));
	expect_event(d->line[i].side.conn, RPMA_CONN_CLOSED);
	far_tell(d, "end %d\n", i);
	far_answer(d, "end", NULL);
	line_drop(d, i);
}
