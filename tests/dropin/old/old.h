/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * old.h -- both ends of a connection, with the calls of release 0.10 only
 *
 * The programs around it are what a user of that release has written: they are
 * built from source against today's header, and linked as the old binaries are.
 * The server is a child process, forked before the library is used.
 */

#ifndef TESTS_DROPIN_OLD_H
#define TESTS_DROPIN_OLD_H 1

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <librpma.h>

#define ADDR "127.0.0.1"
#define SIZE 4096
#define IMM 0x12345678

#define fail(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define require(condition)                                                                         \
	((condition) ? (void)0 : fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition))
#define must(call) must_be_zero((call), #call, __LINE__)

static inline void must_be_zero(int ret, const char *call, int line)
{
	if (ret)
		fail("line %d: %s: %s", line, call, rpma_err_2str(ret));
}

struct end {
	struct rpma_peer *peer;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn *conn;
	char *mem; /* SIZE bytes, registered */
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *far; /* the client only: the server's */
	bool broken;		    /* there is nothing to close */
};

typedef void part(struct end *e);

static void end_open(struct end *e, enum rpma_util_ibv_context_type type, uint32_t rcq_size)
{
	struct ibv_context *device = NULL;

	must(rpma_utils_get_ibv_context(ADDR, type, &device));
	must(rpma_peer_new(device, &e->peer));
	e->mem = aligned_alloc(SIZE, SIZE);
	require(e->mem != NULL);
	memset(e->mem, 0, SIZE);
	must(rpma_mr_reg(e->peer, e->mem, SIZE, 0xff, &e->mr));
	must(rpma_conn_cfg_new(&e->cfg));
	must(rpma_conn_cfg_set_timeout(e->cfg, 20000));
	must(rpma_conn_cfg_set_rcq_size(e->cfg, rcq_size));
}

static void end_close(struct end *e)
{
	must(rpma_conn_delete(&e->conn));
	must(rpma_mr_remote_delete(&e->far));
	must(rpma_conn_cfg_delete(&e->cfg));
	must(rpma_mr_dereg(&e->mr));
	must(rpma_peer_delete(&e->peer));
	free(e->mem);
}

static void next_event_is(struct end *e, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	must(rpma_conn_next_event(e->conn, &event));
	if (event != wanted)
		fail("%s", rpma_utils_conn_event_2str(event));
}

/* A port that was free a moment ago */
static uint16_t some_port(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, ADDR, &sin.sin_addr);
	require(!bind(fd, (struct sockaddr *)&sin, len));
	require(!getsockname(fd, (struct sockaddr *)&sin, &len));
	close(fd);
	return ntohs(sin.sin_port);
}

/* One receive is posted before the connection is there. */
static void be_server(part *serve, uint32_t rcq_size, int tell)
{
	struct rpma_conn_private_data desc;
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;
	struct end e = { 0 };
	uint8_t bytes[32];
	size_t len = 0;
	char port[8];
	int ret = RPMA_E_PROVIDER;

	end_open(&e, RPMA_UTIL_IBV_CONTEXT_LOCAL, rcq_size);
	for (int i = 0; i < 20 && ret; i++) {
		snprintf(port, sizeof(port), "%u", some_port());
		ret = rpma_ep_listen(e.peer, ADDR, port, &ep);
	}
	must(ret);
	require(write(tell, port, sizeof(port)) == sizeof(port));
	must(rpma_ep_next_conn_req(ep, e.cfg, &req));
	must(rpma_conn_req_recv(req, e.mr, 0, SIZE, e.mem));
	must(rpma_mr_get_descriptor_size(e.mr, &len));
	require(len <= sizeof(bytes));
	must(rpma_mr_get_descriptor(e.mr, bytes));
	desc.ptr = bytes;
	desc.len = (uint8_t)len;
	must(rpma_conn_req_connect(&req, &desc, &e.conn));
	next_event_is(&e, RPMA_CONN_ESTABLISHED);
	serve(&e);
	if (!e.broken)
		next_event_is(&e, RPMA_CONN_CLOSED);
	must(rpma_conn_disconnect(e.conn));
	must(rpma_ep_shutdown(&ep));
	end_close(&e);
}

static void be_client(part *use, uint32_t rcq_size, int told)
{
	struct rpma_conn_private_data desc;
	struct rpma_conn_req *req = NULL;
	struct end e = { 0 };
	char port[8];

	require(read(told, port, sizeof(port)) == sizeof(port));
	end_open(&e, RPMA_UTIL_IBV_CONTEXT_REMOTE, rcq_size);
	must(rpma_conn_req_new(e.peer, ADDR, port, e.cfg, &req));
	must(rpma_conn_req_connect(&req, NULL, &e.conn));
	next_event_is(&e, RPMA_CONN_ESTABLISHED);
	must(rpma_conn_get_private_data(e.conn, &desc));
	must(rpma_mr_remote_from_descriptor(desc.ptr, desc.len, &e.far));
	use(&e);
	must(rpma_conn_disconnect(e.conn));
	if (!e.broken)
		next_event_is(&e, RPMA_CONN_CLOSED);
	end_close(&e);
}

/* The whole program: is 0 when both parts ended well. */
static int run(part *client, part *server, uint32_t rcq_size)
{
	int pipe_fd[2], status = -1;
	pid_t child;

	alarm(100);
	require(!pipe(pipe_fd));
	child = fork();
	require(child >= 0);
	if (child == 0) {
		alarm(100);
		be_server(server, rcq_size, pipe_fd[1]);
		exit(0);
	}
	close(pipe_fd[1]);
	be_client(client, rcq_size, pipe_fd[0]);
	require(waitpid(child, &status, 0) == child);
	return status != 0;
}

#endif /* TESTS_DROPIN_OLD_H */
