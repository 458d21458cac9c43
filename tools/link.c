/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * link.c -- see link.h
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link.h"

enum { DESK_SIZE = 4096, DESK_REPLY = 1024 };

/* The completions of both queues go to one. */
static unsigned queue_max(const struct site *s)
{
	struct ibv_device_attr attr;

	if (s->tcp || ibv_query_device(s->device, &attr))
		return UINT_MAX;
	return (unsigned)(attr.max_cqe / 2 < attr.max_qp_wr ? attr.max_cqe / 2 : attr.max_qp_wr);
}

void site_open(struct site *s, const char *addr, enum rpma_util_ibv_context_type type)
{
	int ret = rpma_utils_get_ibv_context(addr, type, &s->device);

	if (!ret)
		ret = rpma_peer_new(s->device, &s->peer);
	if (ret)
		fail("no device for %s: %s; try: rpma info %s", addr, cause(ret), addr);
	s->tcp = strcmp(s->device->device->name, "rpma_tcp") == 0;
	s->queue_max = queue_max(s);
}

void site_close(struct site *s)
{
	rpma_peer_delete(&s->peer);
}

int nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? RPMA_E_UNKNOWN : 0;
}

int conn_fds(struct rpma_conn *conn, struct rpma_cq **cq, int *event_fd, int *cq_fd)
{
	int ret = rpma_conn_get_event_fd(conn, event_fd);

	if (!ret)
		ret = nonblocking(*event_fd);
	if (!ret)
		ret = rpma_conn_get_cq(conn, cq);
	if (!ret)
		ret = rpma_cq_get_fd(*cq, cq_fd);
	return ret ? ret : nonblocking(*cq_fd);
}

int make_conn_cfg(
	const struct site *s, struct rpma_conn_cfg **cfg, unsigned sends, unsigned receives)
{
	int ret = rpma_conn_cfg_new(cfg);

	if (ret)
		return ret;
	if (sends > s->queue_max)
		sends = s->queue_max;
	if (receives > s->queue_max)
		receives = s->queue_max;
	rpma_conn_cfg_set_timeout(*cfg, (int)(tool.timeout * 1000));
	rpma_conn_cfg_set_sq_size(*cfg, sends);
	rpma_conn_cfg_set_rq_size(*cfg, receives);
	rpma_conn_cfg_set_cq_size(*cfg, sends + receives);
	return 0;
}

/* ---- making the connection ------------------------------------------------------ */

static int say_why(struct link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say_why(struct link *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->why, sizeof(l->why), format, args);
	va_end(args);
	return -1;
}

static int start(struct link *l, const struct site *s, const struct target *t,
	const struct hello *h, const struct link_queues *q)
{
	uint8_t buf[HELLO_SIZE];
	struct rpma_conn_private_data data = { buf, sizeof(buf) };
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	int ret = make_conn_cfg(s, &cfg, q->sends + 1, q->receives + 1); /* 1: the desk's */

	if (ret)
		return ret;
	hello_encode(h, buf);
	ret = rpma_conn_req_new(s->peer, t->host, t->port, cfg, &req);
	rpma_conn_cfg_delete(&cfg);
	if (ret)
		return ret;
	if (q->prepare)
		ret = q->prepare(req, q->arg);
	if (!ret)
		ret = rpma_conn_req_connect(&req, &data, &l->conn);
	else
		rpma_conn_req_delete(&req);
	return ret ? ret : conn_fds(l->conn, &l->cq, &l->event_fd, &l->cq_fd);
}

/* 0: nothing within the time. */
static int wait_fd(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, (int)(tool.timeout * 1000));
	while (n < 0 && errno == EINTR);
	return n;
}

static int await_established(struct link *l, const struct target *t)
{
	enum rpma_conn_event event = RPMA_CONN_UNREACHABLE;

	if (wait_fd(l->event_fd) > 0 && rpma_conn_next_event(l->conn, &event))
		event = RPMA_CONN_LOST;
	switch (event) {
	case RPMA_CONN_ESTABLISHED:
		return 0;
	case RPMA_CONN_REJECTED:
		return say_why(l,
			"%s port %s refuses: nobody listens there, or it is no 'rpma serve'; start "
			"one, or name its port by HOST:PORT",
			t->host, t->port);
	case RPMA_CONN_UNREACHABLE:
		return say_why(l,
			"%s port %s does not answer within %g s: see whether the host is up and a "
			"firewall lets the port through",
			t->host, t->port, tool.timeout);
	default:
		return say_why(l,
			"%s port %s is no 'rpma serve' of this provider, or broke off: see its "
			"messages, and rpma info %s",
			t->host, t->port, t->host);
	}
}

static int take_offer(struct link *l, const struct target *t)
{
	struct rpma_conn_private_data data;
	int ret = rpma_conn_get_private_data(l->conn, &data);
	size_t size;

	if (ret || !offer_decode(data.ptr, data.len, &l->offer))
		return say_why(l,
			"what listens at %s port %s is no 'rpma serve': give the port of "
			"one by HOST:PORT",
			t->host, t->port);
	switch (l->offer.status) {
	case OFFER_OK:
		break;
	case OFFER_VERSION:
		return say_why(l,
			"%s speaks version %u, this rpma %u: use the same rpma on both "
			"hosts",
			t->host, l->offer.version, PROTO_VERSION);
	case OFFER_TOO_MUCH:
		return say_why(l,
			"%s has not that much memory for a client: ask for a smaller size "
			"or depth",
			t->host);
	default:
		return say_why(l, "%s has forgotten this measurement: start it again", t->host);
	}
	if (!l->offer.has_desc)
		return 0;
	ret = rpma_mr_remote_from_descriptor(l->offer.desc, DESC_SIZE, &l->remote);
	if (!ret)
		ret = rpma_mr_remote_get_size(l->remote, &size);
	if (ret)
		return say_why(l, "%s sent no sensible descriptor: %s", t->host, cause(ret));
	l->size = size;
	return 0;
}

static int apply_peer_cfg(struct link *l)
{
	uint8_t direct = l->offer.flags & OFFER_DIRECT ? 1 : 0;
	struct rpma_peer_cfg *cfg;
	int ret = rpma_peer_cfg_from_descriptor(&direct, 1, &cfg);

	if (ret)
		return ret;
	ret = rpma_conn_apply_remote_peer_cfg(l->conn, cfg);
	rpma_peer_cfg_delete(&cfg);
	return ret;
}

static int open_desk(struct link *l, const struct site *s)
{
	l->desk = mmap(NULL, DESK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->desk == MAP_FAILED) {
		l->desk = NULL;
		return RPMA_E_NOMEM;
	}
	return rpma_mr_reg(
		s->peer, l->desk, DESK_SIZE, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &l->desk_mr);
}

int link_open(struct link *l, const struct site *s, const struct target *t, struct hello *h,
	const struct link_queues *q)
{
	int ret;

	*l = (struct link){ 0 };
	cause(0); /* what was complained about earlier is no cause of what comes */
	if (q->sends >= s->queue_max || q->receives >= s->queue_max)
		return say_why(l, "%s takes %u requests at once: choose a smaller depth",
			s->device->device->name, s->queue_max);
	if (h->role != ROLE_LOAD)
		gethostname(h->name, NAME_SIZE);
	ret = start(l, s, t, h, q);
	if (ret)
		return say_why(l, "cannot connect to %s port %s: %s", t->host, t->port, cause(ret));
	ret = await_established(l, t);
	if (!ret)
		ret = take_offer(l, t);
	if (ret)
		return ret;
	ret = apply_peer_cfg(l);
	if (!ret && has_desk(h->role))
		ret = open_desk(l, s);
	return ret ? say_why(l, "cannot prepare the connection: %s", cause(ret)) : 0;
}

void link_close(struct link *l)
{
	if (l->conn)
		rpma_conn_disconnect(l->conn);
	rpma_conn_delete(&l->conn);
	rpma_mr_remote_delete(&l->remote);
	rpma_mr_dereg(&l->desk_mr);
	if (l->desk)
		munmap(l->desk, DESK_SIZE);
	l->desk = NULL;
}

/* ---- using it ---------------------------------------------------------------------- */

int link_broken(struct link *l, enum ibv_wc_status status)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	switch (status) {
	case IBV_WC_REM_ACCESS_ERR:
		return say_why(l, "the server refuses the access: its memory is not what it was, "
				  "connect again");
	case IBV_WC_REM_OP_ERR:
		return say_why(l, "the server failed to do it: see its log and its disk");
	case IBV_WC_WR_FLUSH_ERR:
	case IBV_WC_RETRY_EXC_ERR:
		break;
	default:
		return say_why(l, "a request failed: %s", ibv_wc_status_str(status));
	}
	rpma_conn_next_event(l->conn, &event);
	if (event == RPMA_CONN_CLOSED)
		return say_why(l, "the server has closed the connection: see whether it runs");
	return say_why(l, "the connection broke: see whether the server and its host are up");
}

int link_wait(struct link *l, struct ibv_wc *wc, int n)
{
	int got, ret;

	while ((ret = rpma_cq_get_wc(l->cq, n, wc, &got)) == RPMA_E_NO_COMPLETION) {
		if (wait_fd(l->cq_fd) <= 0)
			return say_why(l,
				"no answer for %g s: see whether the server is stopped or "
				"the network is down, or wait longer by --timeout",
				tool.timeout);
		ret = rpma_cq_wait(l->cq);
		if (ret && ret != RPMA_E_NO_COMPLETION)
			break;
	}
	if (ret)
		return say_why(l, "cannot wait: %s", cause(ret));
	for (int i = 0; i < got; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			return link_broken(l, wc[i].status);
	}
	return got;
}

int link_ask(struct link *l, const struct request *request, struct reply *reply)
{
	uint8_t *buf = l->desk;
	struct ibv_wc wc;
	int ret;

	request_encode(request, buf);
	ret = rpma_recv(l->conn, l->desk_mr, DESK_REPLY, REPLY_SIZE, NULL);
	if (!ret)
		ret = rpma_send(
			l->conn, l->desk_mr, 0, REQUEST_SIZE, RPMA_F_COMPLETION_ALWAYS, NULL);
	if (ret)
		return say_why(l, "cannot send a request: %s", cause(ret));
	for (int todo = 2; todo > 0; todo--) {
		ret = link_wait(l, &wc, 1);
		if (ret < 0)
			return ret;
		if (wc.opcode & IBV_WC_RECV &&
			!reply_decode(request->type, buf + DESK_REPLY, wc.byte_len, reply))
			return say_why(l, "the server's reply makes no sense: use the same rpma on "
					  "both hosts");
	}
	if (reply->failed)
		return say_why(l, "the server failed to do it: see its messages");
	return 0;
}
