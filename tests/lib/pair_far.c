/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* pair_far.c -- see pair_far.h */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair_far.h"
#include "pair_wait.h"

/* Behind the memory in the file: what both processes know of msync() */
enum { SYNCS_MAX = 200 };

struct syncs {
	atomic_uint n;
	struct {
		size_t from;
		size_t to;
	} range[SYNCS_MAX];
};

#define FILE_SIZE (FAR_SIZE + sizeof(struct syncs))

static char *map_file(int fd)
{
	char *p = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static struct syncs *syncs_of(char *map)
{
	return (struct syncs *)(void *)(map + FAR_SIZE);
}

unsigned far_syncs(const struct far *f)
{
	return f->target.data ? atomic_load(&syncs_of(f->target.data)->n) : 0;
}

bool far_synced(const struct far *f, unsigned n, size_t off, size_t len)
{
	const struct syncs *s = syncs_of(f->target.data);

	for (unsigned i = n; i < far_syncs(f); i++)
		if (s->range[i].from <= off && s->range[i].to >= off + len)
			return true;
	return false;
}

/* ---- the other process --------------------------------------------------- */

static char *shared; /* its mapping of the file */

void far_record_sync(const void *addr, size_t len)
{
	uintptr_t from = (uintptr_t)addr - (uintptr_t)shared;
	struct syncs *s;
	unsigned n;

	if (!shared || from >= FAR_SIZE)
		return;
	s = syncs_of(shared);
	n = atomic_load(&s->n);
	assert_true(n < SYNCS_MAX);
	s->range[n].from = from;
	s->range[n].to = from + len;
	atomic_store(&s->n, n + 1);
}

static void far_region_open(struct region *r, struct rpma_peer *peer, const char *file)
{
	int fd;

	if (!file) {
		region_open(r, peer, FAR_SIZE, USAGE_ALL);
		return;
	}
	fd = open(file, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	shared = map_file(fd);
	*r = (struct region){ .data = shared, .size = FAR_SIZE };
	assert_ok(rpma_mr_reg(peer, r->data, r->size, USAGE_ALL, &r->mr));
	close(fd);
}

static void far_region_close(struct region *r)
{
	if (r->remote)
		region_close(r);
	else
		region_dereg(r);
}

static void obey(struct side *s, struct region *r, const char *line)
{
	struct xfer x = { .by = s, .local = r, .len = FAR_PART, .ctx = CTX(2) };

	if (strcmp(line, "receive\n") == 0) {
		assert_ok(recv_at(s, r, FAR_INBOX, FAR_PART, CTX(1)));
	} else if (strcmp(line, "take\n") == 0) {
		expect_recv(s, CTX(1));
	} else {
		op_post(&ops[OP_SEND], &x);
		expect_done(s, CTX(2));
	}
	puts("done");
}

/* Listen, tell the port, accept two connections, then do as told. */
int far_be(const char *file)
{
	uint8_t desc[DESC_SIZE];
	struct side_opts o = { .data = desc, .data_len = DESC_SIZE };
	struct rpma_conn *conn[2];
	char line[CHILD_LINE];
	struct region r;
	struct side s;
	struct net n;

	net_open(&n);
	far_region_open(&r, n.peer[SERVER], file);
	desc_of(r.mr, desc);
	printf("port %s\n", n.port);
	for (int i = 0; i < 2; i++) {
		conn[i] = server_start(&n, &o);
		expect_event(conn[i], RPMA_CONN_ESTABLISHED);
	}
	side_init(&s, n.peer[SERVER], conn[0], NULL);
	puts("ready");
	while (fgets(line, sizeof(line), stdin))
		obey(&s, &r, line);
	for (int i = 0; i < 2; i++)
		assert_ok(rpma_conn_delete(&conn[i]));
	far_region_close(&r);
	net_close(&n);
	return 0;
}

/* ---- our side ------------------------------------------------------------ */

static void tell(struct far *f, const char *line)
{
	assert_int_equal(write(f->child.in, line, strlen(line)), strlen(line));
	child_expect(&f->child, "done", NULL);
}

void far_receive(struct far *f)
{
	tell(f, "receive\n");
}

void far_take(struct far *f)
{
	tell(f, "take\n");
}

void far_send(struct far *f)
{
	tell(f, "send\n");
}

static void join(struct far *f, struct side *s)
{
	struct rpma_conn *conn = client_start(&f->net, NULL);

	expect_event(conn, RPMA_CONN_ESTABLISHED);
	side_init(s, f->net.peer[CLIENT], conn, NULL);
}

static void declare_direct_write(struct rpma_conn *conn)
{
	struct rpma_peer_cfg *pcfg = NULL;

	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	assert_ok(rpma_peer_cfg_delete(&pcfg));
}

static void start(struct far *f, const char *file)
{
	struct rpma_conn_private_data data = { 0 };
	char port[CHILD_LINE];

	child_start(&f->child, FAR_ROLE, file, false);
	child_expect(&f->child, "port", port);
	snprintf(f->net.port, PORT_LEN, "%.*s", PORT_LEN - 1, port);
	join(f, &f->side);
	join(f, &f->observer);
	child_expect(&f->child, "ready", NULL);
	declare_direct_write(f->side.conn);
	assert_ok(rpma_conn_get_private_data(f->side.conn, &data));
	assert_true(data.len >= DESC_SIZE);
	f->target.remote = remote_from(data.ptr);
}

void far_open(struct far *f)
{
	char name[] = "conform-far-XXXXXX";

	*f = (struct far){ .fd = -1, .target = { .size = FAR_SIZE } };
	net_open(&f->net);
	region_open(&f->mem, f->net.peer[CLIENT], FAR_SIZE, USAGE_ALL);
	region_open(&f->eye, f->net.peer[CLIENT], FAR_PART, USAGE_ALL);
	if (!traits()->any_file) {
		start(f, NULL);
		return;
	}
	f->fd = mkstemp(name);
	assert_true(f->fd >= 0);
	assert_int_equal(ftruncate(f->fd, (off_t)FILE_SIZE), 0);
	f->target.data = map_file(f->fd);
	start(f, name);
	unlink(name);
}

static void close_ours(struct far *f)
{
	assert_ok(rpma_conn_delete(&f->side.conn));
	assert_ok(rpma_conn_delete(&f->observer.conn));
	assert_ok(rpma_mr_remote_delete(&f->target.remote));
	region_close(&f->eye);
	region_close(&f->mem);
	net_close(&f->net);
	if (!f->target.data)
		return;
	munmap(f->target.data, FILE_SIZE);
	close(f->fd);
}

void far_close(struct far *f)
{
	if (f->child.pid) {
		child_finish(&f->child);
		expect_end(f->side.conn);
		expect_end(f->observer.conn);
	}
	close_ours(f);
}

void far_drop(struct far *f)
{
	if (f->child.pid)
		child_kill(&f->child);
	close_ours(f);
}

void far_kill(struct far *f)
{
	child_kill(&f->child);
	f->child.pid = 0;
	expect_end(f->side.conn);
	expect_end(f->observer.conn);
}
