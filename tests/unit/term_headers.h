/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* term_headers.h -- headers of segments that a Terminate can be about */

#ifndef RPMA_UNIT_TERM_HEADERS_H
#define RPMA_UNIT_TERM_HEADERS_H 1

#define HDR_WRITE "c1 40 de ad 00 00 00 00 00 00 00 00 10 00"
#define HDR_SEND "41 43 00 00 00 00 00 00 00 00 00 00 00 05 00 00 00 00"
#define HDR_READ "41 41 00 00 00 00 00 00 00 01 00 00 00 07 00 00 00 00"
#define READ_REQ                                                                                   \
	"00 12 f4 00 00 00 55 00 aa bb c0 00 00 00 00 40 de ad 00 00 00 00 7f 00 11 22 33 44"

#endif /* RPMA_UNIT_TERM_HEADERS_H */
