/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * dumps.h -- FPDUs as they must look on the wire, worked out by hand from the RFCs
 * and checked with an independent dissector
 */

#ifndef RPMA_UNIT_DUMPS_H
#define RPMA_UNIT_DUMPS_H 1

/* Zero-length Write to STag 1, the ready-to-receive message. */
#define DUMP_WRITE_RTR "00 0e c1 40 00 00 00 01 00 00 00 00 00 00 00 00 eb d3 4c 5f"

/* Zero-length Read, the other one: sink STag 0, source STag 1. */
#define DUMP_READ_RTR                                                                              \
	"00 2e 41 41 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 00 00 00 00 00"                  \
	"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 ba 10 e3 c9"

/* "Hello" to STag 0x00ab3c07, TO 0x00007f0011223344 */
#define DUMP_WRITE                                                                                 \
	"00 13 c1 40 00 ab 3c 07 00 00 7f 00 11 22 33 44 48 65 6c 6c 6f 00 00 00 85 e6 34 6e"

/* 20 bytes to TO 0x1000 in two segments */
#define DUMP_WRITE_FIRST                                                                           \
	"00 1a 81 40 00 ab 3c 07 00 00 00 00 00 00 10 00"                                          \
	"00 01 02 03 04 05 06 07 08 09 0a 0b cf 08 73 2a"
#define DUMP_WRITE_LAST                                                                            \
	"00 16 c1 40 00 ab 3c 07 00 00 00 00 00 00 10 0c 0c 0d 0e 0f 10 11 12 13 56 2e 9a 55"

/* "ping1234" */
#define DUMP_SEND                                                                                  \
	"00 1a 41 43 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00"                              \
	"70 69 6e 67 31 32 33 34 a9 47 77 83"

/* "ok", invalidates STag 0x00ab3c07 */
#define DUMP_SEND_SE_INV                                                                           \
	"00 14 41 46 00 ab 3c 07 00 00 00 00 00 00 00 02 00 00 00 00 6f 6b 00 00 9a 5d fd d6"

/* 64 bytes from STag 0x00ab3c07 to STag 0x0012f400 */
#define DUMP_READ_REQ                                                                              \
	"00 2e 41 41 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 00 00 12 f4 00"                  \
	"00 00 55 00 aa bb c0 00 00 00 00 40 00 ab 3c 07 00 00 7f 00 11 22 33 44 2b 99 3d a3"
#define DUMP_READ_RESP                                                                             \
	"00 16 c1 42 00 12 f4 00 00 00 55 00 aa bb c0 00 00 01 02 03 04 05 06 07 e9 d2 e1 f3"
#define DUMP_READ_RESP_EMPTY "00 0e c1 42 00 00 00 00 00 00 00 00 00 00 00 00 69 75 d6 ca"

/* the number 1 */
#define DUMP_IMM                                                                                   \
	"00 1a 41 48 00 00 00 00 00 00 00 00 00 00 00 03 00 00 00 00"                              \
	"00 00 00 00 00 00 00 01 c4 9c 46 5c"

/* compare nothing, swap all of it: a store of 0x1122334455667788 */
#define DUMP_CMP_SWAP                                                                              \
	"00 46 41 4a 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 00 00 00 00 02 00 00 00 51"      \
	"00 ab 3c 07 00 00 7f 00 11 22 33 40 11 22 33 44 55 66 77 88 ff ff ff ff ff ff ff ff"      \
	"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ef 51 14 71"
#define DUMP_ATOMIC_RESP                                                                           \
	"00 1e 41 4b 00 00 00 00 00 00 00 03 00 00 00 01 00 00 00 00 00 00 00 51"                  \
	"00 00 00 00 de ad be ef e2 30 8c 9e"

/* 4096 bytes at TO 0x00007f0011223000, to persistence */
#define DUMP_FLUSH_REQ                                                                             \
	"00 26 41 4c 00 00 00 00 00 00 00 01 00 00 00 03 00 00 00 00 00 ab 3c 07 00 00 10 00"      \
	"00 00 7f 00 11 22 30 00 00 00 00 01 71 8e 6d 91"
#define DUMP_FLUSH_RESP "00 12 41 4d 00 00 00 00 00 00 00 03 00 00 00 02 00 00 00 00 ac 77 3c a4"

/* about a Write of 5 bytes to STag 0xdead0000, TO 0x1000: layer 1, type 1, code 0 */
#define DUMP_TERM_WRITE                                                                            \
	"00 26 41 47 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00 00 11 00 c0 00 00 13"            \
	"c1 40 de ad 00 00 00 00 00 00 00 00 10 00 c6 63 3d b6"
/* about DUMP_READ_REQ, but from STag 0xdead0000: 0/1/00 */
#define DUMP_TERM_READ                                                                             \
	"00 46 41 47 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00 00 01 00 e0 00 00 2e"            \
	"41 41 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 00 00 12 f4 00 00 00 55 00"            \
	"aa bb c0 00 00 00 00 40 de ad 00 00 00 00 7f 00 11 22 33 44 17 28 c3 6b"
/* 2/0/02 */
#define DUMP_TERM_CRC                                                                              \
	"00 16 41 47 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00 00 20 02 00 00 7f e4 25 85"
/* 0/2/06 */
#define DUMP_TERM_OPCODE                                                                           \
	"00 16 41 47 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00 00 02 06 00 00 6f 77 b9 73"

#endif /* RPMA_UNIT_DUMPS_H */
