/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * near.c -- the congestion control of the library's sockets: the plain one within the
 * loopback, elsewhere the system's
 *
 * Both ends of a connection, and the listener, are descriptors of this process.
 */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair_ops.h"

#define NAME_LEN 16

static bool control_of(int fd, char name[NAME_LEN])
{
	socklen_t len = NAME_LEN;

	memset(name, 0, NAME_LEN);
	return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0;
}

static void system_control(char name[NAME_LEN])
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(control_of(fd, name));
	close(fd);
}

/* Of this process's TCP sockets that listen, or do not, so many are there and have this
 * congestion control. */
static void check_sockets(int listening, int count, const char *name, const char *where)
{
	char its[NAME_LEN];
	int n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		int yes = 0;
		socklen_t len = sizeof(yes);

		if (!control_of(fd, its) ||
			getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) != 0 ||
			yes != listening)
			continue;
		n++;
		if (strcmp(its, name) != 0)
			fail_msg("%s: %s of a socket that %s, expected %s", where, its,
				listening ? "listens" : "is connected", name);
	}
	if (n != count)
		fail_msg("%s: %d sockets, expected %d", where, n, count);
}

/* A connection to connect_addr, and an endpoint at listen_addr: what they have */
static void connect_over(const char *listen_addr, const char *connect_addr, const char *listener,
	const char *connected)
{
	struct pair p;
	struct net n;

	net_open_over(&n, listen_addr, connect_addr);
	check_sockets(1, 1, listener, listen_addr);
	pair_connect(&p, &n, NULL);
	check_sockets(0, SIDES, connected, listen_addr);
	pair_exchange(&p);
	pair_close(&p);
	net_close(&n);
}

static void reno_within_the_loopback(void **state)
{
	(void)state;
	connect_over("127.0.0.1", "127.0.0.1", "reno", "reno");
	connect_over("127.0.0.2", "127.0.0.2", "reno", "reno");
}

static void reno_within_the_ipv6_loopback(void **state)
{
	(void)state;
	connect_over("::1", "::1", "reno", "reno");
}

/* A listener that is open to all is not near; who comes to it over the loopback is. */
static void reno_from_a_wildcard(void **state)
{
	char other[NAME_LEN];

	(void)state;
	system_control(other);
	connect_over("0.0.0.0", "127.0.0.1", other, "reno");
}

static void reno_from_an_ipv6_wildcard(void **state)
{
	char other[NAME_LEN];

	(void)state;
	system_control(other);
	connect_over("::", "::1", other, "reno");
}

/* An IPv4 address of this host beside the loopback */
static bool find_address(char text[INET_ADDRSTRLEN])
{
	struct ifaddrs *all, *i;

	assert_int_equal(getifaddrs(&all), 0);
	for (i = all; i != NULL; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP &&
			!(i->ifa_flags & IFF_LOOPBACK))
			break;
	if (i != NULL)
		inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, text,
			INET_ADDRSTRLEN);
	freeifaddrs(all);
	return i != NULL;
}

static void other_addresses_are_left_alone(void **state)
{
	char other[NAME_LEN], addr[INET_ADDRSTRLEN];

	(void)state;
	system_control(other);
	if (!find_address(addr)) {
		print_message("this host has no address but the loopback's\n");
		skip();
	}
	if (strcmp(other, "reno") == 0) {
		print_message("this system has reno everywhere\n");
		skip();
	}
	connect_over(addr, addr, other, other);
	connect_over("0.0.0.0", addr, other, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reno_within_the_loopback),
		cmocka_unit_test(reno_within_the_ipv6_loopback),
		cmocka_unit_test(reno_from_a_wildcard),
		cmocka_unit_test(reno_from_an_ipv6_wildcard),
		cmocka_unit_test(other_addresses_are_left_alone),
	};

	test_init();
	return cmocka_run_group_tests_name("wire-near", tests, NULL, NULL);
}
