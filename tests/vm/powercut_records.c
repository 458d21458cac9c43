/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * powercut-records serve|append|check DISK PMEM -- what a power cut leaves of records
 * in files below DISK (an ext4) and PMEM (one with DAX)
 *
 * serve hands out all files of the table; append writes record after record to each of
 * them and flushes it: "ack FILE N" says that record N is acknowledged. check says
 * "holds FILE N": records 1 to N are there, and whether there is "rubbish" behind
 * what can have been under way.
 */

#include <inttypes.h>

#include "common/steps.h"

enum { RECORD = 256, COUNT = 32768, UNDER_WAY = 4, FIRST_PORT = 7301, SIZE = RECORD * COUNT };

/* The space of a file is allocated, but not written, so that the file system has
 * something to remember about each page that is. */
static const struct target {
	const char *name;
	bool on_pmem;
	bool sync; /* mapped with MAP_SYNC: durable by the processor alone */
	enum rpma_flush_type flush;
} targets[] = {
	{ "disk", false, false, RPMA_FLUSH_TYPE_PERSISTENT },
	{ "pmem", true, true, RPMA_FLUSH_TYPE_PERSISTENT },
	{ "pmem-msync", true, false, RPMA_FLUSH_TYPE_PERSISTENT },
	/* begun anew each time: what it loses is no ground to build on */
	{ "visibility", false, false, RPMA_FLUSH_TYPE_VISIBILITY },
};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

#define ADDR "127.0.0.1"

/* Each file is served at a port of its own. text: room for 8 bytes. */
static char *port_of(size_t target, char *text)
{
	snprintf(text, 8, "%u", FIRST_PORT + (unsigned)target % TARGETS);
	return text;
}

/* ---- a record ------------------------------------------------------------------- */

struct record {
	uint64_t number; /* 1, 2, ... */
	uint64_t sum;	 /* of all the rest */
	uint64_t filler[RECORD / 8 - 2];
};

static uint64_t sum_of(const struct record *r)
{
	uint64_t sum = r->number;

	for (size_t i = 0; i < RECORD / 8 - 2; i++)
		sum = (sum ^ r->filler[i]) * UINT64_C(1099511628211); /* FNV-1a */
	return sum;
}

static void fill(struct record *r, uint64_t number)
{
	r->number = number;
	for (size_t i = 0; i < RECORD / 8 - 2; i++)
		r->filler[i] = (number << 8 | i) * UINT64_C(0x9e3779b97f4a7c15);
	r->sum = sum_of(r);
}

/* Records 1 to this are there and true. */
static uint64_t count_records(const struct record *file)
{
	uint64_t n = 0;

	while (n < COUNT && file[n].number == n + 1 && file[n].sum == sum_of(&file[n]))
		n++;
	return n;
}

/* ---- files ---------------------------------------------------------------------- */

static void path_of(const struct target *t, char **argv, char *path, size_t size)
{
	snprintf(path, size, "%s/records-%s", argv[t->on_pmem ? 3 : 2], t->name);
}

static struct record *map_records(const struct target *t, char **argv)
{
	char path[4096];

	path_of(t, argv, path, sizeof(path));
	if (t->flush == RPMA_FLUSH_TYPE_VISIBILITY)
		unlink(path);
	if (!t->sync)
		return map_target(path, SIZE);
	munmap(map_target(path, SIZE), SIZE);
	int fd = open(path, O_RDWR);
	void *mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	if (mem == MAP_FAILED)
		quit("%s: %s\n", path, strerror(errno));
	close(fd);
	return mem;
}

static void check(const struct target *t, char **argv)
{
	char path[4096];
	size_t size;

	path_of(t, argv, path, sizeof(path));
	if (access(path, F_OK))
		return;
	const struct record *file = map_source(path, &size);
	if (size != SIZE)
		quit("%s: its size is wrong\n", path);
	uint64_t n = count_records(file);
	printf("holds %s %" PRIu64 "\n", t->name, n);
	/* without a durable flush pages come to the disk in any order */
	if (t->flush == RPMA_FLUSH_TYPE_VISIBILITY)
		return;
	const uint64_t *words = (const void *)file;
	for (size_t i = (n + UNDER_WAY) * RECORD / 8; i < SIZE / 8; i++)
		if (words[i])
			quit("rubbish %s %zu\n", t->name, i * 8 / RECORD + 1);
}

/* ---- server --------------------------------------------------------------------- */

struct offer {
	uint64_t records; /* in the file */
	uint64_t region_len;
	char region[32];
};

static void tell(enum rpma_log_level level, const char *file, const int line, const char *function,
	const char *format, ...)
{
	va_list args;

	(void)level, (void)file, (void)line, (void)function;
	printf("says ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static struct rpma_mr_local *register_records(
	struct rpma_peer *peer, struct record *file, enum rpma_flush_type flush)
{
	struct rpma_mr_local *mr;
	int usage = RPMA_MR_USAGE_WRITE_DST;

	usage |= flush == RPMA_FLUSH_TYPE_PERSISTENT ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
						     : RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	must(rpma_mr_reg(peer, file, SIZE, usage, &mr));
	return mr;
}

static void serve(char **argv)
{
	struct offer offers[TARGETS];
	struct rpma_ep *eps[TARGETS];
	char port[8];

	rpma_log_set_function(tell);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE);
	struct rpma_peer *peer = open_peer(ADDR, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	for (size_t i = 0; i < TARGETS; i++) {
		struct record *file = map_records(&targets[i], argv);
		struct rpma_mr_local *mr = register_records(peer, file, targets[i].flush);

		offers[i].records = count_records(file);
		offers[i].region_len = describe(mr, offers[i].region).len;
		must(rpma_ep_listen(peer, ADDR, port_of(i, port), &eps[i]));
	}
	printf("ready\n");
	for (size_t i = 0; i < TARGETS; i++)
		admit(eps[i], NULL,
			&(struct rpma_conn_private_data){ &offers[i], sizeof(offers[i]) });
	for (;;)
		pause();
}

/* ---- client --------------------------------------------------------------------- */

struct link {
	const struct target *target;
	struct rpma_conn *conn;
	struct rpma_mr_remote *file;
	struct rpma_mr_local *mr; /* of src */
	struct record src[UNDER_WAY];
	uint64_t last; /* record that was posted */
};

static void link_open(struct link *l, size_t i, struct rpma_peer *peer)
{
	char port[8];
	struct rpma_conn_private_data data;
	struct offer offer;

	l->target = &targets[i];
	must(rpma_mr_reg(peer, l->src, sizeof(l->src), RPMA_MR_USAGE_WRITE_SRC, &l->mr));
	l->conn = join(peer, (char *[]){ NULL, ADDR, port_of(i, port) }, NULL);
	must(rpma_conn_get_private_data(l->conn, &data));
	if (data.len != sizeof(offer))
		quit("append: this is another server\n");
	memcpy(&offer, data.ptr, sizeof(offer));
	must(rpma_mr_remote_from_descriptor(offer.region, offer.region_len, &l->file));
	l->last = offer.records;
}

static void link_post(struct link *l)
{
	for (size_t i = 0; i < UNDER_WAY; i++) {
		size_t at = l->last * RECORD;

		if (++l->last > COUNT)
			quit("append: %s is full\n", l->target->name);
		fill(&l->src[i], l->last);
		must(rpma_write(l->conn, l->file, at, l->mr, i * RECORD, RECORD,
			RPMA_F_COMPLETION_ON_ERROR, NULL));
		must(rpma_flush(l->conn, l->file, at, RECORD, l->target->flush,
			RPMA_F_COMPLETION_ALWAYS, (void *)(uintptr_t)l->last));
	}
}

static void link_collect(struct link *l)
{
	for (size_t i = 0; i < UNDER_WAY; i++) {
		struct ibv_wc wc = take(cq_of(l->conn));
		printf("ack %s %" PRIu64 "\n", l->target->name, wc.wr_id);
	}
}

static void append(void)
{
	static struct link links[TARGETS];
	struct rpma_peer *peer = open_peer(ADDR, RPMA_UTIL_IBV_CONTEXT_REMOTE);

	for (size_t i = 0; i < TARGETS; i++)
		link_open(&links[i], i, peer);
	for (;;) {
		for (size_t i = 0; i < TARGETS; i++)
			link_post(&links[i]);
		/* the disk comes last: it takes longest, and the others need not wait */
		for (size_t i = TARGETS; i-- > 0;)
			link_collect(&links[i]);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		quit("usage: powercut-records serve|append|check DISK PMEM\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[1], "serve"))
		serve(argv);
	else if (!strcmp(argv[1], "append"))
		append();
	else
		for (size_t i = 0; i < TARGETS; i++)
			check(&targets[i], argv);
	return EXIT_SUCCESS;
}
