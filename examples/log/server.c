/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * server ADDR PORT -- see on standard error what the library has to say
 *
 * By default records of the levels WARNING and worse go to syslog, and nothing to
 * standard error. The second threshold is for the built-in function only: which of
 * these records it also writes there.
 */

#include "common/steps.h"

int main(int argc, char **argv)
{
	enum rpma_log_level level;

	if (argc != 3)
		quit("usage: server ADDR PORT\n");
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO));
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_INFO));
	must(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level));
	printf("server: records up to level %d go to standard error\n", level);

	struct rpma_peer *peer = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_ep *ep = listen_at(peer, argv);
	struct rpma_conn *conn = admit(ep, NULL, NULL);
	await_end(&conn);

	must(rpma_ep_shutdown(&ep));
	must(rpma_peer_delete(&peer));
	return EXIT_SUCCESS;
}
