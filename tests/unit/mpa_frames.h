/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* mpa_frames.h -- the bytes that MPA start-up frames begin and end with */

#ifndef RPMA_UNIT_MPA_FRAMES_H
#define RPMA_UNIT_MPA_FRAMES_H 1

#define MPA_REQ "4d 50 41 20 49 44 20 52 65 71 20 46 72 61 6d 65 "
#define MPA_REP "4d 50 41 20 49 44 20 52 65 70 20 46 72 61 6d 65 "

/* Trailers of ours, their CRCs worked out elsewhere: all capabilities and 0xfd00 in
 * a request; flush and 0xffff in a reply. */
#define MPA_TRAILER_REQ "72 d4 b1 09 6f c3 5a e8 01 01 00 07 fd 00 00 00 06 4c 10 30"
#define MPA_TRAILER_REP "72 d4 b1 09 6f c3 5a e8 01 02 00 01 ff ff 00 00 9f 50 10 36"

#endif /* RPMA_UNIT_MPA_FRAMES_H */
