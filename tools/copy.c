/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * copy.c -- see copy.h
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "copy.h"
#include "hash.h"

static void broken(const struct copy *c) __attribute__((noreturn));

static void broken(const struct copy *c)
{
	char durable[16], size[16];

	if (c->what != COPY_PUT || c->flush < FLUSH_PERSISTENT)
		fail("%s; then go on by the same command with --resume", c->link.why);
	fail("%s; %s of %s are durable there: go on by the same command with --resume", c->link.why,
		show_size(c->durable, durable), show_size(c->size, size));
}

void copy_never_durable(const struct copy *c)
{
	const char *other = c->link.offer.mem_kind == MEM_DAX ? "see --direct of rpma serve"
							      : "serve a file there";

	fail("nothing becomes durable in %s over this provider: %s, or say --flush visibility",
		mem_kind_name(c->link.offer.mem_kind), other);
}

void copy_connect(struct copy *c, struct target *t)
{
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST;
	const size_t size = (size_t)COPY_SLOTS * COPY_PIECE;
	struct hello hello = { .role = ROLE_COPY };
	int ret;

	c->host = t->host;
	site_open(&c->site, t->host, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	if (link_open(&c->link, &c->site, t, &hello, &(struct link_queues){ .sends = COPY_SLOTS }))
		fail("%s", c->link.why);
	c->buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->buf == MAP_FAILED)
		fail("out of memory");
	ret = rpma_mr_reg(c->site.peer, c->buf, size, usage, &c->mr);
	if (ret)
		fail("cannot register memory: %s; see the limits by: rpma info", cause(ret));
}

void copy_close(struct copy *c)
{
	link_close(&c->link);
	rpma_mr_dereg(&c->mr);
	munmap(c->buf, (size_t)COPY_SLOTS * COPY_PIECE);
	site_close(&c->site);
	free(c->same);
}

/* ---- resume ---------------------------------------------------------------------- */

static void compare_hashes(struct copy *c, uint64_t at, const struct reply *reply)
{
	uint8_t hash[HASH_SIZE];

	for (unsigned i = 0; i < reply->n_hashes && at < c->size; i++, at += HASH_BLOCK) {
		uint64_t n = c->size - at < HASH_BLOCK ? c->size - at : HASH_BLOCK;

		if (!hash_file(c->fd, at, n, hash) || memcmp(hash, reply->hashes[i], HASH_SIZE))
			continue;
		c->same[at / HASH_BLOCK] = true;
		c->n_same += n;
	}
}

void copy_find_same(struct copy *c)
{
	const uint64_t most = HASHES_MAX * HASH_BLOCK;
	struct reply reply;

	c->same = need_memory(calloc(c->size / HASH_BLOCK + 1, sizeof(bool)));
	for (uint64_t at = 0; at < c->size; at += most) {
		uint64_t n = c->size - at < most ? c->size - at : most;
		struct request r = { REQUEST_HASH, c->base + at, n };

		live("comparing what is there: %3.0f %%", (double)at * 100 / (double)c->size);
		if (link_ask(&c->link, &r, &reply))
			broken(c);
		compare_hashes(c, at, &reply);
	}
	live_end();
}

/* ---- one slot --------------------------------------------------------------------- */

static char *buffer(struct copy *c, const struct copy_slot *s)
{
	return c->buf + (size_t)(s - c->slots) * COPY_PIECE;
}

static void read_file(struct copy *c, void *buf, uint64_t at, uint64_t length)
{
	ssize_t n;

	for (uint64_t done = 0; done < length; done += (uint64_t)n) {
		n = pread(c->fd, (char *)buf + done, length - done, (off_t)(at + done));
		if (n == 0)
			fail("%s has become shorter meanwhile: copy it again", c->file);
		if (n < 0 && errno != EINTR)
			fail("cannot read %s: %s", c->file, strerror(errno));
		if (n < 0)
			n = 0;
	}
}

static void write_file(struct copy *c, const void *buf, uint64_t at, uint64_t length)
{
	ssize_t n;

	for (uint64_t done = 0; done < length; done += (uint64_t)n) {
		const char *p = (const char *)buf + done;

		n = c->in_order ? write(c->fd, p, length - done)
				: pwrite(c->fd, p, length - done, (off_t)(at + done));
		if (n < 0 && errno != EINTR)
			fail("cannot write %s: %s", c->file, strerror(errno));
		if (n < 0)
			n = 0;
	}
}

static void compare_file(struct copy *c, const char *buf, uint64_t at, uint64_t length)
{
	static char mine[COPY_PIECE];
	uint64_t i = 0;

	read_file(c, mine, at, length);
	if (!memcmp(mine, buf, length))
		return;
	while (mine[i] == buf[i])
		i++;
	fail("MISMATCH: byte %llu of %s is not what is at %llu there: copy it again",
		(unsigned long long)(at + i), c->file, (unsigned long long)(c->base + at + i));
}

static int post(struct copy *c, struct copy_slot *s)
{
	size_t here = (size_t)(buffer(c, s) - c->buf);
	uint64_t there = c->base + s->at;
	const int always = RPMA_F_COMPLETION_ALWAYS;

	if (s->flush)
		return rpma_flush(c->link.conn, c->link.remote, there, s->length,
			c->flush == FLUSH_PERSISTENT ? RPMA_FLUSH_TYPE_PERSISTENT
						     : RPMA_FLUSH_TYPE_VISIBILITY,
			always, NULL);
	if (c->what != COPY_PUT)
		return rpma_read(
			c->link.conn, c->mr, here, c->link.remote, there, s->length, always, NULL);
	read_file(c, buffer(c, s), s->at, s->length);
	return rpma_write(
		c->link.conn, c->link.remote, there, c->mr, here, s->length, always, NULL);
}

static void complete(struct copy *c, struct copy_slot *s)
{
	if (s->flush) {
		c->durable = s->at + s->length;
		return;
	}
	if (c->what == COPY_GET)
		write_file(c, buffer(c, s), s->at, s->length);
	else if (c->what == COPY_COMPARE)
		compare_file(c, buffer(c, s), s->at, s->length);
	c->moved += s->length;
}

/* ---- all of them ------------------------------------------------------------------ */

static bool left_out(const struct copy *c, uint64_t at)
{
	return c->same && c->what != COPY_COMPARE && c->same[at / HASH_BLOCK];
}

static bool flush_due(const struct copy *c)
{
	if (c->what != COPY_PUT || c->flush == FLUSH_NONE || c->flushed == c->next)
		return false;
	return c->next == c->size || c->next - c->flushed >= COPY_FLUSH_EVERY;
}

/* What comes next, if it can be posted now. */
static bool next_slot(struct copy *c, struct copy_slot *s)
{
	uint64_t end;

	while (c->next < c->size && left_out(c, c->next))
		c->next = (c->next / HASH_BLOCK + 1) * HASH_BLOCK;
	if (c->next > c->size)
		c->next = c->size;
	if (flush_due(c)) {
		*s = (struct copy_slot){ c->flushed, c->next - c->flushed, true };
		if (c->flush == FLUSH_BY_SYNC)
			return false;
		c->flushed = c->next;
		return true;
	}
	if (c->next == c->size)
		return false;
	end = (c->next / HASH_BLOCK + 1) * HASH_BLOCK;
	if (end > c->size)
		end = c->size;
	*s = (struct copy_slot){ c->next, end - c->next, false };
	if (s->length > COPY_PIECE)
		s->length = COPY_PIECE;
	c->next += s->length;
	return true;
}

static void show_progress(struct copy *c)
{
	static const char *const verbs[] = { "put", "get", "verify" };
	uint64_t total = c->size - (c->what == COPY_COMPARE ? 0 : c->n_same);
	double now = seconds(), part, rate;
	char bar[21], speed[16];

	if (!live_shown() || c->quiet || now - c->shown < 0.1 || !total)
		return;
	c->shown = now;
	part = (double)c->moved / (double)total;
	rate = (double)c->moved / (now - c->started);
	for (int i = 0; i < 20; i++)
		bar[i] = i < (int)(part * 20) ? '#' : '.';
	bar[20] = '\0';
	live("%s %3.0f %% %s %s/s, %.0f s left", verbs[c->what], part * 100, bar,
		show_size((uint64_t)rate, speed),
		rate > 0 ? (double)(total - c->moved) / rate : 0.);
}

static void take(struct copy *c)
{
	struct ibv_wc wc[COPY_SLOTS];
	int n = link_wait(&c->link, wc, COPY_SLOTS);

	if (n < 0)
		broken(c);
	for (; n > 0; n--)
		complete(c, &c->slots[c->done++ % COPY_SLOTS]);
	show_progress(c);
}

static void post_slot(struct copy *c, const struct copy_slot *next)
{
	struct copy_slot *s = &c->slots[c->posted++ % COPY_SLOTS];
	int ret;

	*s = *next;
	ret = post(c, s);
	if (!ret)
		return;
	/* The memory could be flushed, the connection cannot do it: then by the server. */
	if (ret == RPMA_E_NOSUPP && s->flush && c->flush == FLUSH_PERSISTENT &&
		c->link.offer.flags & OFFER_CAN_SYNC) {
		c->flush = FLUSH_BY_SYNC;
		c->flushed = s->at;
		c->posted--;
		return;
	}
	if (ret == RPMA_E_NOSUPP && s->flush)
		copy_never_durable(c);
	/* The first request that failed knows better. */
	while (c->posted - 1 != c->done)
		take(c);
	fail("cannot post a request: %s", cause(ret));
}

void copy_run(struct copy *c, enum copy_what what)
{
	struct copy_slot s;

	c->what = what;
	c->posted = c->done = 0;
	c->next = c->moved = c->flushed = c->durable = 0;
	c->started = seconds();
	for (;;) {
		while (c->posted - c->done < COPY_SLOTS && next_slot(c, &s))
			post_slot(c, &s);
		if (c->posted != c->done) {
			take(c);
		} else if (flush_due(c)) {
			struct request r = { REQUEST_SYNC, c->base + s.at, s.length };

			if (link_ask(&c->link, &r, &(struct reply){ 0 }))
				broken(c);
			c->flushed = c->durable = c->next;
		} else {
			break;
		}
	}
	live_end();
}

void copy_tell(const struct copy *c, FILE *f, const char *what)
{
	double took = seconds() - c->started;
	char size[16], rate[16], same[16];

	if (c->quiet)
		return;
	fprintf(f, "%s %s in %.2f s (%s/s)", what, show_size(c->moved, size), took,
		show_size((uint64_t)((double)c->moved / (took > 0 ? took : 1)), rate));
	if (c->same)
		fprintf(f, "; %s were there already", show_size(c->n_same, same));
	fputc('\n', f);
}
