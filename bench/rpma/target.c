/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * target.c -- see link.h: the target's side
 */

#include "rpma/link.h"

/* ---- its starter ---------------------------------------------------------------- */

struct target target_start(const char *mode, uint64_t size, unsigned conns, const char *dir)
{
	struct target t;
	char size_word[24], conns_word[12];

	snprintf(size_word, sizeof(size_word), "%llu", (unsigned long long)size);
	snprintf(conns_word, sizeof(conns_word), "%u", conns);
	t.helper = helper_start(
		(const char *[]){ "target", mode, size_word, conns_word, dir ? dir : "", NULL });
	helper_hear(&t.helper, t.port);
	return t;
}

void target_up(struct target *t)
{
	char line[WORD];

	helper_hear(&t->helper, line);
}

void target_end(struct target *t)
{
	helper_end(&t->helper);
}

/* ---- itself --------------------------------------------------------------------- */

static void *region(const char *dir, size_t size)
{
	char path[4096];

	if (*dir == '\0')
		return anonymous(size);
	snprintf(path, sizeof(path), "%s/target.%d", dir, (int)getpid());
	void *mem = map_target(path, size);
	unlink(path); /* the mapping holds it */
	return mem;
}

static struct rpma_mr_local *offer(struct rpma_peer *peer, const char *dir, size_t size)
{
	int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
		    RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct rpma_mr_local *mr;

	if (*dir)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	must(rpma_mr_reg(peer, region(dir, size), size, usage, &mr));
	return mr;
}

static struct rpma_conn *accept_link(struct rpma_ep *ep, char *desc, size_t len)
{
	struct rpma_conn_private_data data = { desc, (uint8_t)len };
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	must(rpma_ep_next_conn_req(ep, NULL, &req));
	must(rpma_conn_req_connect(&req, &data, &conn));
	link_expect(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

/* Until the starter ends us. One-sided requests bring no completions here. */
static _Noreturn void serve(const char *mode, struct rpma_conn *first)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	must(rpma_conn_get_cq(first, &cq));
	for (;;) {
		if (!strcmp(mode, TARGET_POLL))
			rpma_cq_get_wc(cq, 1, &wc, NULL);
		else if (strcmp(mode, TARGET_BLOCK) || rpma_cq_wait(cq))
			pause();
	}
}

void target_run(char **argv)
{
	const char *mode = argv[0], *dir = argv[3];
	unsigned conns = (unsigned)strtoul(argv[2], NULL, 10);
	struct rpma_conn *first = NULL;
	struct rpma_peer *peer = peer_open();
	struct rpma_mr_local *mr = offer(peer, dir, strtoull(argv[1], NULL, 10));
	struct rpma_ep *ep;
	char desc[64];
	size_t len;

	need_files(64 + 3 * (uint64_t)conns);
	must(rpma_mr_get_descriptor_size(mr, &len));
	must(rpma_mr_get_descriptor(mr, desc));
	ep = listen_and_tell(peer);
	for (unsigned i = 0; i < conns; i++) {
		struct rpma_conn *conn = accept_link(ep, desc, len);

		if (i == 0)
			first = conn;
	}
	tell_parent("up");
	serve(mode, first);
}
