/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * original_end.c -- this side of connections: what most scenarios begin and end with
 */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "original.h"

#define TIMEOUT_MS 10000
#define MAP_SIZE (2 << 20) /* the least of /dev/dax */

/* Both descriptors, as the private data of each side */
struct offer {
	uint8_t mr_size;
	uint8_t cfg_size;
	char descriptors[30];
};

/* Where a device flushes by itself it wants persistent memory for that; each side has
 * a part of it. */
static char *map_memory(void)
{
	const char *dax = getenv("RPMA_TEST_DAX");
	int fd = dax && *dax ? open(dax, O_RDWR) : -1;
	char *mem = mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE,
		MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, role == SERVER ? 0 : MAP_SIZE);

	if (mem == MAP_FAILED) {
		say("no memory", "%s", dax ? dax : "");
		exit(1);
	}
	if (fd >= 0)
		close(fd);
	memset(mem, 0, MEM_SIZE);
	return mem;
}

void end_open(struct end *e, int usage)
{
	memset(e, 0, sizeof(*e));
	MUST(rpma_utils_get_ibv_context(address,
		role == SERVER ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
		&e->device));
	MUST(rpma_peer_new(e->device, &e->peer));
	e->mem = map_memory();
	MUST(rpma_mr_reg(e->peer, e->mem, MEM_SIZE, usage, &e->mr));
	if (role == SERVER)
		MUST(rpma_ep_listen(e->peer, address, port, &e->ep));
	meet();
}

void end_close(struct end *e)
{
	MUST(rpma_ep_shutdown(&e->ep));
	MUST(rpma_mr_dereg(&e->mr));
	MUST(rpma_peer_delete(&e->peer));
	munmap(e->mem, MAP_SIZE);
}

bool is_iwarp(struct ibv_context *device)
{
	return device->device->transport_type == IBV_TRANSPORT_IWARP;
}

struct rpma_conn_req *end_request(struct end *e, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_cfg *own = NULL;
	struct rpma_conn_req *req = NULL;

	if (role == SERVER) {
		must("rpma_ep_next_conn_req()", rpma_ep_next_conn_req(e->ep, cfg, &req));
		return req;
	}
	if (!cfg) {
		MUST(rpma_conn_cfg_new(&own));
		MUST(rpma_conn_cfg_set_timeout(own, TIMEOUT_MS));
	}
	must("rpma_conn_req_new()",
		rpma_conn_req_new(e->peer, address, port, cfg ? cfg : own, &req));
	MUST(rpma_conn_cfg_delete(&own));
	return req;
}

static void put_offer(const struct end *e, struct offer *offer)
{
	struct rpma_peer_cfg *cfg = NULL;
	size_t mr_size = 0, cfg_size = 0;

	memset(offer, 0, sizeof(*offer));
	MUST(rpma_peer_cfg_new(&cfg));
	MUST(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true));
	MUST(rpma_mr_get_descriptor_size(e->mr, &mr_size));
	MUST(rpma_peer_cfg_get_descriptor_size(cfg, &cfg_size));
	MUST(rpma_mr_get_descriptor(e->mr, offer->descriptors));
	MUST(rpma_peer_cfg_get_descriptor(cfg, offer->descriptors + mr_size));
	offer->mr_size = (uint8_t)mr_size;
	offer->cfg_size = (uint8_t)cfg_size;
	MUST(rpma_peer_cfg_delete(&cfg));
}

static void get_offer(struct end *e)
{
	struct rpma_conn_private_data data = { 0 };
	const struct offer *offer;
	size_t size = 0;

	MUST(rpma_conn_get_private_data(e->conn, &data));
	offer = data.ptr;
	if (data.len < sizeof(*offer)) {
		say("an offer", "of %u bytes", data.len);
		exit(1);
	}
	MUST(rpma_mr_remote_from_descriptor(offer->descriptors, offer->mr_size, &e->far));
	MUST(rpma_peer_cfg_from_descriptor(
		offer->descriptors + offer->mr_size, offer->cfg_size, &e->far_cfg));
	MUST(rpma_mr_remote_get_size(e->far, &size));
	if (size != MEM_SIZE)
		say("the other's memory", "%zu bytes", size);
}

void end_start(struct end *e, struct rpma_conn_req *req)
{
	struct offer offer;
	struct rpma_conn_private_data data = { &offer, sizeof(offer) };
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	put_offer(e, &offer);
	MUST(rpma_conn_req_connect(&req, &data, &e->conn));
	must("rpma_conn_next_event()", rpma_conn_next_event(e->conn, &event));
	if (event != RPMA_CONN_ESTABLISHED) {
		say("instead of a connection", "%s", rpma_utils_conn_event_2str(event));
		exit(1);
	}
	get_offer(e);
	MUST(rpma_conn_get_cq(e->conn, &e->cq));
	MUST(rpma_conn_get_rcq(e->conn, &e->rcq));
	if (!e->rcq)
		e->rcq = e->cq;
}

void end_connect(struct end *e)
{
	end_start(e, end_request(e, NULL));
}

void end_disconnect(struct end *e)
{
	meet();
	if (role == CLIENT)
		TELL(rpma_conn_disconnect(e->conn));
	say_event(e->conn);
	if (role == SERVER)
		TELL(rpma_conn_disconnect(e->conn));
	end_drop(e);
}

void end_open_connected(struct end *e)
{
	end_open(e, ALL_USAGE);
	end_connect(e);
}

void end_all(struct end *e)
{
	end_disconnect(e);
	end_close(e);
}

void end_drop(struct end *e)
{
	MUST(rpma_mr_remote_delete(&e->far));
	MUST(rpma_peer_cfg_delete(&e->far_cfg));
	TELL(rpma_conn_delete(&e->conn));
}
