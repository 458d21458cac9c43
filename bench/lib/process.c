/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * process.c -- see bench.h: the second process, and the system
 */

#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/bench.h"

enum { MAX_ARGS = 16 };

static _Noreturn void become(const char *const args[], int out)
{
	const char *argv[MAX_ARGS + 2] = { "bench" };

	for (int i = 0; i < MAX_ARGS && args[i]; i++)
		argv[i + 1] = args[i];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	execv("/proc/self/exe", (char *const *)argv);
	die("exec: %s", strerror(errno));
}

struct helper helper_start(const char *const args[])
{
	struct helper h;
	int fds[2];

	fflush(stdout);
	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	h.pid = fork();
	if (h.pid < 0)
		die("fork: %s", strerror(errno));
	if (h.pid == 0)
		become(args, fds[1]);
	close(fds[1]);
	h.out = fdopen(fds[0], "r");
	return h;
}

void helper_hear(struct helper *h, char line[WORD])
{
	if (fgets(line, WORD, h->out) == NULL)
		die("the second process has ended");
	line[strcspn(line, "\n")] = '\0';
}

void helper_end(struct helper *h)
{
	kill(h->pid, SIGKILL);
	waitpid(h->pid, NULL, 0);
	fclose(h->out);
}

void tell_parent(const char *line)
{
	printf("%s\n", line);
	fflush(stdout);
}

void free_port(char port[8])
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, len) ||
		getsockname(fd, (struct sockaddr *)&sin, &len))
		die("no free port: %s", strerror(errno));
	close(fd);
	snprintf(port, 8, "%u", ntohs(sin.sin_port));
}

void loopback(char addr[16], unsigned i)
{
	snprintf(addr, 16, "127.0.0.%u", 1 + i % 16);
}

uint64_t rss_of(pid_t pid)
{
	unsigned long size, resident;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%lu %lu", &size, &resident) != 2)
		die("%s cannot be read", path);
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

int64_t cpu_ns_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		die("no CPU clock of process %d", (int)pid);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void need_files(uint64_t n)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < n) {
		struct rlimit more = { n, n };

		if (!setrlimit(RLIMIT_NOFILE, &more))
			return;
	}
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < n)
		die("%llu descriptors are needed and only %llu allowed", (unsigned long long)n,
			(unsigned long long)limit.rlim_cur);
}

void *anonymous(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (mem == MAP_FAILED)
		die("%zu bytes of memory: %s", size, strerror(errno));
	return mem;
}
