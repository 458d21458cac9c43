/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_say.c -- what is seen, as lines of the trace
 */

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

#include "original.h"

void say(const char *key, const char *format, ...)
{
	va_list ap;

	printf("%s = ", key);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

static const char *name_of(int ret)
{
	static const char *const names[] = { "UNKNOWN", "NOSUPP", "PROVIDER", "NOMEM", "INVAL",
		"NO_COMPLETION", "NO_EVENT", "AGAIN", "SHARED_CHANNEL", "NOT_SHARED_CHNL" };
	int i = RPMA_E_UNKNOWN - ret;

	if (ret == 0)
		return "0";
	return i >= 0 && i < 10 ? names[i] : "not a code";
}

void say_result(const char *key, int ret)
{
	say(key, "%s", name_of(ret));
}

void must(const char *key, int ret)
{
	if (ret == 0)
		return;
	say_result(key, ret);
	exit(1);
}

/* ---- events -------------------------------------------------------------- */

void say_event(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	must("rpma_conn_next_event()", rpma_conn_next_event(conn, &event));
	say("event", "%s", rpma_utils_conn_event_2str(event));
}

void say_event_soon(struct rpma_conn *conn)
{
	struct pollfd pfd = { .events = POLLIN };

	MUST(rpma_conn_get_event_fd(conn, &pfd.fd));
	if (poll(&pfd, 1, SOON_MS) == 1)
		say_event(conn);
	else
		say("event", "none");
}

/* ---- completions ---------------------------------------------------------- */

static const char *opcode_name(enum ibv_wc_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WC_SEND:
		return "SEND";
	case IBV_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case IBV_WC_RDMA_READ:
		return "RDMA_READ";
	case 8: /* since rdma-core 45 */
		return "FLUSH";
	case 9:
		return "ATOMIC_WRITE";
	case IBV_WC_RECV:
		return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
	default:
		return "?";
	}
}

static bool get_wc(struct rpma_cq *cq, struct ibv_wc *wc)
{
	struct pollfd pfd = { .events = POLLIN };
	int ret;

	MUST(rpma_cq_get_fd(cq, &pfd.fd));
	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		if (poll(&pfd, 1, SOON_MS) != 1)
			return false;
		must("rpma_cq_wait()", rpma_cq_wait(cq));
	}
	must("rpma_cq_get_wc()", ret);
	return true;
}

void say_wc(const char *key, struct rpma_cq *cq, struct rpma_conn *conn)
{
	struct ibv_wc wc = { 0 };
	uint32_t qp_num = 0;
	const char *whose;

	if (!get_wc(cq, &wc)) {
		say(key, "none");
		return;
	}
	MUST(rpma_conn_get_qp_num(conn, &qp_num));
	whose = wc.qp_num == qp_num ? "" : ", not of this connection";
	if (wc.status != IBV_WC_SUCCESS) {
		say(key, "%s, context %d%s", ibv_wc_status_str(wc.status), (int)wc.wr_id, whose);
		return;
	}
	printf("%s = %s, context %d", key, opcode_name(wc.opcode), (int)wc.wr_id);
	/* elsewhere it means nothing */
	if (wc.opcode & IBV_WC_RECV || wc.opcode == IBV_WC_RDMA_READ)
		printf(", %u bytes", wc.byte_len);
	if (wc.opcode & IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM)
		printf(", immediate 0x%x", ntohl(wc.imm_data));
	printf("%s\n", whose);
}

void say_empty(struct rpma_cq *cq)
{
	struct ibv_wc wc;

	TELL(rpma_cq_get_wc(cq, 1, &wc, NULL));
}

/* ---- data ----------------------------------------------------------------- */

static char pattern(size_t i, char first)
{
	return (char)(first + i % 26);
}

void fill(char *mem, size_t len, char first)
{
	for (size_t i = 0; i < len; i++)
		mem[i] = pattern(i, first);
}

void say_data(const char *key, const struct rpma_conn_private_data *data)
{
	const char *bytes = data->ptr;
	size_t known = 0, zeros = 0;

	if (!bytes) {
		say(key, "none, %u bytes", data->len);
		return;
	}
	while (known < data->len && bytes[known] == pattern(known, 'A'))
		known++;
	while (known + zeros < data->len && !bytes[known + zeros])
		zeros++;
	say(key, "%u bytes: %zu as sent, %zu zeros, %zu others", data->len, known, zeros,
		data->len - known - zeros);
}

void say_memory(const char *key, const char *mem, size_t len, char first)
{
	size_t i = 0;

	while (i < len && mem[i] == pattern(i, first))
		i++;
	say(key, "%s", i == len ? "as sent" : "other bytes");
}
