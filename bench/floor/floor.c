/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * floor.c -- see floor.h: bytes there and back, bytes there, connections, a file
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "floor/floor.h"

static size_t size_of(const char *word)
{
	size_t size = strtoull(word, NULL, 10);

	if (size == 0 || size > (size_t)1 << 30)
		die("'%s' is no size", word);
	return size;
}

/* ---- there and back ----------------------------------------------------------- */

static void echo(char **argv)
{
	enum wait wait = wait_of(argv[0]);
	size_t size = size_of(argv[1]);
	char *buf = anonymous(size);
	int fd = accept_one(listen_and_tell());

	while (recv_all(fd, buf, size, wait))
		send_all(fd, buf, size, wait);
}

static void bounce(struct samples *s, int fd, char *buf, size_t size, enum wait wait, int64_t ns)
{
	samples_begin(s);
	for (int64_t t = s->start; t < s->start + ns; t = samples_add(s, t)) {
		send_all(fd, buf, size, wait);
		if (!recv_all(fd, buf, size, wait))
			die("the echo has ended");
	}
}

static void pingpong(char **argv)
{
	struct helper h = helper_start((const char *[]){ "echo", argv[0], argv[1], NULL });
	enum wait wait = wait_of(argv[0]);
	size_t size = size_of(argv[1]);
	int64_t ns = ns_of(argv[2]);
	struct samples s = { 0 };
	char port[WORD];
	int fd;

	helper_hear(&h, port);
	fd = connect_to("127.0.0.1", port);
	char *buf = anonymous(size);
	bounce(&s, fd, buf, size, wait, ns / 5);
	bounce(&s, fd, buf, size, wait, ns);
	samples_tell(&s);
	helper_end(&h);
}

/* ---- there --------------------------------------------------------------------- */

/* Takes bytes until the end, and says so. */
static void sink(char **argv)
{
	enum wait wait = wait_of(argv[0]);
	size_t size = size_of(argv[1]);
	char *buf = anonymous(size);
	int listener = listen_and_tell();

	for (;;) {
		int fd = accept_one(listener);

		while (recv_some(fd, buf, size, wait))
			;
		send_all(fd, "!", 1, WAIT_BLOCK);
		close(fd);
	}
}

/* Bytes per second. */
static double pour(const char *port, const char *buf, size_t size, enum wait wait, int64_t ns)
{
	int fd = connect_to("127.0.0.1", port);
	int64_t start = now_ns(), now;
	uint64_t sent = 0;
	char byte;

	do {
		send_all(fd, buf, size, wait);
		sent += size;
		now = now_ns();
	} while (now < start + ns);
	shutdown(fd, SHUT_WR);
	if (!recv_all(fd, &byte, 1, WAIT_BLOCK))
		die("the sink has ended");
	now = now_ns();
	close(fd);
	return (double)sent * 1e9 / (double)(now - start);
}

static void stream(char **argv)
{
	struct helper h = helper_start((const char *[]){ "sink", argv[0], argv[1], NULL });
	enum wait wait = wait_of(argv[0]);
	size_t size = size_of(argv[1]);
	int64_t ns = ns_of(argv[2]);
	char *buf = anonymous(size);
	char port[WORD];

	helper_hear(&h, port);
	pour(port, buf, size, wait, ns / 5);
	double rate = pour(port, buf, size, wait, ns);
	printf("bytes_per_s %.0f\nper_s %.1f\n", rate, rate / (double)size);
	helper_end(&h);
}

/* ---- connections ---------------------------------------------------------------- */

/* About as much as the two sides of a start-up have to say. */
enum { GREETING = 32 };

static void answer(char **argv)
{
	int listener = listen_and_tell();
	char buf[GREETING];

	(void)argv;
	for (;;) {
		int fd = accept_one(listener);

		if (recv_all(fd, buf, sizeof(buf), WAIT_BLOCK))
			send_all(fd, buf, sizeof(buf), WAIT_BLOCK);
		recv_some(fd, buf, 1, WAIT_BLOCK); /* the end */
		close(fd);
	}
}

static void setup(char **argv)
{
	struct helper h = helper_start((const char *[]){ "answer", NULL });
	int64_t ns = ns_of(argv[0]);
	struct samples s = { 0 };
	char port[WORD], addr[16], buf[GREETING] = { 0 };

	helper_hear(&h, port);
	samples_begin(&s);
	for (int64_t t = s.start; t < s.start + ns; t = samples_add(&s, t)) {
		loopback(addr, (unsigned)s.count);
		int fd = connect_to(addr, port);

		send_all(fd, buf, sizeof(buf), WAIT_BLOCK);
		if (!recv_all(fd, buf, sizeof(buf), WAIT_BLOCK))
			die("no answer");
		close(fd);
	}
	samples_tell(&s);
	helper_end(&h);
}

/* ---- a file ---------------------------------------------------------------------- */

enum { PAGE = 4096, PAGES = 1024 };

/* Pages of a file by hand, in this process. */
static void durable(char **argv)
{
	static char page[PAGE];
	int64_t ns = ns_of(argv[1]);
	struct samples s = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/floor.%d", argv[0], (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || posix_fallocate(fd, 0, PAGE * PAGES))
		die("%s: %s", path, strerror(errno));
	unlink(path);
	char *mem = mmap(NULL, PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED || fsync(fd))
		die("%s: %s", path, strerror(errno));

	samples_begin(&s);
	for (int64_t t = s.start; t < s.start + ns; t = samples_add(&s, t)) {
		char *to = mem + s.count % PAGES * PAGE;

		memset(page, (int)s.count, sizeof(page));
		memcpy(to, page, PAGE);
		if (msync(to, PAGE, MS_SYNC))
			die("msync: %s", strerror(errno));
	}
	samples_tell(&s);
}

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "pingpong", "poll|block SIZE SECONDS", 3, pingpong },
		{ "stream", "poll|block SIZE SECONDS", 3, stream },
		{ "setup", "SECONDS", 1, setup },
		{ "durable", "DIR SECONDS", 2, durable },
		{ "echo", NULL, 2, echo },
		{ "sink", NULL, 2, sink },
		{ "answer", NULL, 0, answer },
		{ 0 },
	};

	return run_command(commands, argc, argv);
}
