/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * isolation [DIR [MIB]] -- does one connection's slow flush delay another's reads?
 *
 * Two processes: the target offers a mapped file of MIB mebibytes in DIR, and eight
 * bytes of memory. The initiator has two connections to it: one dirties the whole
 * file and flushes it persistently, the other reads the eight bytes over and over.
 * The latencies of these reads are told, alone and during the flushes.
 */

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/common.h"

enum { ROUNDS = 3, READS = 20000, MAX_READS = 1 << 20, PIECE = 1 << 20, DEPTH = 16 };

static const char *const addr = "127.0.0.1";

/* ---- target ------------------------------------------------------------ */

static size_t offer_region(struct rpma_peer *peer, void *mem, size_t size, int usage, char *desc)
{
	struct rpma_mr_local *mr;
	size_t len;

	must(rpma_mr_reg(peer, mem, size, usage, &mr));
	must(rpma_mr_get_descriptor_size(mr, &len));
	must(rpma_mr_get_descriptor(mr, desc));
	return len;
}

static _Noreturn void target(const char *port, const char *path, size_t size, int ready)
{
	static char word[8];
	char desc[2][32], both[64];
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_conn *conn[2];
	enum rpma_conn_event event;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	must(rpma_peer_new(device, &peer));
	size_t len = offer_region(peer, map_target(path, size), size,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, desc[0]);
	offer_region(peer, word, sizeof(word), RPMA_MR_USAGE_READ_SRC, desc[1]);
	memcpy(both, desc[0], len);
	memcpy(both + len, desc[1], len);
	must(rpma_ep_listen(peer, addr, port, &ep));
	if (write(ready, "r", 1) != 1)
		quit("target: pipe\n");

	for (int i = 0; i < 2; i++) {
		struct rpma_conn_private_data offer = { both, (uint8_t)(2 * len) };
		struct rpma_conn_req *req;

		must(rpma_ep_next_conn_req(ep, NULL, &req));
		must(rpma_conn_req_connect(&req, &offer, &conn[i]));
		must(rpma_conn_next_event(conn[i], &event));
	}
	for (;;)
		pause(); /* until the initiator ends us: all the work is the library's */
}

/* ---- initiator --------------------------------------------------------- */

struct link {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *file, *word;
};

static struct link join(struct rpma_peer *peer, const char *port)
{
	struct link link;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn_private_data offer;
	enum rpma_conn_event event;
	size_t len;

	must(rpma_conn_cfg_new(&cfg));
	must(rpma_conn_cfg_set_timeout(cfg, 10000));
	must(rpma_conn_cfg_set_sq_size(cfg, DEPTH));
	must(rpma_conn_cfg_set_cq_size(cfg, DEPTH));
	must(rpma_conn_req_new(peer, addr, port, cfg, &req));
	must(rpma_conn_cfg_delete(&cfg));
	must(rpma_conn_req_connect(&req, NULL, &link.conn));
	must(rpma_conn_next_event(link.conn, &event));
	if (event != RPMA_CONN_ESTABLISHED)
		quit("initiator: %s\n", rpma_utils_conn_event_2str(event));
	must(rpma_conn_get_cq(link.conn, &link.cq));
	must(rpma_conn_get_private_data(link.conn, &offer));
	len = offer.len / 2;
	must(rpma_mr_remote_from_descriptor(offer.ptr, len, &link.file));
	must(rpma_mr_remote_from_descriptor((char *)offer.ptr + len, len, &link.word));
	return link;
}

/* Has a request completed? It must have succeeded then. */
static int done(struct rpma_cq *cq)
{
	struct ibv_wc wc;
	int ret = rpma_cq_get_wc(cq, 1, &wc, NULL);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	must_be_zero(ret, "rpma_cq_get_wc");
	if (wc.status != IBV_WC_SUCCESS)
		quit("initiator: a request failed: %s\n", ibv_wc_status_str(wc.status));
	return 1;
}

static void await(struct rpma_cq *cq)
{
	while (!done(cq))
		must(rpma_cq_wait(cq));
}

static void dirty(const struct link *link, struct rpma_mr_local *src, size_t size)
{
	size_t in_flight = 0;

	for (size_t at = 0; at < size; at += PIECE, in_flight++) {
		if (in_flight == DEPTH) {
			await(link->cq);
			in_flight--;
		}
		must(rpma_write(
			link->conn, link->file, at, src, 0, PIECE, RPMA_F_COMPLETION_ALWAYS, NULL));
	}
	for (; in_flight > 0; in_flight--)
		await(link->cq);
}

/* The latencies of reads, in seconds, one more with each call. */
struct sample {
	size_t n;
	double *latency;
};

static void read_once(const struct link *link, struct rpma_mr_local *dst, struct sample *sample)
{
	double start = seconds();

	must(rpma_read(link->conn, dst, 0, link->word, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	await(link->cq);
	if (sample->n < MAX_READS)
		sample->latency[sample->n++] = seconds() - start;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(const char *when, struct sample *sample)
{
	double *latency = sample->latency;
	size_t n = sample->n;

	if (n == 0) {
		printf("%-14s no read completed\n", when);
		return;
	}
	qsort(latency, n, sizeof(*latency), ascending);
	printf("%-14s %8zu reads of 8 bytes: p50 %8.1f us  p99 %8.1f us  max %8.1f us\n", when, n,
		latency[n / 2] * 1e6, latency[n - 1 - n / 100] * 1e6, latency[n - 1] * 1e6);
}

static void initiate(const char *port, size_t size)
{
	static char piece[PIECE], word[8];
	struct sample alone = { 0, calloc(MAX_READS, sizeof(double)) };
	struct sample during = { 0, calloc(MAX_READS, sizeof(double)) };
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_mr_local *src, *dst;
	double flushing = 0;

	if (!alone.latency || !during.latency)
		quit("out of memory\n");
	must(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	must(rpma_peer_new(device, &peer));
	must(rpma_mr_reg(peer, piece, PIECE, RPMA_MR_USAGE_WRITE_SRC, &src));
	must(rpma_mr_reg(peer, word, sizeof(word), RPMA_MR_USAGE_READ_DST, &dst));
	struct link writer = join(peer, port), reader = join(peer, port);

	for (int round = 0; round < ROUNDS; round++) {
		memset(piece, 'a' + round, PIECE);
		for (int i = 0; i < READS / ROUNDS; i++)
			read_once(&reader, dst, &alone);
		dirty(&writer, src, size);
		double start = seconds();
		must(rpma_flush(writer.conn, writer.file, 0, size, RPMA_FLUSH_TYPE_PERSISTENT,
			RPMA_F_COMPLETION_ALWAYS, NULL));
		while (!done(writer.cq))
			read_once(&reader, dst, &during);
		flushing += seconds() - start;
	}
	printf("%d persistent flushes of %zu MiB took %.1f ms each\n", ROUNDS, size >> 20,
		flushing / ROUNDS * 1e3);
	tell("alone:", &alone);
	tell("during flush:", &during);
	free(alone.latency);
	free(during.latency);
}

/* A port that was free a moment ago: the API cannot tell which one it has picked. */
static void find_port(char *port, size_t len)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t sin_len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, sin_len) ||
		getsockname(fd, (struct sockaddr *)&sin, &sin_len))
		quit("no free port: %s\n", strerror(errno));
	close(fd);
	snprintf(port, len, "%u", ntohs(sin.sin_port));
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";
	size_t size = (argc > 2 ? strtoull(argv[2], NULL, 10) : 256) << 20;
	char port[8], path[4096], byte;
	int ready[2];

	if (argc > 3 || size == 0)
		quit("usage: isolation [DIR [MIB]]\n");
	snprintf(path, sizeof(path), "%s/isolation.%d", dir, (int)getpid());
	find_port(port, sizeof(port));
	if (pipe(ready))
		quit("pipe: %s\n", strerror(errno));
	pid_t child = fork();
	if (child < 0)
		quit("fork: %s\n", strerror(errno));
	if (child == 0)
		target(port, path, size, ready[1]);
	close(ready[1]);
	int started = read(ready[0], &byte, 1) == 1;
	unlink(path); /* the mapping holds it */
	if (started)
		initiate(port, size);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return started ? EXIT_SUCCESS : EXIT_FAILURE;
}
