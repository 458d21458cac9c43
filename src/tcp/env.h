/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * env.h -- what of the tcp provider can be set from outside, rpma_tcp(7)
 *
 * Read once, at the first use, and constant from then on. A value that is not
 * understood is told of in the log, and the default holds.
 */

#ifndef RPMA_TCP_ENV_H
#define RPMA_TCP_ENV_H 1

#include <stdbool.h>
#include <stdint.h>

struct tcp_env {
	bool crc;	    /* RPMA_TCP_CRC=on|off: we ask for MPA CRC32c */
	bool caps;	    /* RPMA_TCP_CAPS=on|off: tell the other side that we
				 * are this library (flush, atomic write, immediate) */
	unsigned depth;	    /* RPMA_TCP_DEPTH, 1..128: inbound and outbound reads
				 * (IRD, ORD) */
	unsigned max_ulpdu; /* RPMA_TCP_MAX_ULPDU, 128..64768: ULPDU_Length we send
				 * to a peer that takes it */
	int handshake_ms;   /* RPMA_TCP_HANDSHAKE_MS: a stranger has this long to
				 * send its request; a client this long for its first
				 * message after our reply */
	unsigned half_open; /* RPMA_TCP_HALF_OPEN: strangers at once per endpoint;
				 * one more drops the oldest */
	int dead_peer_ms;   /* RPMA_TCP_DEAD_PEER_MS: silence of the other host's
				 * TCP after which it is dead */
	int spin_us;	    /* RPMA_TCP_SPIN_US: a waiting thread looks at its
				 * connection for so long before it sleeps */
	int linger_ms;	    /* RPMA_TCP_LINGER_MS: an ending connection has this
				 * long to bring out what is posted, and again for the
				 * other side to close */
};

const struct tcp_env *tcp_env(void);

#endif /* RPMA_TCP_ENV_H */
