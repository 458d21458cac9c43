/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT FILE SIZE -- offer a file of SIZE bytes to be written from afar
 *
 * The file is mapped and registered; whoever connects gets the descriptor of the
 * region and may write and flush it. The server itself never looks at the data
 * and never saves anything: what a client has flushed is durable without it.
 */

#include "common/common.h"

/* The library tells here, among other things, what a flush of the region does. */
__attribute__((format(printf, 5, 6))) static void tell(enum rpma_log_level level, const char *file,
	const int line, const char *function, const char *format, ...)
{
	(void)level, (void)file, (void)line, (void)function;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("server: (log) %s", text);
}

/* One client, from its request to its end. What goes wrong with it is not our end. */
static void serve(struct rpma_ep *ep, const struct rpma_conn_private_data *offer)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	enum rpma_conn_event event;

	must(rpma_ep_next_conn_req(ep, NULL, &req));
	if (rpma_conn_req_connect(&req, offer, &conn))
		return;
	while (!rpma_conn_next_event(conn, &event) && event == RPMA_CONN_ESTABLISHED)
		printf("server: a client is connected and has the descriptor\n");
	rpma_conn_disconnect(conn);
	rpma_conn_delete(&conn);
	printf("server: the client has gone; waiting for the next one\n");
}

int main(int argc, char **argv)
{
	struct ibv_context *device;
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_ep *ep;
	unsigned char descriptor[32];
	size_t len;

	if (argc != 5 || strtoull(argv[4], NULL, 10) == 0)
		quit("usage: server ADDR PORT FILE SIZE\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	rpma_log_set_function(tell);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO);

	size_t size = strtoull(argv[4], NULL, 10);
	void *mem = map_target(argv[3], size);
	must(rpma_utils_get_ibv_context(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	must(rpma_peer_new(device, &peer));
	must(rpma_mr_reg(peer, mem, size,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
		&mr));
	must(rpma_mr_get_descriptor_size(mr, &len));
	must(rpma_mr_get_descriptor(mr, descriptor));
	must(rpma_ep_listen(peer, argv[1], argv[2], &ep));
	printf("server: %s is a region of %zu bytes; ready at %s port %s\n", argv[3], size, argv[1],
		argv[2]);
	for (;;)
		serve(ep, &(struct rpma_conn_private_data){ descriptor, (uint8_t)len });
}
