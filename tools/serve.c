/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * serve.c -- rpma serve: export memory until interrupted
 */

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"

static const char help[] =
	"usage: rpma serve [OPTION...]\n"
	"\n"
	"Export memory to 'rpma put', 'get', 'ping' and 'bench' until SIGINT or SIGTERM.\n"
	"Measurements use other memory of the same kind. There is no authentication: who\n"
	"reaches the port can read and write what is exported.\n"
	"\n"
	"      --addr A         listen on this address (default: 0.0.0.0)\n"
	"      --port P         ... and port; 0: any that is free (default: " DEFAULT_PORT ")\n"
	"      --mem M          file=PATH, dram or memfd (default: dram)\n"
	"      --size S         how much; a file grows to it, and never shrinks (default:\n"
	"                       what the file has, else 64M)\n"
	"      --direct         what is placed in the memory is durable: see rpma(1)\n"
	"      --once           end when the first client has gone\n"
	"      --ready-fd N     write the port to descriptor N when clients can come\n"
	"  -q, --quiet          no line per client\n"
	"      --provider P     auto, tcp or verbs\n"
	"  -v, --verbose        show the library's log\n"
	"  -h, --help           this text\n"
	"\n"
	"Example: rpma serve --mem file=/srv/there --size 1G\n";

static const char *addr = "0.0.0.0", *port = DEFAULT_PORT, *mem_spec = "dram";
static uint64_t size, ready_fd = UINT64_MAX;
static bool once;

static struct server server = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.gone = PTHREAD_COND_INITIALIZER,
};

static const struct opt options[] = {
	{ 0, "addr", OPT_TEXT, &addr },
	{ 0, "port", OPT_TEXT, &port },
	{ 0, "mem", OPT_TEXT, &mem_spec },
	{ 0, "size", OPT_SIZE, &size },
	{ 0, "direct", OPT_FLAG, &server.direct },
	{ 0, "once", OPT_FLAG, &once },
	{ 0, "ready-fd", OPT_COUNT, &ready_fd },
	{ 'q', "quiet", OPT_FLAG, &server.quiet },
};

/* ---- listening --------------------------------------------------------------------- */

/* A port that is free now: the library listens on port 0 as well, but cannot tell
 * which one it got. */
static bool free_port(char buf[8])
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *ai;
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd, err;

	if (getaddrinfo(addr, "0", &hints, &ai))
		return false;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	err = fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) ||
	      getsockname(fd, (struct sockaddr *)&sa, &len) ||
	      getnameinfo((struct sockaddr *)&sa, len, NULL, 0, buf, 8, NI_NUMERICSERV);
	freeaddrinfo(ai);
	if (fd >= 0)
		close(fd);
	return !err;
}

static struct rpma_ep *listen_at(char chosen[8])
{
	bool any = strcmp(port, "0") == 0;
	struct rpma_ep *ep;
	int ret;

	snprintf(chosen, 8, "%s", port);
	/* Somebody else may take it in between. */
	for (int tries = any ? 20 : 1;; tries--) {
		if (any && !free_port(chosen))
			fail("no port is free at %s", addr);
		ret = rpma_ep_listen(server.site.peer, addr, chosen, &ep);
		if (!ret)
			return ep;
		if (tries <= 1)
			fail("cannot listen at %s port %s: %s; choose another by --port, or 0 for "
			     "any",
				addr, chosen, cause(ret));
	}
}

static void export_memory(void)
{
	int usage = mem_usage(&server.mem, server.site.tcp);
	int ret = rpma_mr_reg(server.site.peer, server.mem.ptr, server.mem.size, usage, &server.mr);

	if (!ret)
		ret = rpma_mr_get_descriptor(server.mr, server.desc);
	if (ret)
		fail("cannot export %zu bytes: %s; see the limits by: rpma info", server.mem.size,
			cause(ret));
}

static void tell_ready(const char *chosen)
{
	char buf[16];

	printf("serving %s of %s%s%s at %s port %s\n", show_size(server.mem.size, buf),
		mem_kind_name(server.mem.kind), server.mem.path ? " " : "",
		server.mem.path ? server.mem.path : "", addr, chosen);
	printf("flushed data survives %s\n", mem_survives(server.mem.kind));
	if (ready_fd != UINT64_MAX &&
		(dprintf((int)ready_fd, "%s\n", chosen) < 0 || close((int)ready_fd)))
		fail("--ready-fd %d: %s", (int)ready_fd, strerror(errno));
}

/* ---- clients ------------------------------------------------------------------------ */

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void admit(struct rpma_ep *ep)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	int ret = make_conn_cfg(&server.site, &cfg, SEND_QUEUE, RECV_QUEUE);

	if (!ret) {
		ret = rpma_ep_next_conn_req(ep, cfg, &req);
		rpma_conn_cfg_delete(&cfg);
	}
	if (!ret)
		guest_start(&server, req);
	else if (ret != RPMA_E_NO_EVENT)
		note("a client could not be served: %s", cause(ret));
}

/* Clients have gone, and the first one was there. */
static bool all_gone(void)
{
	bool gone;

	pthread_mutex_lock(&server.lock);
	gone = server.served && !server.guests;
	pthread_mutex_unlock(&server.lock);
	return gone;
}

static void serve(struct rpma_ep *ep, int signal_fd)
{
	struct pollfd p[2] = { { .fd = signal_fd, .events = POLLIN }, { .events = POLLIN } };
	int ret = rpma_ep_get_fd(ep, &p[1].fd);

	if (ret || nonblocking(p[1].fd))
		fail("cannot wait for clients: %s", cause(ret));
	while (!p[0].revents && !(once && all_gone())) {
		if (poll(p, 2, once ? 50 : -1) > 0 && p[1].revents)
			admit(ep);
	}
}

static void see_off(void)
{
	eventfd_write(server.stop_fd, 1);
	pthread_mutex_lock(&server.lock);
	while (server.guests)
		pthread_cond_wait(&server.gone, &server.lock);
	pthread_mutex_unlock(&server.lock);
}

int cmd_serve(int argc, char **argv)
{
	struct rpma_ep *ep;
	char chosen[8];
	int signal_fd;

	opt_parse(argc, argv, help, options, sizeof(options) / sizeof(options[0]), 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal_fd = block_signals();
	server.stop_fd = eventfd(0, EFD_CLOEXEC);
	if (signal_fd < 0 || server.stop_fd < 0)
		fail("cannot wait for signals: %s", strerror(errno));
	site_open(&server.site, addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	mem_open(&server.mem, mem_spec, size);
	export_memory();
	ep = listen_at(chosen);
	tell_ready(chosen);
	serve(ep, signal_fd);

	rpma_ep_shutdown(&ep);
	see_off();
	rpma_mr_dereg(&server.mr);
	site_close(&server.site);
	mem_close(&server.mem);
	close(server.stop_fd);
	close(signal_fd);
	printf("ended after %u client%s\n", server.clients, server.clients == 1 ? "" : "s");
	return STATUS_OK;
}
