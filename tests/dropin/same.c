/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * same.c -- what can be seen of the library without a device, as text
 *
 * Built against the original's header, it has to print the same with either
 * library. Every line is a call, its result, and what it wrote.
 */

#include <librpma.h>

#include <string.h>

#define TELL(call) printf("%s = %d\n", #call, (call))
#define PRESET 0x5a5a5a5a

static void *unset(void)
{
	return (void *)(uintptr_t)PRESET;
}

static void texts(void)
{
	for (int i = 1; i >= -12; i--) {
		printf("err %d: %s\n", i, rpma_err_2str(i));
		printf("err %d: %s\n", RPMA_E_UNKNOWN + i, rpma_err_2str(RPMA_E_UNKNOWN + i));
	}
	for (int i = -3; i < 8; i++)
		printf("event %d: %s\n", i, rpma_utils_conn_event_2str((enum rpma_conn_event)i));
}

static void sizes(void)
{
	printf("%zu %zu\n", sizeof(struct rpma_conn_private_data),
		offsetof(struct rpma_conn_private_data, len));
	printf("%d %d %d %d\n", RPMA_F_COMPLETION_ALWAYS, RPMA_F_COMPLETION_ON_ERROR,
		RPMA_DEFAULT_TIMEOUT_MS, RPMA_W_WAIT_FOR_COMPLETION);
}

static void conn_cfg(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = (struct rpma_srq *)unset();
	uint32_t n = PRESET;
	int timeout = PRESET;
	bool shared = true;

	TELL(rpma_conn_cfg_new(NULL));
	TELL(rpma_conn_cfg_new(&cfg));
	TELL(rpma_conn_cfg_get_timeout(cfg, &timeout));
	printf("%d\n", timeout);
	TELL(rpma_conn_cfg_get_cq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_conn_cfg_get_rcq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_conn_cfg_get_sq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_conn_cfg_get_rq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_conn_cfg_get_compl_channel(cfg, &shared));
	printf("%d\n", shared);
	TELL(rpma_conn_cfg_get_srq(cfg, &srq));
	printf("%d\n", srq == NULL);
	TELL(rpma_conn_cfg_set_timeout(cfg, -1));
	TELL(rpma_conn_cfg_set_timeout(cfg, 0));
	TELL(rpma_conn_cfg_set_timeout(NULL, 1));
	TELL(rpma_conn_cfg_get_timeout(cfg, &timeout));
	printf("%d\n", timeout);
	TELL(rpma_conn_cfg_set_cq_size(cfg, 0));
	TELL(rpma_conn_cfg_set_cq_size(cfg, UINT32_MAX));
	TELL(rpma_conn_cfg_get_cq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_conn_cfg_set_srq(cfg, NULL));
	TELL(rpma_conn_cfg_set_srq(NULL, srq));
	TELL(rpma_conn_cfg_delete(&cfg));
	printf("%d\n", cfg == NULL);
	TELL(rpma_conn_cfg_delete(&cfg));
	TELL(rpma_conn_cfg_delete(NULL));
}

static void srq_cfg(void)
{
	struct rpma_srq_cfg *cfg = NULL;
	uint32_t n = PRESET;

	TELL(rpma_srq_cfg_new(NULL));
	TELL(rpma_srq_cfg_new(&cfg));
	TELL(rpma_srq_cfg_get_rq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_srq_cfg_get_rcq_size(cfg, &n));
	printf("%u\n", n);
	TELL(rpma_srq_cfg_set_rq_size(cfg, 0));
	TELL(rpma_srq_cfg_set_rcq_size(NULL, 0));
	TELL(rpma_srq_cfg_delete(&cfg));
	TELL(rpma_srq_cfg_delete(&cfg));
}

static void peer_cfg(void)
{
	static const unsigned char descs[] = { 0, 1, 2, 0x80, 0xff };
	struct rpma_peer_cfg *pcfg = NULL;
	unsigned char desc[2] = { 0x5a, 0x5a };
	size_t size = PRESET;
	bool direct = true;

	TELL(rpma_peer_cfg_new(&pcfg));
	TELL(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct));
	printf("%d\n", direct);
	TELL(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	TELL(rpma_peer_cfg_get_descriptor(pcfg, desc));
	printf("%x %x\n", desc[0], desc[1]);
	TELL(rpma_peer_cfg_get_descriptor(NULL, desc));
	TELL(rpma_peer_cfg_get_descriptor_size(pcfg, &size));
	printf("%zu\n", size);
	TELL(rpma_peer_cfg_delete(&pcfg));
	TELL(rpma_peer_cfg_from_descriptor(desc, 0, &pcfg));
	TELL(rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg));
	TELL(rpma_peer_cfg_from_descriptor(desc, 1, NULL));
	for (size_t i = 0; i < sizeof(descs); i++) {
		TELL(rpma_peer_cfg_from_descriptor(&descs[i], 1, &pcfg));
		TELL(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct));
		printf("%x: %d\n", descs[i], direct);
		TELL(rpma_peer_cfg_delete(&pcfg));
	}
}

static void remote(void)
{
	unsigned char desc[30] = { 0 };
	struct rpma_mr_remote *mr = NULL;
	size_t size = PRESET;
	int type = PRESET;

	for (size_t i = 0; i < sizeof(desc); i++)
		desc[i] = (unsigned char)(i + 1);
	TELL(rpma_mr_remote_from_descriptor(desc, 20, &mr));
	TELL(rpma_mr_remote_from_descriptor(NULL, 21, &mr));
	TELL(rpma_mr_remote_from_descriptor(desc, 21, NULL));
	for (int usage = 0; usage < 256; usage += 3) {
		desc[20] = (unsigned char)usage;
		printf("%x\n", usage);
		TELL(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &mr));
		if (!mr)
			continue;
		TELL(rpma_mr_remote_get_size(mr, &size));
		TELL(rpma_mr_remote_get_flush_type(mr, &type));
		printf("%zu %x\n", size, type);
		TELL(rpma_mr_remote_delete(&mr));
	}
	TELL(rpma_mr_remote_delete(&mr));
	TELL(rpma_mr_remote_delete(NULL));
	TELL(rpma_mr_remote_get_size(NULL, &size));
	TELL(rpma_mr_remote_get_flush_type(NULL, &type));
}

static void nothing(void)
{
	struct ibv_context *device = (struct ibv_context *)unset();
	struct rpma_conn_private_data pdata = { unset(), 9 };
	struct rpma_conn_req *req = NULL;
	struct rpma_mr_local *mr = NULL;
	struct rpma_conn *conn = NULL;
	struct rpma_peer *peer = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_ep *ep = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct ibv_wc wc;
	char eight[8] = { 0 };
	int fd = PRESET;

	TELL(rpma_utils_get_ibv_context(NULL, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	TELL(rpma_utils_get_ibv_context("127.0.0.1", (enum rpma_util_ibv_context_type)2, &device));
	TELL(rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, NULL));
	TELL(rpma_utils_ibv_context_is_odp_capable(NULL, &fd));
	TELL(rpma_peer_new(NULL, &peer));
	TELL(rpma_peer_new(device, NULL));
	TELL(rpma_peer_delete(&peer));
	TELL(rpma_peer_delete(NULL));
	TELL(rpma_mr_reg(NULL, eight, 8, 1, &mr));
	TELL(rpma_mr_dereg(&mr));
	TELL(rpma_mr_dereg(NULL));
	TELL(rpma_ep_listen(NULL, "127.0.0.1", "1", &ep));
	TELL(rpma_ep_shutdown(&ep));
	TELL(rpma_ep_shutdown(NULL));
	TELL(rpma_ep_get_fd(NULL, &fd));
	TELL(rpma_ep_next_conn_req(NULL, NULL, &req));
	TELL(rpma_conn_req_new(NULL, "127.0.0.1", "1", NULL, &req));
	TELL(rpma_conn_req_connect(&req, NULL, &conn));
	TELL(rpma_conn_req_connect(NULL, NULL, &conn));
	TELL(rpma_conn_req_delete(&req));
	TELL(rpma_conn_req_delete(NULL));
	TELL(rpma_conn_req_recv(NULL, NULL, 0, 0, NULL));
	TELL(rpma_conn_req_get_private_data(NULL, &pdata));
	TELL(rpma_conn_get_private_data(NULL, &pdata));
	TELL(rpma_conn_next_event(NULL, &event));
	TELL(rpma_conn_disconnect(NULL));
	TELL(rpma_conn_delete(&conn));
	TELL(rpma_conn_delete(NULL));
	TELL(rpma_conn_wait(NULL, 0, NULL, NULL));
	TELL(rpma_conn_get_compl_fd(NULL, &fd));
	TELL(rpma_conn_get_qp_num(NULL, NULL));
	TELL(rpma_conn_apply_remote_peer_cfg(NULL, NULL));
	TELL(rpma_read(NULL, NULL, 0, NULL, 0, 0, 3, NULL));
	TELL(rpma_write(NULL, NULL, 0, NULL, 0, 0, 3, NULL));
	TELL(rpma_write_with_imm(NULL, NULL, 0, NULL, 0, 0, 3, 1, NULL));
	TELL(rpma_atomic_write(NULL, NULL, 0, eight, 3, NULL));
	TELL(rpma_flush(NULL, NULL, 0, 0, RPMA_FLUSH_TYPE_VISIBILITY, 3, NULL));
	TELL(rpma_send(NULL, NULL, 0, 0, 3, NULL));
	TELL(rpma_recv(NULL, NULL, 0, 0, NULL));
	TELL(rpma_cq_wait(NULL));
	TELL(rpma_cq_get_fd(NULL, &fd));
	TELL(rpma_cq_get_wc(NULL, 1, &wc, NULL));
	TELL(rpma_srq_new(NULL, NULL, &srq));
	TELL(rpma_srq_delete(&srq));
	TELL(rpma_srq_recv(NULL, NULL, 0, 0, NULL));
	printf("%d %d %d %d\n", fd == PRESET, event, device == unset(), pdata.len);
}

static void tell_record(enum rpma_log_level level, const char *file, const int line,
	const char *function, const char *format, ...)
{
	/* Texts and places are each library's own. */
	printf("record %d %d %d %d %d\n", level, file != NULL, line > 0, function != NULL,
		format[strlen(format) - 1] == '\n');
}

static void log_calls(void)
{
	enum rpma_log_level level = RPMA_LOG_DISABLED;
	struct rpma_peer_cfg *pcfg = NULL;

	for (int t = -1; t < 4; t++) {
		printf("%d\n", t);
		TELL(rpma_log_get_threshold((enum rpma_log_threshold)t, &level));
		printf("%d\n", level);
		for (int l = -2; l < 7; l++)
			TELL(rpma_log_set_threshold(
				(enum rpma_log_threshold)t, (enum rpma_log_level)l));
	}
	TELL(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, NULL));
	TELL(rpma_log_set_function(tell_record));
	for (int l = RPMA_LOG_DISABLED; l <= RPMA_LOG_LEVEL_DEBUG; l++) {
		TELL(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, (enum rpma_log_level)l));
		TELL(rpma_peer_cfg_from_descriptor("", 0, &pcfg));
	}
	TELL(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
}

int main(void)
{
	texts();
	sizes();
	conn_cfg();
	srq_cfg();
	peer_cfg();
	remote();
	nothing();
	log_calls();
	return 0;
}
