/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* wire.c -- see wire.h */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

enum {
	TABLE = 77,
	RULE_WIRE = 10,
	RULE_LOCAL = 100, /* what is usually rule 0 */
	QUEUE = 8192,	  /* packets; none is lost but those that are to be */
};

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

/* ---- the namespace ------------------------------------------------------------- */

/* Everybody stays who he is. */
static int map_ids(uid_t uid, gid_t gid)
{
	char line[64];

	if (write_file("/proc/self/setgroups", "deny"))
		return -1;
	snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", line))
		return -1;
	snprintf(line, sizeof(line), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", line);
}

static int enter(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -1;
	return map_ids(uid, gid);
}

/* ---- devices -------------------------------------------------------------------- */

static int device_up(int sock, const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_UP };

	strcpy(r.ifr_name, name);
	return ioctl(sock, SIOCSIFFLAGS, &r);
}

static int set_device(int sock, unsigned mtu)
{
	struct ifreq r = { .ifr_name = WIRE_DEV };
	struct sockaddr_in *sin = (struct sockaddr_in *)&r.ifr_addr;

	r.ifr_mtu = (int)mtu;
	if (ioctl(sock, SIOCSIFMTU, &r))
		return -1;
	r.ifr_qlen = QUEUE;
	(void)ioctl(sock, SIOCSIFTXQLEN, &r); /* only root may */
	*sin = (struct sockaddr_in){ .sin_family = AF_INET };
	inet_pton(AF_INET, WIRE_ADDR, &sin->sin_addr);
	if (ioctl(sock, SIOCSIFADDR, &r))
		return -1;
	return device_up(sock, WIRE_DEV);
}

static int make_device(void)
{
	struct ifreq r = { .ifr_name = WIRE_DEV, .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && ioctl(fd, TUNSETIFF, &r)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int set_up_devices(unsigned mtu)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (sock < 0)
		return -1;
	err = device_up(sock, "lo") || set_device(sock, mtu) ? -1 : 0;
	close(sock);
	return err;
}

/* ---- routes ----------------------------------------------------------------------- */

/* A request to the kernel: both kinds of header have the same size. */
struct request {
	struct nlmsghdr hdr;
	union {
		struct rtmsg route;
		struct fib_rule_hdr rule;
	};
	uint8_t attrs[128];
};

static struct request new_request(int type, int flags)
{
	struct request r = { 0 };

	r.hdr.nlmsg_len = NLMSG_LENGTH(sizeof(r.route));
	r.hdr.nlmsg_type = (uint16_t)type;
	r.hdr.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	r.route.rtm_family = AF_INET;
	return r;
}

static void add(struct request *r, int type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)((uint8_t *)r + NLMSG_ALIGN(r->hdr.nlmsg_len));

	a->rta_type = (uint16_t)type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	r->hdr.nlmsg_len = NLMSG_ALIGN(r->hdr.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static void add_number(struct request *r, int type, uint32_t number)
{
	add(r, type, &number, sizeof(number));
}

static void add_address(struct request *r, int type)
{
	struct in_addr a;

	inet_pton(AF_INET, WIRE_ADDR, &a);
	add(r, type, &a, sizeof(a));
}

static int ask(int sock, const struct request *r)
{
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		uint8_t rest[512];
	} answer;

	if (send(sock, r, r->hdr.nlmsg_len, 0) < 0 || recv(sock, &answer, sizeof(answer), 0) < 0)
		return -1;
	errno = -answer.err.error;
	return errno ? -1 : 0;
}

static int route_to_device(int sock)
{
	struct request r = new_request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);

	r.route.rtm_table = TABLE;
	r.route.rtm_protocol = RTPROT_BOOT;
	r.route.rtm_scope = RT_SCOPE_LINK;
	r.route.rtm_type = RTN_UNICAST;
	add_number(&r, RTA_OIF, if_nametoindex(WIRE_DEV));
	add_address(&r, RTA_PREFSRC);
	return ask(sock, &r);
}

static int rule(int sock, int type, uint8_t table, uint32_t pref, bool ours_to_addr)
{
	struct request r = new_request(type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0);

	r.rule.table = table;
	r.rule.action = FR_ACT_TO_TBL;
	add_number(&r, FRA_PRIORITY, pref);
	if (ours_to_addr) {
		r.rule.dst_len = 32;
		add_address(&r, FRA_DST);
		add(&r, FRA_IIFNAME, "lo", sizeof("lo"));
	}
	return ask(sock, &r);
}

static int set_routes(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err;

	if (sock < 0)
		return -1;
	err = route_to_device(sock) || rule(sock, RTM_NEWRULE, RT_TABLE_LOCAL, RULE_LOCAL, false) ||
	      rule(sock, RTM_NEWRULE, TABLE, RULE_WIRE, true) ||
	      rule(sock, RTM_DELRULE, RT_TABLE_LOCAL, 0, false);
	close(sock);
	return err ? -1 : 0;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Packets of our own may come in. How TCP answers to losses is not left to the machine:
 * with the plain algorithm it takes four times as long. */
static int set_system(void)
{
	static const char ipv4[] = "/proc/sys/net/ipv4/";
	static const char *const settings[][2] = {
		{ "conf/" WIRE_DEV "/accept_local", "1" },
		{ "conf/" WIRE_DEV "/rp_filter", "0" },
		{ "conf/all/rp_filter", "0" },
	};
	char path[128];

	(void)write_file("/proc/sys/net/ipv6/conf/" WIRE_DEV "/disable_ipv6", "1");
	(void)write_file("/proc/sys/net/ipv4/tcp_congestion_control", "reno");
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		snprintf(path, sizeof(path), "%s%s", ipv4, settings[i][0]);
		if (write_file(path, settings[i][1]))
			return -1;
	}
	return 0;
}

int wire_open(unsigned mtu, const char **lacking)
{
	int fd;

	*lacking = "no network namespace of our own";
	if (enter())
		return -1;
	*lacking = "no TUN device";
	fd = make_device();
	if (fd < 0)
		return -1;
	*lacking = "no such TUN device";
	if (set_up_devices(mtu))
		return -1;
	*lacking = "the system's settings cannot be written";
	if (set_system())
		return -1;
	*lacking = "no routing by rules";
	return set_routes() ? -1 : fd;
}
