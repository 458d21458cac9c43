/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * error.c -- the table of protocol errors
 */

#include "tcp/iwarp/error.h"

/*
 * An error that leaves the layout of the segment in doubt (framing, version,
 * opcode) takes no header along, nor does a local one.
 */
#define ERRORS(X)                                                                                  \
	X(OK, 0, 0, 0x00, NONE, "no error")                                                        \
	X(MPA_CRC, 2, 0, 0x02, NONE, "CRC mismatch")                                               \
	X(MPA_LENGTH, 2, 0, 0x03, NONE, "FPDU length does not fit its headers")                    \
	X(MPA_FRAME, 2, 0, 0x04, NONE, "invalid MPA start-up frame")                               \
	X(MPA_LOCAL, 2, 0, 0x05, NONE, "local failure during MPA start-up")                        \
	X(MPA_IRD, 2, 0, 0x06, NONE, "insufficient inbound read depth")                            \
	X(MPA_RTR, 2, 0, 0x07, NONE, "no common ready-to-receive message")                         \
	X(DDP_LOCAL, 1, 0, 0x00, NONE, "local failure while placing data")                         \
	X(DDP_T_STAG, 1, 1, 0x00, DDP, "invalid steering tag in a tagged segment")                 \
	X(DDP_T_BOUNDS, 1, 1, 0x01, DDP, "tagged segment out of bounds")                           \
	X(DDP_T_STREAM, 1, 1, 0x02, DDP, "steering tag of another protection domain")              \
	X(DDP_T_WRAP, 1, 1, 0x03, DDP, "tagged offset wraps")                                      \
	X(DDP_T_VERSION, 1, 1, 0x04, NONE, "unknown DDP version in a tagged segment")              \
	X(DDP_U_QN, 1, 2, 0x01, DDP, "wrong queue number")                                         \
	X(DDP_U_NO_BUFFER, 1, 2, 0x02, DDP, "no buffer for the message")                           \
	X(DDP_U_MSN, 1, 2, 0x03, DDP, "unexpected message sequence number")                        \
	X(DDP_U_MO, 1, 2, 0x04, DDP, "unexpected message offset")                                  \
	X(DDP_U_LENGTH, 1, 2, 0x05, DDP, "message too long for the receive")                       \
	X(DDP_U_VERSION, 1, 2, 0x06, NONE, "unknown DDP version in an untagged segment")           \
	X(RDMAP_LOCAL, 0, 0, 0xff, NONE, "local catastrophic error")                               \
	X(RDMAP_STAG, 0, 1, 0x00, DDP_READ, "invalid steering tag")                                \
	X(RDMAP_BOUNDS, 0, 1, 0x01, DDP_READ, "access out of bounds")                              \
	X(RDMAP_ACCESS, 0, 1, 0x02, DDP_READ, "access right missing")                              \
	X(RDMAP_STREAM, 0, 1, 0x03, DDP_READ, "region of another protection domain")               \
	X(RDMAP_WRAP, 0, 1, 0x04, DDP_READ, "offset wraps")                                        \
	X(RDMAP_INVALIDATE, 0, 1, 0x09, DDP, "steering tag cannot be invalidated")                 \
	X(RDMAP_VERSION, 0, 2, 0x05, NONE, "unknown RDMAP version")                                \
	X(RDMAP_OPCODE, 0, 2, 0x06, NONE, "unexpected opcode")                                     \
	X(RDMAP_CATASTROPHIC, 0, 2, 0x07, DDP, "operation failed, stream lost")                    \
	X(RDMAP_UNSPECIFIED, 0, 2, 0xff, DDP, "malformed message")

#define INFO(name, l, t, c, h, words)                                                              \
	[IWARP_##name] = {                                                                         \
		.layer = (l),                                                                      \
		.etype = (t),                                                                      \
		.code = (c),                                                                       \
		.headers = IWARP_TERM_##h,                                                         \
		.text = words,                                                                     \
	},
const struct iwarp_err_info iwarp_err_info[IWARP_ERR_MAX] = { ERRORS(INFO) };

#define AS_BIT(name, l, t, c, h, words) | UINT64_C(1) << IWARP_##name
_Static_assert((0 ERRORS(AS_BIT)) == (UINT64_C(1) << IWARP_ERR_MAX) - 1, "every error has a row");
