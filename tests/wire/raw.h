/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * raw.h -- a peer that is a script: it sends these bytes and expects those
 *
 * A blocking socket with a deadline. Formats: see bytes.h.
 */

#ifndef TESTS_RAW_H
#define TESTS_RAW_H 1

#include "bytes.h"
#include "pair.h"

struct raw {
	int fd;
	struct bytes last; /* the last FPDU that it sent */
};

/* A listener, for a library that connects */
struct raw_door {
	int fd;
	char port[PORT_LEN];
};

void raw_connect(struct raw *r, const char *addr, const char *port);
void raw_open_door(struct raw_door *d, const char *addr);
/* Accepts one; the door is closed then. */
void raw_accept(struct raw *r, struct raw_door *d);
void raw_close(struct raw *r);
/* With RST instead of FIN */
void raw_reset(struct raw *r);
void raw_fin(struct raw *r);

void raw_send(struct raw *r, const char *format, ...);
void raw_fpdu(struct raw *r, const char *format, ...);
void raw_send_bytes(struct raw *r, const void *p, size_t len);
/* Like raw_send_bytes, when the other side may have gone already. */
void raw_send_maybe(struct raw *r, const void *p, size_t len);
/* Wait until the library has read all that was sent. */
void raw_sync(struct raw *r);

/* The next bytes are exactly these. */
#define raw_expect(r, ...) raw_expect_at((r), HERE, __VA_ARGS__)
void raw_expect_at(struct raw *r, const char *where, const char *format, ...);
#define raw_expect_fpdu(r, ...) raw_expect_fpdu_at((r), HERE, __VA_ARGS__)
void raw_expect_fpdu_at(struct raw *r, const char *where, const char *format, ...);
/* The next len bytes, whatever they are */
#define raw_read(r, p, len) raw_read_at((r), (p), (len), HERE)
void raw_read_at(struct raw *r, void *p, size_t len, const char *where);
/* The next FPDU, whatever it is, its framing and CRC checked. Free it. */
#define raw_read_fpdu(r) raw_read_fpdu_at((r), HERE)
struct bytes raw_read_fpdu_at(struct raw *r, const char *where);
/* Nothing more comes, and the end is FIN. */
#define raw_expect_fin(r) raw_expect_fin_at((r), HERE)
void raw_expect_fin_at(struct raw *r, const char *where);
/* Nothing more comes; FIN or RST. */
#define raw_expect_gone(r) raw_expect_gone_at((r), HERE)
void raw_expect_gone_at(struct raw *r, const char *where);
/* Nothing is there at the moment. */
#define raw_expect_quiet(r) raw_expect_quiet_at((r), HERE)
void raw_expect_quiet_at(struct raw *r, const char *where);

/* Which headers of the offending segment, that is of the last one sent, are in a
 * Terminate: none, its DDP header, its DDP and Read Request headers */
enum term_hdr { TERM_BARE, TERM_DDP, TERM_READ };
/* A Terminate with these two bytes (layer and type, code), then FIN. */
#define raw_expect_term(r, triple, hdr) raw_expect_term_at((r), (triple), (hdr), HERE)
void raw_expect_term_at(struct raw *r, const char *triple, enum term_hdr hdr, const char *where);

#endif /* TESTS_RAW_H */
