/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * direct.c -- large payload goes from the socket to its place; see conn.h
 *
 * Under a CRC a segment is used only when it is whole and its sum is right, so what it
 * carries comes by way of the buffer. Without one the payload of a tagged segment can be
 * read to where it belongs as soon as the header has come and passed all checks, which
 * spares a copy of it, and for memory of a file a costly one. The segment counts when it is
 * whole, as ever. One that fails a check is left alone: it is refused when it is whole.
 */

#include <errno.h>
#include <string.h>

#include "tcp/conn.h"

enum {
	DIRECT_MIN = 8192, /* still to come */
	/* Read together with the rest: its trailer, and the header of the next one. More
	 * than that would only have to be copied. */
	DIRECT_AHEAD = 64,
	DIRECT_HABIT = 4, /* segments of another kind until it is not expected any more */
};

size_t direct_most(const struct tcp_conn *c, size_t room)
{
	const struct rx *rx = &c->rx;
	size_t came = rx->end - rx->scan, most = DIRECT_AHEAD;

	if (rx->direct.habit == 0)
		return room;
	if (came >= FPDU_UNTAGGED_HDR) /* and it is no such one */
		most += fpdu_wire_size(fpdu_peek_len(rx->buf + rx->scan)) - came;
	return most < room ? most : room;
}

/* May the segment at scan, of which some has come, be placed so? */
static bool fits(const struct tcp_conn *c, struct fpdu *f)
{
	const struct rx *rx = &c->rx;
	size_t came = rx->end - rx->scan;

	return !c->crc && !rx->paused && c->state == CONN_OPEN && came >= FPDU_UNTAGGED_HDR &&
	       fpdu_decode(rx->buf + rx->scan, false, c->opcodes, f) == IWARP_OK && f->tagged &&
	       FPDU_TAGGED_HDR + f->payload_len >= came + DIRECT_MIN &&
	       place_check(c, f) == IWARP_OK;
}

void direct_begin(struct tcp_conn *c)
{
	struct rx *rx = &c->rx;
	struct direct *d = &rx->direct;
	struct tcp_mr *mr;
	struct fpdu f;
	size_t came;
	uint64_t to;
	int err;

	if (!fits(c, &f) || place_open(c, &f, 0, &mr, &to) != MEM_OK)
		return;
	came = rx->end - rx->scan - FPDU_TAGGED_HDR;
	err = mem_write(mr, to, f.payload, came);
	mem_close(mr);
	if (err)
		return;
	memcpy(d->hdr, f.ddp_hdr, sizeof(d->hdr));
	f.ddp_hdr = d->hdr;
	f.payload = NULL;
	d->f = f;
	d->placed = (uint32_t)came;
	d->habit = DIRECT_HABIT;
	d->trailer = fpdu_wire_size(f.ulpdu_len) - FPDU_TAGGED_HDR - f.payload_len;
	rx->start = rx->scan = rx->end = 0;
}

/* The region may have gone, and the file behind it may be shorter, by now. */
static ssize_t refused(struct tcp_conn *c, enum mem_err why)
{
	place_failed(c, &c->rx.direct.f, why);
	errno = EAGAIN;
	return -1;
}

ssize_t direct_recv(struct tcp_conn *c, size_t *want)
{
	struct rx *rx = &c->rx;
	struct direct *d = &rx->direct;
	size_t rest = d->f.payload_len - d->placed, placed;
	struct iovec iov[] = { { NULL, rest }, { rx->buf + rx->end, DIRECT_AHEAD } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct tcp_mr *mr;
	uint64_t to;
	ssize_t n;
	enum mem_err why = place_open(c, &d->f, d->placed, &mr, &to);

	if (why != MEM_OK)
		return refused(c, why);
	iov[0].iov_base = (void *)(uintptr_t)to;
	n = recvmsg(c->fd, &msg, MSG_DONTWAIT);
	mem_close(mr);
	if (n < 0)
		return errno == EFAULT ? refused(c, MEM_GONE) : n;
	placed = (size_t)n < rest ? (size_t)n : rest;
	d->placed += (uint32_t)placed;
	rx->end += (size_t)n - placed;
	*want = rest + DIRECT_AHEAD;
	return n;
}

bool direct_end(struct tcp_conn *c)
{
	struct rx *rx = &c->rx;
	struct direct *d = &rx->direct;
	size_t n = rx->end - rx->scan;
	struct fpdu f = d->f;

	if (!direct_under_way(c))
		return true;
	if (d->placed < f.payload_len)
		return false;
	n = n < d->trailer ? n : d->trailer;
	rx->start = rx->scan += n;
	d->trailer -= n;
	if (d->trailer > 0)
		return false;
	d->f.payload_len = 0;
	return rx_segment(c, &f);
}
