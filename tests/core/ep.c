/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * ep.c -- endpoints
 */

#include <errno.h>
#include <string.h>

#include "rig.h"

static void ep_arguments(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = POISON;
	struct rpma_conn_req *req = POISON;
	unsigned calls = fake_calls();
	int fd = 77;

	(void)state;
	assert_inval(rpma_ep_listen(NULL, "::", "0", &ep));
	assert_inval(rpma_ep_listen(peer, NULL, "0", &ep));
	assert_inval(rpma_ep_listen(peer, "::", NULL, &ep));
	assert_inval(rpma_ep_listen(peer, "::", "0", NULL));
	assert_ptr_equal(ep, POISON);
	assert_inval(rpma_ep_shutdown(NULL));
	ep = NULL;
	assert_ok(rpma_ep_shutdown(&ep));
	assert_inval(rpma_ep_get_fd(NULL, &fd));
	assert_inval(rpma_ep_next_conn_req(NULL, NULL, &req));
	assert_int_equal(fake_calls(), calls);

	ep = rig_ep(peer);
	assert_inval(rpma_ep_get_fd(ep, NULL));
	assert_int_equal(fd, 77);
	assert_inval(rpma_ep_next_conn_req(ep, NULL, NULL));
	assert_ptr_equal(req, POISON);
	assert_ok(rpma_ep_get_fd(ep, &fd));
	assert_true(fd >= 500);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_null(ep);
	assert_ok(rpma_peer_delete(&peer));
}

static void listen_tells_where(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = POISON;

	(void)state;
	fake_fail(FAKE_LISTENER_CREATE, EADDRINUSE);
	assert_int_equal(rpma_ep_listen(peer, "fe80::1%x", "http", &ep), RPMA_E_PROVIDER);
	assert_ptr_equal(ep, POISON);
	assert_non_null(strstr(rig_log_text(), "fe80::1%x"));
	assert_non_null(strstr(rig_log_text(), "http"));
	assert_non_null(strstr(rig_log_text(), strerror(EADDRINUSE)));

	assert_ok(rpma_ep_listen(peer, "fe80::1%x", "http", &ep));
	assert_string_equal(fake_last(FAKE_LISTENER_CREATE)->addr, "fe80::1%x");
	assert_string_equal(fake_last(FAKE_LISTENER_CREATE)->port, "http");
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_NOTICE), 1);
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

/* Nothing there is no failure: no record. */
static void next_conn_req_results(void **state)
{
	static const struct {
		int err;
		int code;
		unsigned errors;
	} cases[] = {
		{ 0, RPMA_E_NO_EVENT, 0 },
		{ EAGAIN, RPMA_E_NO_EVENT, 0 },
		{ ENODATA, RPMA_E_NO_EVENT, 0 },
		{ EMFILE, RPMA_E_PROVIDER, 1 },
		{ ENOMEM, RPMA_E_PROVIDER, 1 },
		{ EPROTO, RPMA_E_PROVIDER, 1 },
		{ ECANCELED, RPMA_E_PROVIDER, 0 },
	};
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_req *req = POISON;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_fail(FAKE_LISTENER_NEXT, cases[i].err);
		rig_log_forget();
		assert_int_equal(rpma_ep_next_conn_req(ep, NULL, &req), cases[i].code);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), cases[i].errors);
		assert_ptr_equal(req, POISON);
	}
	assert_ok(rpma_ep_shutdown(&ep));
	assert_ok(rpma_peer_delete(&peer));
}

static void shut_down(void *ep_ptr)
{
	assert_ok(rpma_ep_shutdown(ep_ptr));
}

static struct {
	struct rpma_ep *ep;
	struct rpma_peer *peer;
} going;

static void shut_down_all(void *arg)
{
	(void)arg;
	assert_ok(rpma_ep_shutdown(&going.ep));
	assert_ok(rpma_peer_delete(&going.peer));
}

/* The endpoint goes while a thread waits in it; the memory checkers see whether
 * it is touched afterwards. */
static void shutdown_while_waiting(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_ep *ep = rig_ep(peer);
	struct rpma_conn_req *req = POISON;

	(void)state;
	fake_hook(FAKE_LISTENER_NEXT, shut_down, &ep);
	fake_fail(FAKE_LISTENER_NEXT, ECANCELED);
	assert_int_equal(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER);
	assert_null(ep);

	/* The peer, too, may go before that thread has left. */
	going.ep = rig_ep(peer);
	going.peer = peer;
	fake_hook(FAKE_LISTENER_NEXT, shut_down_all, NULL);
	fake_fail(FAKE_LISTENER_NEXT, ECANCELED);
	assert_int_equal(rpma_ep_next_conn_req(going.ep, NULL, &req), RPMA_E_PROVIDER);
	assert_null(going.peer);
	assert_ptr_equal(req, POISON);

	peer = rig_peer();
	ep = rig_ep(peer);
	fake_push_request();
	fake_hook(FAKE_LISTENER_NEXT, shut_down, &ep);
	assert_ok(rpma_ep_next_conn_req(ep, NULL, &req));
	assert_null(ep);
	assert_ok(rpma_conn_req_delete(&req));
	assert_ok(rpma_peer_delete(&peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(ep_arguments),
		rig_test(listen_tells_where),
		rig_test(next_conn_req_results),
		rig_test(shutdown_while_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
