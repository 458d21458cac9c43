/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * tell.c -- what the two sides of a connection tell each other while it is made:
 * the user's private data, and behind them the hello
 */

#include <string.h>

#include "verbs/verbs.h"

static const struct {
	unsigned cap;
	uint8_t hello;
} hello_bits[] = {
	{ RP_CAP_FLUSH, HELLO_FLUSH },
	{ RP_CAP_ATOMIC_WRITE, HELLO_ATOMIC_WRITE },
};

static unsigned caps_of_hello(uint8_t hello)
{
	unsigned caps = 0;

	for (size_t i = 0; i < sizeof(hello_bits) / sizeof(hello_bits[0]); i++)
		caps |= hello & hello_bits[i].hello ? hello_bits[i].cap : 0;
	return caps;
}

/* A device without capabilities of its own says nothing. */
static uint8_t hello_of_device(const struct rp_device *dev)
{
	uint8_t hello = 0;

	for (size_t i = 0; i < sizeof(hello_bits) / sizeof(hello_bits[0]); i++)
		hello |= dev->caps & hello_bits[i].cap ? hello_bits[i].hello : 0;
	return hello;
}

void rv_conn_hear(struct rv_conn *conn, const struct rdma_conn_param *param)
{
	uint8_t len = param->private_data ? param->private_data_len : 0;
	uint8_t hello = 0;

	if (conn->heard)
		return;
	conn->heard = true;
	memcpy(conn->data, param->private_data ? param->private_data : "", len);
	if (!rv_is_iwarp(conn->cm.id->verbs))
		len = hello_get(conn->data, len, &hello);
	conn->peer_caps = caps_of_hello(hello);
	rv_conn_find_caps(conn);
	if (len > 0)
		conn->base.peer_data = (struct rpma_conn_private_data){ conn->data, len };
}

/* In the kernel the length has 8 bits, and 4 bytes of MPA's own are added to it: more
 * than this goes astray without a word. */
#define IWARP_DATA_MAX 251

int rv_conn_tell(const struct rv_conn *conn, uint8_t field, const void *data, size_t len,
	uint8_t *buf, struct rdma_conn_param *param)
{
	const bool iwarp = rv_is_iwarp(conn->cm.id->verbs);
	const uint8_t hello = iwarp ? 0 : hello_of_device(conn->base.pd->dev);

	if (len > (iwarp ? IWARP_DATA_MAX : HELLO_DATA_MAX))
		return -EINVAL;
	if (len > 0)
		memcpy(buf, data, len);
	*param = (struct rdma_conn_param){
		.private_data_len = (uint8_t)len,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7, /* for ever */
	};
	if (hello)
		param->private_data_len = hello_put(buf, (uint8_t)len, field, hello);
	if (param->private_data_len > 0)
		param->private_data = buf;
	return 0;
}

void rv_conn_find_caps(struct rv_conn *conn)
{
	const unsigned peer_caps = rv_native() == RV_NATIVE_ALWAYS ? ~0U : conn->peer_caps;

	atomic_store(&conn->base.caps, conn->qp_caps & peer_caps);
}
