/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * client ADDR PORT -- write records durably, whatever happens to the server
 *
 * What a flush has not confirmed when a connection ends may be there or not. Records
 * have fixed places, so that all of it can simply be written again.
 */

#include "common/steps.h"
#include "reconnect/record.h"

/* NULL: there is no connection to be had (yet). */
static struct rpma_conn *try_to_join(struct rpma_peer *peer, char **argv)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event;

	if (rpma_conn_req_new(peer, argv[1], argv[2], NULL, &req) ||
		rpma_conn_req_connect(&req, NULL, &conn))
		return NULL;
	if (rpma_conn_next_event(conn, &event) || event != RPMA_CONN_ESTABLISHED)
		rpma_conn_delete(&conn);
	return conn;
}

static int next_completion(struct rpma_cq *cq, struct ibv_wc *wc)
{
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION)
		must(rpma_cq_wait(cq));
	return ret;
}

/* Write from record *durable on, a group at a time; false: the connection is gone. */
static bool replay(struct rpma_conn *conn, struct rpma_mr_local *src, int *durable)
{
	struct rpma_mr_remote *dst = described(conn);
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	size_t size = sizeof(struct record);
	int ret = 0;

	while (*durable < RECORDS && !ret && wc.status == IBV_WC_SUCCESS) {
		size_t at = (size_t)*durable * size;

		for (size_t i = 0; i < GROUP && !ret; i++)
			ret = rpma_write_with_imm(conn, dst, at + i * size, src, at + i * size,
				size, RPMA_F_COMPLETION_ON_ERROR, 0, NULL);
		if (!ret)
			ret = rpma_flush(conn, dst, at, GROUP * size, RPMA_FLUSH_TYPE_PERSISTENT,
				RPMA_F_COMPLETION_ALWAYS, NULL);
		if (!ret)
			ret = next_completion(cq_of(conn), &wc);
		if (!ret && wc.status == IBV_WC_SUCCESS)
			*durable += GROUP;
	}
	must(rpma_mr_remote_delete(&dst));
	return *durable == RECORDS;
}

int main(int argc, char **argv)
{
	static struct record records[RECORDS];
	struct rpma_mr_local *src;
	int durable = 0, tries = 0;
	bool done = false;

	if (argc != 3)
		quit("usage: client ADDR PORT\n");
	for (int i = 0; i < RECORDS; i++)
		snprintf(records[i].text, sizeof(records[i].text), "record %d", i + 1);
	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	must(rpma_mr_reg(peer, records, sizeof(records), RPMA_MR_USAGE_WRITE_SRC, &src));
	while (!done) {
		struct rpma_conn *conn = try_to_join(peer, argv);

		if (!conn && ++tries == 100)
			quit("client: the server does not come back\n");
		done = conn && replay(conn, src, &durable);
		if (conn && !done)
			printf("client: the connection is gone, %d records are durable\n", durable);
		if (!conn)
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		if (conn)
			rpma_conn_disconnect(conn);
		rpma_conn_delete(&conn);
	}
	printf("client: all %d records are durable\n", durable);
	must(rpma_mr_dereg(&src));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
