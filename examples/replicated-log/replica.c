/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * replica.c -- see replica.h
 */

#include "replicated-log/replica.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#define AT(field) offsetof(struct rlog_header, field)

int64_t replica_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int replica_init(struct replica *r, struct rlog *log, const struct rlog_address *address)
{
	*r = (struct replica){
		.log = log, .address = *address, .fds = { { .fd = -1 }, { .fd = -1 } }
	};
	r->answer = malloc(sizeof(*r->answer));
	if (!r->answer)
		return ENOMEM;
	return rpma_mr_reg(log->peer, r->answer, sizeof(*r->answer), RPMA_MR_USAGE_READ_DST,
		       &r->answer_mr)
		       ? EIO
		       : 0;
}

void replica_fini(struct replica *r)
{
	rpma_mr_remote_delete(&r->mr);
	rpma_conn_delete(&r->conn);
	rpma_mr_dereg(&r->answer_mr);
	free(r->answer);
}

void replica_drop(struct replica *r, const char *why)
{
	if (r->phase > REPLICA_JOINING)
		fprintf(stderr, "replica %s %s: dropped: %s\n", r->address.addr, r->address.port,
			why);
	rpma_mr_remote_delete(&r->mr);
	rpma_conn_delete(&r->conn);
	r->fds[0].fd = r->fds[1].fd = -1;
	r->phase = REPLICA_AWAY;
	r->retry_at = replica_now() + REPLICA_RETRY_MS;
}

/* Post a step; what cannot be posted will not be confirmed either. */
static void step(struct replica *r, enum replica_phase phase, int ret)
{
	r->phase = phase;
	if (ret)
		replica_drop(r, rpma_err_2str(ret));
}

static bool watch(struct pollfd *p, int fd)
{
	*p = (struct pollfd){ .fd = fd, .events = POLLIN };
	return !fcntl(fd, F_SETFL, O_NONBLOCK);
}

void replica_join(struct replica *r)
{
	static char role[] = "writer";
	struct rpma_conn_req *req;
	int fd;
	bool good;

	r->phase = REPLICA_JOINING;
	good = !rpma_conn_req_new(r->log->peer, r->address.addr, r->address.port, NULL, &req) &&
	       !rpma_conn_req_connect(
		       &req, &(struct rpma_conn_private_data){ role, sizeof(role) }, &r->conn) &&
	       !rpma_conn_get_event_fd(r->conn, &fd) && watch(&r->fds[0], fd) &&
	       !rpma_conn_get_cq(r->conn, &r->cq) && !rpma_cq_get_fd(r->cq, &fd) &&
	       watch(&r->fds[1], fd);
	if (!good)
		replica_drop(r, "cannot connect");
}

static void established(struct replica *r)
{
	struct rpma_conn_private_data offer;
	size_t size = 0;

	if (rpma_conn_get_private_data(r->conn, &offer) ||
		rpma_mr_remote_from_descriptor(offer.ptr, offer.len, &r->mr) ||
		rpma_mr_remote_get_size(r->mr, &size) || size < RLOG_HEADER + RLOG_ROOM) {
		replica_drop(r, "offers no log");
		return;
	}
	step(r, REPLICA_ASKING,
		rpma_read(r->conn, r->answer_mr, 0, r->mr, 0, sizeof(struct rlog_header),
			RPMA_F_COMPLETION_ALWAYS, NULL));
}

void replica_on_event(struct replica *r)
{
	enum rpma_conn_event event;
	int ret = rpma_conn_next_event(r->conn, &event);

	if (ret == RPMA_E_NO_EVENT)
		return;
	if (ret || event != RPMA_CONN_ESTABLISHED)
		replica_drop(r, ret ? rpma_err_2str(ret) : rpma_utils_conn_event_2str(event));
	else
		established(r);
}

/* Store a word of the header, and confirm when it is durable. */
static int post_word(struct replica *r, size_t at, uint64_t value)
{
	char word[8];
	int ret;

	memcpy(word, &value, sizeof(word));
	ret = rpma_atomic_write(r->conn, r->mr, at, word, RPMA_F_COMPLETION_ON_ERROR, NULL);
	if (ret)
		return ret;
	return rpma_flush(r->conn, r->mr, at, sizeof(word), RPMA_FLUSH_TYPE_PERSISTENT,
		RPMA_F_COMPLETION_ALWAYS, NULL);
}

void replica_claim(struct replica *r)
{
	if (r->log->opened && r->claim > r->log->epoch) {
		r->log->stale = true;
		return;
	}
	step(r, REPLICA_CLAIMING, post_word(r, AT(claim), r->log->epoch));
}

static void present(struct replica *r)
{
	r->phase = REPLICA_PRESENT;
	r->busy = r->current = false;
	replica_push(r);
}

/* The logs agree up to same, and no further: the rest has to go. */
static void cut(struct replica *r)
{
	if (rlog_end(r->state) == r->same) {
		present(r);
		return;
	}
	/* With its own epoch, since our log is not there yet. */
	step(r, REPLICA_CUTTING,
		post_word(r, AT(state), rlog_state(rlog_epoch(r->state), r->same)));
}

static uint64_t common_end(const struct replica *r)
{
	uint64_t end = rlog_end(r->state);

	return end < r->log->end ? end : r->log->end;
}

/* The next piece to be compared, or the end of it. */
static void compare_next(struct replica *r)
{
	r->piece = common_end(r) - r->same;
	if (r->piece > REPLICA_PIECE)
		r->piece = REPLICA_PIECE;
	if (!r->piece) {
		cut(r);
		return;
	}
	step(r, REPLICA_COMPARING,
		rpma_read(r->conn, r->answer_mr, 0, r->mr, RLOG_HEADER + r->same, r->piece,
			RPMA_F_COMPLETION_ALWAYS, NULL));
}

/* The start of the record that has the byte at. */
static uint64_t record_with(const struct rlog *log, uint64_t at)
{
	uint64_t start = 0, next = 0;

	while (next <= at) {
		start = next;
		next += rlog_record_size(((const struct rlog_record *)(log->copy + start))->len);
	}
	return start;
}

static void compared(struct replica *r)
{
	const char *ours = r->log->copy + r->same;
	uint64_t n = 0;

	while (n < r->piece && ours[n] == r->answer->piece[n])
		n++;
	r->same += n;
	if (n == r->piece) {
		compare_next(r);
		return;
	}
	r->same = record_with(r->log, r->same);
	cut(r);
}

static void claimed(struct replica *r)
{
	const struct rlog *log = r->log;
	uint64_t epoch = rlog_epoch(r->state);

	if (!log->opened)
		r->log->claims++;
	r->same = 0;
	if (epoch == log->epoch)
		r->same = common_end(r);
	else if (epoch == rlog_epoch(log->found))
		r->same = rlog_end(r->state < log->found ? r->state : log->found);
	compare_next(r);
}

void replica_push(struct replica *r)
{
	uint64_t end = r->log->end, at = RLOG_HEADER + r->same, len = end - r->same;
	int ret = 0;

	/* No state may be of our epoch before that is ours alone. */
	if (r->phase != REPLICA_PRESENT || r->busy || !r->log->opened || replica_has_all(r))
		return;
	if (len)
		ret = rpma_write(r->conn, r->mr, at, r->log->copy_mr, r->same, len,
			RPMA_F_COMPLETION_ON_ERROR, NULL);
	if (len && !ret)
		ret = rpma_flush(r->conn, r->mr, at, len, RPMA_FLUSH_TYPE_PERSISTENT,
			RPMA_F_COMPLETION_ON_ERROR, NULL);
	if (!ret)
		ret = post_word(r, AT(state), rlog_state(r->log->epoch, end));
	r->busy = true;
	r->pushed = end;
	step(r, REPLICA_PRESENT, ret);
}

static void pushed(struct replica *r)
{
	if (!r->current)
		fprintf(stderr, "replica %s %s: present from byte %llu on\n", r->address.addr,
			r->address.port, (unsigned long long)r->same);
	r->busy = false;
	r->current = true;
	r->same = r->pushed;
	replica_push(r);
}

static void asked(struct replica *r)
{
	r->claim = r->answer->header.claim;
	r->state = r->answer->header.state;
	r->phase = REPLICA_ASKED;
	if (rlog_end(r->state) > RLOG_ROOM)
		replica_drop(r, "has no sensible state");
	else if (r->log->opened)
		replica_claim(r);
}

static void on_done(struct replica *r)
{
	switch (r->phase) {
	case REPLICA_ASKING:
		asked(r);
		break;
	case REPLICA_CLAIMING:
		claimed(r);
		break;
	case REPLICA_COMPARING:
		compared(r);
		break;
	case REPLICA_CUTTING:
		present(r);
		break;
	case REPLICA_PRESENT:
		pushed(r);
		break;
	default:
		replica_drop(r, "has done what nobody asked for");
	}
}

void replica_on_completion(struct replica *r)
{
	struct ibv_wc wc;

	if (rpma_cq_wait(r->cq))
		return;
	while (r->conn && !rpma_cq_get_wc(r->cq, 1, &wc, NULL)) {
		if (wc.status == IBV_WC_SUCCESS)
			on_done(r);
		else
			replica_drop(r, ibv_wc_status_str(wc.status));
	}
}

int replica_load(struct replica *r, uint64_t end)
{
	struct ibv_wc wc;
	int ret;

	if (!end)
		return 0;
	if (rpma_read(r->conn, r->log->copy_mr, 0, r->mr, RLOG_HEADER, end,
		    RPMA_F_COMPLETION_ALWAYS, NULL))
		return EIO;
	while ((ret = rpma_cq_get_wc(r->cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		if (poll(&r->fds[1], 1, 5000) != 1 ||
			((ret = rpma_cq_wait(r->cq)) && ret != RPMA_E_NO_COMPLETION))
			return EIO;
	return ret || wc.status != IBV_WC_SUCCESS ? EIO : 0;
}
