/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* crowd.c -- many threads on shared peers, endpoints and receive queues */

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "pair_hall.h"
#include "pair_thread.h"

enum { THREADS = 6 };

/* How many rounds, where more of them find more: RPMA_TEST_ROUNDS times as many. */
static int rounds(int n)
{
	const char *s = getenv("RPMA_TEST_ROUNDS");

	return s ? n * atoi(s) : n;
}

/* ---- whole lives on one peer --------------------------------------------- */

/* Each thread has an endpoint of its own; the two peers are everybody's. */
static void *live_and_let_live(void *arg)
{
	const struct net *shared = arg;
	struct net n = *shared;

	listen_at(n.peer[SERVER], n.addr, &n.ep, n.port);
	for (int i = 0; i < rounds(8); i++) {
		struct field f;

		field_connect(&f, &n, NULL, 4096);
		for (int k = 0; k < OP_COUNT; k++) {
			struct xfer x = field_xfer(&f, k % 2, ops[k].unit ? 8 : 4096, CTX(k));

			if (ops[k].recv_opcode >= 0)
				post_recv(&f.pair.side[!(k % 2)], &f.mem[!(k % 2)], 4096, CTX(99));
			op_post(&ops[k], &x);
			expect_done(&f.pair.side[k % 2], CTX(k));
			if (ops[k].recv_opcode >= 0)
				expect_recv(&f.pair.side[!(k % 2)], CTX(99));
		}
		field_close(&f);
	}
	assert_ok(rpma_ep_shutdown(&n.ep));
	return NULL;
}

static void lives_on_one_peer(void **state)
{
	pthread_t t[THREADS];
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < THREADS; i++)
		t[i] = thread_start(live_and_let_live, &n);
	for (int i = 0; i < THREADS; i++)
		thread_join(t[i]);
	net_close(&n);
}

/* ---- the end of an endpoint ---------------------------------------------- */

struct acceptor {
	struct rpma_ep *ep;
	_Atomic pid_t tid;
};

/* One wait: for a request, or the end of the endpoint. */
static void *accept_one(void *arg)
{
	struct acceptor *a = arg;
	struct rpma_conn_req *req = NULL;

	atomic_store(&a->tid, gettid());
	if (rpma_ep_next_conn_req(a->ep, NULL, &req) == 0)
		assert_ok(rpma_conn_req_delete(&req));
	else
		assert_null(req);
	return NULL;
}

/* Whatever becomes of it. */
static void *knock(void *arg)
{
	struct net *n = arg;
	struct rpma_conn *conn = client_start(n, NULL);
	enum rpma_conn_event event = next_event(conn);

	assert_true(event == RPMA_CONN_REJECTED || event == RPMA_CONN_LOST);
	assert_ok(rpma_conn_delete(&conn));
	return NULL;
}

/* In every second round clients come at the same moment. */
static void shutdown_while_accepting(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < rounds(40); i++) {
		struct acceptor a = { .ep = n.ep };
		pthread_t waiter = thread_start(accept_one, &a), client[3];
		int clients = i % 2 ? 3 : 0;

		while (atomic_load(&a.tid) == 0)
			sched_yield();
		thread_wait_asleep(a.tid);
		for (int k = 0; k < clients; k++)
			client[k] = thread_start(knock, &n);
		assert_ok(rpma_ep_shutdown(&n.ep));
		thread_join(waiter);
		for (int k = 0; k < clients; k++)
			thread_join(client[k]);
		listen_at(n.peer[SERVER], n.addr, &n.ep, n.port);
	}
	net_close(&n);
}

/* ---- clients that go at once ---------------------------------------------- */

struct hasty {
	struct net *net;
	unsigned seed;
	atomic_bool *over;
};

static void *come_and_go(void *arg)
{
	struct hasty *h = arg;

	while (!atomic_load(h->over)) {
		struct rpma_conn *conn = NULL;
		struct rpma_conn_req *req = client_req(h->net, NULL);

		if (rand_r(&h->seed) % 8 == 0) {
			assert_ok(rpma_conn_req_delete(&req));
			continue;
		}
		/* A port that nobody listens on may refuse on the spot: an event, too. */
		assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
		if (rand_r(&h->seed) % 2)
			next_event(conn);
		if (rand_r(&h->seed) % 2)
			assert_ok(rpma_conn_disconnect(conn));
		assert_ok(rpma_conn_delete(&conn));
	}
	return NULL;
}

static void serve_some(struct rpma_ep *ep, int n, unsigned *seed)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	for (int i = 0; i < n; i++) {
		if (rpma_ep_next_conn_req(ep, NULL, &req) != 0) {
			sched_yield();
			continue;
		}
		if (rand_r(seed) % 3 == 0) {
			assert_ok(rpma_conn_req_delete(&req));
			continue;
		}
		assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
		if (rand_r(seed) % 2)
			next_event(conn);
		assert_ok(rpma_conn_delete(&conn));
	}
}

/* The endpoint goes and comes back on its port while they knock. */
static void hasty_clients(void **state)
{
	struct hasty h[THREADS];
	pthread_t t[THREADS];
	atomic_bool over = false;
	unsigned seed = 1;
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	for (unsigned i = 0; i < THREADS; i++) {
		h[i] = (struct hasty){ &n, i, &over };
		t[i] = thread_start(come_and_go, &h[i]);
	}
	for (int i = 0; i < rounds(20); i++) {
		assert_ok(rpma_ep_get_fd(n.ep, &fd));
		set_nonblock(fd);
		serve_some(n.ep, rand_r(&seed) % 64, &seed);
		assert_ok(rpma_ep_shutdown(&n.ep));
		assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	}
	atomic_store(&over, true);
	assert_ok(rpma_ep_shutdown(&n.ep));
	for (int i = 0; i < THREADS; i++)
		thread_join(t[i]);
	assert_ok(rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &n.ep));
	net_close(&n);
}

/* ---- one queue of receives for all ----------------------------------------- */

enum { MESSAGES = 200 };

static void *send_many(void *arg)
{
	struct pair *p = arg;
	struct region r;

	region_open(&r, p->side[CLIENT].peer, SLOT, USAGE_ALL);
	for (uint64_t i = 0; i < MESSAGES; i++)
		send_seed(&p->side[CLIENT], &r, p->side[SERVER].qp_num * 1000ull + i);
	region_close(&r);
	return NULL;
}

/* In order per connection, nothing lost, with fewer receives than senders. */
static void many_on_one_srq(void **state)
{
	uint64_t got[THREADS] = { 0 };
	struct pair p[THREADS];
	pthread_t t[THREADS];
	struct hall h;

	(void)state;
	hall_open(&h, 4, 4);
	for (int i = 0; i < THREADS; i++)
		pair_connect(&p[i], &h.net, &h.opts);
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(post_slot(&h, i));
	for (int i = 0; i < THREADS; i++)
		t[i] = thread_start(send_many, &p[i]);
	for (int n = 0; n < THREADS * MESSAGES; n++) {
		struct ibv_wc wc = next_shared(&h);
		int i = 0;

		while (i < THREADS && p[i].side[SERVER].qp_num != wc.qp_num)
			i++;
		assert_true(i < THREADS);
		assert_filled(h.mem.data + wc.wr_id * SLOT, SLOT, wc.qp_num * 1000ull + got[i]++);
		assert_ok(post_slot(&h, wc.wr_id));
	}
	for (int i = 0; i < THREADS; i++)
		thread_join(t[i]);
	for (int i = 0; i < THREADS; i++)
		pair_close(&p[i]);
	hall_close(&h);
}

/* ---- a connection that is used from all sides when it ends ----------------- */

struct crew {
	struct field f;
	int side;
	atomic_int posted[SIDES];
	atomic_bool over;
};

struct member {
	struct crew *crew;
	int side;
};

static void *post_to_the_end(void *arg)
{
	struct member *m = arg;

	while (!atomic_load(&m->crew->over)) {
		struct xfer x = field_xfer(&m->crew->f, m->side, 64, NULL);

		if (ops[OP_WRITE].post(&x) == 0)
			atomic_fetch_add(&m->crew->posted[m->side], 1);
		else
			sched_yield();
	}
	return NULL;
}

/* Every request accepted completes once, whoever ended the connection when. */
static void *count_completions(void *arg)
{
	struct member *m = arg;
	struct side *s = &m->crew->f.pair.side[m->side];
	struct ibv_wc wc[8];
	int got, n = 0;

	for (;;) {
		while (rpma_cq_get_wc(s->cq, 8, wc, &got) == 0)
			n += got;
		if (atomic_load(&m->crew->over) && n == atomic_load(&m->crew->posted[m->side]))
			return NULL;
		sched_yield();
	}
}

static void end_in_full_use(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < rounds(20); i++) {
		struct crew crew = { .over = false };
		struct member m[SIDES] = { { &crew, CLIENT }, { &crew, SERVER } };
		pthread_t t[6];

		field_connect(&crew.f, &n, NULL, 64);
		for (int k = 0; k < 4; k++)
			t[k] = thread_start(post_to_the_end, &m[k % 2]);
		for (int k = 0; k < 2; k++)
			t[4 + k] = thread_start(count_completions, &m[k]);
		while (atomic_load(&crew.posted[i % 2]) < i * 3)
			sched_yield();
		assert_ok(rpma_conn_disconnect(crew.f.pair.side[i / 2 % 2].conn));
		for (int s = 0; s < SIDES; s++)
			expect_end(crew.f.pair.side[s].conn);
		atomic_store(&crew.over, true);
		for (int k = 0; k < 6; k++)
			thread_join(t[k]);
		field_drop(&crew.f);
	}
	net_close(&n);
}

/* ---- memory that goes while others write into it ---------------------------- */

static void *write_until_refused(void *arg)
{
	struct field *f = arg;
	struct side *s = &f->pair.side[CLIENT];
	struct ibv_wc wc;
	int n = 0;

	do {
		struct xfer x = field_xfer(f, CLIENT, 4096, CTX(n++));

		op_post(&ops[n % 2 ? OP_WRITE : OP_READ], &x);
		next_wc(s, s->cq, &wc);
	} while (wc.status == IBV_WC_SUCCESS);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	return NULL;
}

/* After rpma_mr_dereg() the memory is the program's again: it may be unmapped. */
static void memory_goes_under_traffic(void **state)
{
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < rounds(20); i++) {
		void *map = mmap(
			NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct rpma_mr_remote *kept;
		struct rpma_mr_local *mr = NULL;
		struct field f;
		pthread_t t;

		assert_ptr_not_equal(map, MAP_FAILED);
		field_connect(&f, &n, NULL, 4096);
		assert_ok(rpma_mr_reg(n.peer[SERVER], map, 4096, USAGE_ALL, &mr));
		kept = f.mem[SERVER].remote;
		f.mem[SERVER].remote = remote_of(mr);
		t = thread_start(write_until_refused, &f);
		for (int k = 0; k < i * 10; k++)
			sched_yield();
		assert_ok(rpma_mr_dereg(&mr));
		assert_int_equal(munmap(map, 4096), 0);
		thread_join(t);
		assert_ok(rpma_mr_remote_delete(&f.mem[SERVER].remote));
		f.mem[SERVER].remote = kept;
		field_drop(&f);
	}
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives_on_one_peer),
		cmocka_unit_test(shutdown_while_accepting),
		cmocka_unit_test(hasty_clients),
		cmocka_unit_test(many_on_one_srq),
		cmocka_unit_test(end_in_full_use),
		cmocka_unit_test(memory_goes_under_traffic),
	};

	test_init();
	threads_init();
	return cmocka_run_group_tests_name("stress-crowd", tests, NULL, NULL);
}
