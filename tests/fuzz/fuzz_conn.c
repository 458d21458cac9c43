/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fuzz_conn.c -- a live connection of the tcp provider, its peer any bytes
 *
 * No thread, no network, no clock: the connection has one end of a socket pair, the
 * input goes into the other, and the engine moves by engine_step() alone. This file
 * stands in for tcp/device.c, which would start the engine with its thread.
 *
 * Input: byte 0, how the connection is (see below); byte 1, where the rest is cut in
 * two (the requests of ours go between); then what the peer sends. "STAG" in it becomes
 * the key of the region, which is at ADDR, and "LONG" so many bytes that what is around
 * them is a large segment. CRCs are off, so that what is behind them is reached.
 */

#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec.h"
#include "base/log.h"
#include "tcp/conn.h"
#include "tcp/cq.h"
#include "tcp/env.h"
#include "tcp/mem.h"
#include "tcp/pd.h"

#define ADDR ((uint8_t *)0x10000000)

enum {
	OWN_PEER = 0x01,   /* trailer exchanged */
	INITIATOR = 0x02,  /* we */
	RECEIVES = 0x0c,   /* so many posted */
	REQUESTS = 0x30,   /* which requests of ours are under way */
	START_UP = 0x40,   /* the input begins with the start-up frame */
	DISCONNECT = 0x80, /* we disconnect in the middle */

	SIZE = 32768,
	LONG_SIZE = 9000,
	LONGS = 8, /* not more of them */
	STEPS = 12,
	MANY = 400, /* times the part behind the cut, when byte 1 is MANY_CUT */
	MANY_CUT = 255,
	MANY_FIRST = 60, /* the cut is here then */
};

static struct engine *engine;
static struct rp_device dev;
static struct rp_pd pd = { .dev = &dev };

int LLVMFuzzerInitialize(int *argc, char ***argv);

struct engine *tcp_engine(void)
{
	return engine;
}

void pd_use(struct rp_pd *base)
{
	(void)base;
}

void pd_unuse(struct rp_pd *base)
{
	(void)base;
}

/* What is on both sides of the region is not for anybody: also not for a system call, to
 * which an inaccessible page would only be an error to report. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("RPMA_TCP_CRC", "off", 1);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
	MUST(mmap(ADDR - SIZE, 3 * SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == ADDR - SIZE);
	ASAN_POISON_MEMORY_REGION(ADDR - SIZE, SIZE);
	ASAN_POISON_MEMORY_REGION(ADDR + SIZE, SIZE);
	MUST(engine_create(false, &engine) == 0);
	return 0;
}

/* ---- the peer ---------------------------------------------------------------- */

static void peer_send(int fd, const uint8_t *p, size_t len)
{
	ssize_t n;

	while (len > 0 && (n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0) {
		p += n;
		len -= (size_t)n;
	}
}

static void peer_drain(int fd)
{
	uint8_t scrap[65536];

	while (recv(fd, scrap, sizeof(scrap), MSG_DONTWAIT) > 0)
		;
}

static void steps(int fd)
{
	for (int i = 0; i < STEPS; i++) {
		engine_step(engine, 0);
		peer_drain(fd);
	}
}

static void send_start_up(int fd, uint8_t how)
{
	uint8_t out[MPA_FRAME_MAX];
	const struct mpa_frame f = {
		.reply = how & INITIATOR,
		.revision = 2,
		.enhanced = true,
		.peer_to_peer = true,
		.rtr_write = true,
		.rtr_read = !(how & INITIATOR),
		.ird = 16,
		.ord = 16,
		.has_trailer = how & OWN_PEER,
		.caps = 7,
		.max_ulpdu = 1024,
	};

	peer_send(fd, out, mpa_encode(out, &f));
}

/* ---- our side ------------------------------------------------------------------ */

struct run {
	struct tcp_conn *c;
	struct rp_channel *channel;
	struct rp_cq *cq;
	struct rp_mr *mr;
	int peer;
};

static void post_receives(struct run *r, int n)
{
	for (int i = 0; i < n; i++) {
		struct rp_recv_wr wr = { .wr_id = (uint64_t)i,
			.lkey = i ? r->mr->lkey : 0,
			.addr = (uintptr_t)ADDR,
			.length = i ? 64 : 0 };

		post_recv(&r->c->base, &wr);
	}
}

static void post_requests(struct run *r, int which)
{
	static const struct rp_send_wr sets[4][3] = {
		[1] = { { .opcode = RP_OP_READ, .flags = RP_WR_SIGNALED, .length = 16 },
			{ .opcode = RP_OP_WRITE, .flags = RP_WR_SIGNALED, .length = 2000 },
			{ .opcode = RP_OP_READ, .flags = RP_WR_SIGNALED, .length = 20000 } },
		[2] = { { .opcode = RP_OP_FLUSH, .flags = RP_WR_SIGNALED, .length = 16 },
			{ .opcode = RP_OP_ATOMIC_WRITE,
				.flags = RP_WR_SIGNALED | RP_WR_INLINE,
				.length = 8 },
			{ .opcode = RP_OP_SEND, .flags = RP_WR_SIGNALED | RP_WR_IMM, .imm = 7 } },
		[3] = { { .opcode = RP_OP_SEND, .length = 1500 },
			{ .opcode = RP_OP_WRITE,
				.flags = RP_WR_SIGNALED | RP_WR_IMM,
				.length = 100 },
			{ .opcode = RP_OP_READ, .flags = RP_WR_FENCE, .length = 4 } },
	};

	for (int i = 0; which && i < 3; i++) {
		struct rp_send_wr wr = sets[which][i];

		wr.wr_id = (uint64_t)i;
		wr.addr = (uintptr_t)ADDR;
		if (wr.length && !(wr.flags & RP_WR_INLINE) && wr.opcode != RP_OP_FLUSH)
			wr.lkey = r->mr->lkey;
		wr.rkey = 7;
		wr.remote_addr = 0x1000;
		post_send(&r->c->base, &wr);
	}
}

static void take_completions(struct run *r)
{
	struct ibv_wc wc;

	while (cq_poll(r->cq, 1, &wc) > 0)
		;
}

static void run_open(struct run *r, uint8_t how)
{
	struct rp_qp_attr attr = { .sq_size = 8, .rq_size = 8 };
	int fd[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) == 0);
	memset(ADDR, 0, SIZE);
	MUST(mem_reg(&pd, ADDR, SIZE, 0xff, &r->mr) == 0);
	MUST(channel_create(&dev, &r->channel) == 0);
	MUST(cq_create(&dev, r->channel, 32, &r->cq) == 0);
	MUST(conn_new(&pd, !(how & INITIATOR), conn_serve, &r->c) == 0);
	attr.send_cq = attr.recv_cq = r->cq;
	r->peer = fd[1];
	r->c->fd = fd[0];
	MUST(conn_setup_qp(&r->c->base, &attr) == 0);
	post_receives(r, (how & RECEIVES) >> 2);
}

/* What listener.c does with a stranger. False: it was none of ours. */
static bool run_respond(struct run *r)
{
	if (handshake_read_request(r->c) != 1)
		return false;
	r->c->state = CONN_PENDING;
	return conn_accept(&r->c->base, NULL, 0) == 0;
}

/* What connect.c does when the socket is connected */
static bool run_initiate(struct run *r)
{
	MUST(conn_open_events(r->c) == 0);
	conn_lock(r->c);
	r->c->state = CONN_REPLY;
	MUST(watch_attach(&r->c->watch, r->c->fd, EPOLLIN) == 0);
	handshake_send_request(r->c);
	conn_unlock(r->c);
	return true;
}

static void run_close(struct run *r)
{
	close(r->peer);
	for (int i = 0; i < 4; i++)
		engine_step(engine, 0);
	take_completions(r);
	conn_destroy(&r->c->base);
	engine_step(engine, 0); /* the socket that lingers */
	engine_step(engine, 0);
	cq_destroy(r->cq);
	channel_destroy(r->channel);
	mem_dereg(r->mr);
}

/* "LONG" becomes long. A copy, and its size */
static uint8_t *expanded(const uint8_t *data, size_t *size)
{
	uint8_t *p = malloc(*size + LONGS * LONG_SIZE), *to = p, *exact;
	const uint8_t *end = data + *size, *at;

	MUST(p != NULL);
	for (int n = 0; n < LONGS && (at = memmem(data, (size_t)(end - data), "LONG", 4)); n++) {
		to = mempcpy(to, data, (size_t)(at - data));
		memset(to, 'x', LONG_SIZE);
		to += LONG_SIZE;
		data = at + 4;
	}
	to = mempcpy(to, data, (size_t)(end - data));
	*size = (size_t)(to - p);
	exact = exact_copy(p, *size);
	free(p);
	return exact;
}

/* "STAG" becomes the key. */
static void put_key(const struct run *r, uint8_t *p, size_t size)
{
	uint8_t *at = p;

	while ((at = memmem(at, size - (size_t)(at - p), "STAG", 4)) != NULL)
		for (int i = 0; i < 4; i++)
			*at++ = (uint8_t)(r->mr->rkey >> (24 - 8 * i));
}

/* So much that the library has to stop reading, at times */
static void flood(int fd, const uint8_t *p, size_t len)
{
	for (int i = 0; i < MANY; i++) {
		peer_send(fd, p, len);
		if (i % 16 == 0)
			engine_step(engine, 0);
	}
	peer_drain(fd);
}

static void feed(struct run *r, const uint8_t *data, size_t size, uint8_t how, uint8_t cut)
{
	uint8_t *p = expanded(data, &size);
	size_t first = cut == MANY_CUT ? (size < MANY_FIRST ? size : MANY_FIRST) : size * cut / 255;

	put_key(r, p, size);
	if (!(how & START_UP))
		send_start_up(r->peer, how);
	if (how & INITIATOR)
		peer_send(r->peer, p, first);
	else if (how & START_UP)
		peer_send(r->peer, p, size);
	if ((how & INITIATOR) ? run_initiate(r) : run_respond(r)) {
		if (!(how & INITIATOR) && !(how & START_UP))
			peer_send(r->peer, p, first);
		steps(r->peer);
		post_requests(r, (how & REQUESTS) >> 4);
		if (how & DISCONNECT)
			conn_disconnect(&r->c->base);
		if ((how & INITIATOR) || !(how & START_UP))
			peer_send(r->peer, p + first, size - first);
		if (cut == MANY_CUT)
			flood(r->peer, p + first, size - first);
		steps(r->peer);
		post_receives(r, 2);
		take_completions(r);
		steps(r->peer);
	}
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r;

	if (size < 2)
		return 0;
	run_open(&r, data[0]);
	feed(&r, data + 2, size - 2, data[0], data[1]);
	run_close(&r);
	return 0;
}
