/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* lives.c -- situations of connections that begin, fail and end */

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pair_link.h"
#include "pair_log.h"
#include "pair_wait.h"

/* What must not grow: descriptors, threads, bytes on the heap */
struct level {
	int fds;
	int threads;
	size_t heap;
};

static struct level level_now(void)
{
	return (struct level){ count_self("fd"), count_self("task"), mallinfo2().uordblks };
}

/* The heap may differ by what is kept for later, not by something per round. */
static void check_level(const struct level *before, int rounds)
{
	settle_self("fd", before->fds);
	settle_self("task", before->threads);
	assert_true(mallinfo2().uordblks < before->heap + 65536 + (size_t)rounds * 8);
}

/* ---- B01 ------------------------------------------------------------------- */

static void b01_connect_where_nobody_listens_any_more(void **state)
{
	struct level before;
	struct net n;

	(void)state;
	require_trait(refuses_late);
	net_open(&n);
	for (int i = 0; i < 1000; i++) {
		struct rpma_conn_req *req = client_req(&n, NULL);
		struct rpma_conn *conn = NULL;

		if (i == 0)
			assert_ok(rpma_ep_shutdown(&n.ep));
		if (i == 10)
			before = level_now();
		assert_ok(rpma_conn_req_connect(&req, NULL, &conn));
		assert_null(req);
		expect_event(conn, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&conn));
	}
	check_level(&before, 990);
	net_close(&n);
}

/* ---- B03, B07 ---------------------------------------------------------------- */

static void b03_most_private_data_many_times(void **state)
{
	const size_t most[SIDES] = { traits()->request_data, traits()->accept_data };
	char data[255];
	struct pair_opts o = { .side = {
				       { .data = data, .data_len = (uint8_t)most[CLIENT] },
				       { .data = data, .data_len = (uint8_t)most[SERVER] },
			       } };
	struct level before;
	struct net n;

	(void)state;
	fill(data, sizeof(data), 3);
	net_open(&n);
	for (int i = 0; i < 1000; i++) {
		struct pair p;

		if (i == 20)
			before = level_now();
		pair_connect(&p, &n, &o);
		for (int s = 0; s < SIDES; s++) {
			struct rpma_conn_private_data got = { 0 };

			assert_ok(rpma_conn_get_private_data(p.side[s].conn, &got));
			assert_int_equal(got.len, most[!s]);
			assert_memory_equal(got.ptr, data, most[!s]);
		}
		pair_close(&p);
	}
	check_level(&before, 980);
	net_close(&n);
}

static void b07_requests_deleted_by_the_server(void **state)
{
	struct level before;
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 3000; i++) {
		struct rpma_conn *conn = client_start(&n, NULL);
		struct rpma_conn_req *req = server_req(&n, NULL);

		if (i == 20)
			before = level_now();
		assert_ok(rpma_conn_req_delete(&req));
		expect_event(conn, RPMA_CONN_REJECTED);
		assert_ok(rpma_conn_delete(&conn));
	}
	check_level(&before, 2980);
	net_close(&n);
}

/* ---- B06 ------------------------------------------------------------------- */

static void b06_deleted_with_a_flush_under_way(void **state)
{
	const size_t size = 8 << 20;
	struct level before = level_now();
	struct net n;

	(void)state;
	require_trait(any_file);
	net_open(&n);
	for (int i = 0; i < 20; i++) {
		FILE *file = tmpfile();
		struct rpma_mr_local *mr = NULL;
		struct field f;
		char *map;

		assert_non_null(file);
		assert_int_equal(ftruncate(fileno(file), (off_t)size), 0);
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
		assert_ptr_not_equal(map, MAP_FAILED);
		field_connect(&f, &n, NULL, 4096);
		assert_ok(rpma_mr_reg(n.peer[SERVER], map, size, USAGE_ALL, &mr));
		assert_ok(rpma_mr_remote_delete(&f.mem[SERVER].remote));
		f.mem[SERVER].remote = remote_of(mr);
		memset(map, i, size);
		for (int k = 0; k < 4; k++) {
			struct xfer x = field_xfer(&f, CLIENT, size, CTX(k));

			op_post(&ops[OP_FLUSH_PERSISTENT], &x);
		}
		for (int s = 0; s < SIDES; s++)
			assert_ok(rpma_conn_delete(&f.pair.side[i % 2 ? s : !s].conn));
		assert_ok(rpma_mr_dereg(&mr));
		munmap(map, size);
		fclose(file);
		field_drop(&f);
	}
	net_close(&n);
	settle_self("fd", before.fds);
	settle_self("task", before.threads);
}

/* ---- B48 ------------------------------------------------------------------- */

static void b48_disconnected_too_often(void **state)
{
	struct rpma_conn *cli, *srv;
	struct link l;
	struct net n;

	(void)state;
	net_open(&n);
	for (int i = 0; i < 100; i++) {
		cli = client_start(&n, NULL);
		srv = server_start(&n, NULL);
		if (i % 2) /* else before it is established, perhaps */
			expect_event(cli, RPMA_CONN_ESTABLISHED);
		for (int k = 0; k < 2; k++) {
			assert_ok(rpma_conn_disconnect(cli));
			assert_ok(rpma_conn_disconnect(srv));
		}
		while (next_event(cli) == RPMA_CONN_ESTABLISHED)
			;
		while (next_event(srv) == RPMA_CONN_ESTABLISHED)
			;
		assert_ok(rpma_conn_disconnect(cli));
		assert_ok(rpma_conn_disconnect(srv));
		expect_no_event(cli);
		expect_no_event(srv);
		assert_ok(rpma_conn_delete(&cli));
		assert_ok(rpma_conn_delete(&srv));
	}
	/* before anybody has heard of it; a device then goes on asking for long */
	for (int i = 0; i < 20 && !traits()->device; i++) {
		cli = client_start(&n, NULL);
		for (int k = 0; k < 3; k++)
			assert_ok(rpma_conn_disconnect(cli));
		expect_event(cli, RPMA_CONN_CLOSED);
		expect_no_event(cli);
		assert_ok(rpma_conn_delete(&cli));
	}
	net_close(&n);
	link_open(&l, CLIENT);
	child_kill(&l.child);
	expect_end(l.side.conn);
	assert_ok(rpma_conn_disconnect(l.side.conn)); /* after LOST */
	expect_no_event(l.side.conn);
	link_close(&l);
}

/* ---- B51 ------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock; /* records come from the library's threads, too */
	char text[1024];
} cause = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_cause(const char *text)
{
	pthread_mutex_lock(&cause.lock);
	snprintf(cause.text, sizeof(cause.text), "%s", text);
	pthread_mutex_unlock(&cause.lock);
}

/* The last record names this error; the next one is to be another. */
static bool caused_by(int err)
{
	bool named;

	pthread_mutex_lock(&cause.lock);
	named = strstr(cause.text, strerror(err)) != NULL;
	cause.text[0] = '\0';
	pthread_mutex_unlock(&cause.lock);
	return named;
}

static void b51_the_system_says_why(void **state)
{
	struct rlimit old, low;
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;
	struct net n;
	int ret;

	(void)state;
	net_open(&n);
	log_hear(RPMA_LOG_LEVEL_WARNING, keep_cause);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 3; /* all taken: descriptors are looked for below the limit */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	ret = rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &ep);
	assert_true(ret == RPMA_E_PROVIDER || ret == RPMA_E_NOMEM);
	assert_true(caused_by(EMFILE));
	ret = rpma_conn_req_new(n.peer[CLIENT], n.addr, n.port, NULL, &req);
	assert_true(ret == RPMA_E_PROVIDER || ret == RPMA_E_NOMEM);
	assert_true(caused_by(EMFILE));
	assert_null(req);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_rpma(RPMA_E_PROVIDER, rpma_ep_listen(n.peer[SERVER], n.addr, n.port, &ep));
	assert_true(caused_by(EADDRINUSE));
	assert_ok(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	net_close(&n);
}

/* The server is out of descriptors for a while: clients wait, they are not lost. */
static void b51_out_of_descriptors_when_clients_come(void **state)
{
	struct rlimit old, low;
	struct rpma_conn *cli, *srv;
	struct net n;
	int fd = -1;

	(void)state;
	net_open(&n);
	log_hear(RPMA_LOG_LEVEL_WARNING, keep_cause);
	cli = client_start(&n, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_ok(rpma_ep_get_fd(n.ep, &fd));
	poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 50); /* accepted, or not */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	srv = server_start(&n, NULL);
	expect_event(cli, RPMA_CONN_ESTABLISHED);
	expect_event(srv, RPMA_CONN_ESTABLISHED);
	assert_ok(rpma_conn_delete(&cli));
	assert_ok(rpma_conn_delete(&srv));
	assert_ok(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	net_close(&n);
}

/* ---- B53 ------------------------------------------------------------------- */

/* As long as the connection object: also when the connection has ended. */
static void b53_private_data_outlives_the_connection(void **state)
{
	struct pair_opts o = { .side = {
				       { .data = "from the client", .data_len = 16 },
				       { .data = "from the server", .data_len = 16 },
			       } };
	struct rpma_conn_private_data before, after;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (int s = 0; s < SIDES; s++)
		assert_ok(rpma_conn_get_private_data(p.side[s].conn, &before));
	pair_disconnect(&p);
	for (int s = 0; s < SIDES; s++) {
		assert_ok(rpma_conn_get_private_data(p.side[s].conn, &after));
		assert_string_equal(after.ptr, o.side[!s].data);
	}
	assert_ptr_equal(before.ptr, after.ptr);
	pair_drop(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b01_connect_where_nobody_listens_any_more),
		cmocka_unit_test(b03_most_private_data_many_times),
		cmocka_unit_test(b06_deleted_with_a_flush_under_way),
		cmocka_unit_test(b07_requests_deleted_by_the_server),
		cmocka_unit_test(b48_disconnected_too_often),
		cmocka_unit_test(b51_the_system_says_why),
		cmocka_unit_test(b51_out_of_descriptors_when_clients_come),
		cmocka_unit_test(b53_private_data_outlives_the_connection),
	};

	test_init();
	if (argc > 1)
		return link_be(argv[1], argc > 2 ? argv[2] : NULL);
	return cmocka_run_group_tests_name("situations-lives", tests, NULL, NULL);
}
