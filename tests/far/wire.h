/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * wire.h -- a network namespace with one address, whose packets go through our hands
 *
 * What goes to an own address never leaves the kernel, as the table "local" is looked at
 * before all rules. Here a rule before it sends what is made in the namespace and goes to
 * WIRE_ADDR to a TUN device, and what comes from that device has arrived. So a program
 * that talks to itself at WIRE_ADDR does so by way of whoever reads packets from the
 * device and writes them back. The loopback is as ever.
 */

#ifndef TESTS_FAR_WIRE_H
#define TESTS_FAR_WIRE_H 1

#define WIRE_ADDR "10.77.0.1"
#define WIRE_DEV "slow0"

/*
 * This process, which has one thread, goes to such a namespace; one that is not root gets
 * a user namespace with it. Returns the device, not blocking; -1: it cannot be had here,
 * and *lacking and errno tell what.
 */
int wire_open(unsigned mtu, const char **lacking);

#endif /* TESTS_FAR_WIRE_H */
