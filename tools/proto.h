/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * proto.h -- what "rpma serve" and its clients tell each other
 *
 * The client's connection request carries a hello, the server's acceptance an offer:
 * which memory it may use, or why none. The hello is small enough for the 56 bytes
 * that an InfiniBand request has, beside the 8 that the library itself may add.
 * After that most roles need no messages; those with a desk (see has_desk()) send
 * requests, one at a time, and get a reply to each.
 *
 * All numbers are little endian. A decoder takes bytes from the network: it returns
 * false for whatever is no such thing, and what it returns is within the limits
 * below. The version is that of all of it; there is no other way to extend it.
 */

#ifndef PROTO_H
#define PROTO_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROTO_VERSION = 1,
	HELLO_SIZE = 48,
	OFFER_SIZE = 32,
	REQUEST_SIZE = 24,
	REPLY_HEAD = 8,
	HASH_SIZE = 16,
	HASHES_MAX = 64, /* in one reply */
	REPLY_SIZE = REPLY_HEAD + HASHES_MAX * HASH_SIZE,
	NAME_SIZE = 24,
	DESC_SIZE = 21, /* of a memory region */
};

/* Limits of what a client may ask for. */
#define DEPTH_MAX 512u
#define MESSAGE_MAX (1u << 29)
#define ARENA_MAX ((uint64_t)1 << 30) /* memory of a connection under load */

enum role {
	ROLE_COPY,    /* put, get: the exported region, and a desk */
	ROLE_PING,    /* scratch memory of the same kind, of hello.size */
	ROLE_SESSION, /* bench: no memory, a desk; the load of a session is counted */
	ROLE_LOAD,    /* bench: an arena (see load.h) for hello.op */
	ROLE_CONNECT, /* bench: nothing, the client goes away at once */
	ROLES,
};

enum op {
	OP_WRITE,
	OP_READ,
	OP_WRITE_FLUSH,	 /* ... visibility */
	OP_WRITE_PFLUSH, /* ... persistent */
	OP_ATOMIC_WRITE,
	OP_SEND,
	OP_WRITE_IMM,
	OP_CONNECT,
	OPS,
};

enum {
	HELLO_BOTH = 1,	  /* the server does the same, towards the client's memory */
	HELLO_EVENTS = 2, /* both sides sleep until there is a completion */
	HELLO_VERIFY = 4,
	HELLO_FLAGS = 7,
};

struct hello {
	enum role role;
	enum op op;
	unsigned flags;
	uint32_t depth;
	uint64_t size;		  /* of a message; PING: of the scratch memory */
	uint64_t session;	  /* SESSION, LOAD: also what the pattern starts from */
	char name[NAME_SIZE + 1]; /* all but LOAD: who that is; printable */
	uint8_t desc[DESC_SIZE];  /* LOAD: the client's memory, for HELLO_BOTH */
};

enum offer_status {
	OFFER_OK,
	OFFER_VERSION,	/* another version is spoken here */
	OFFER_TOO_MUCH, /* more memory than a client may have, or than there is */
	OFFER_NO_SESSION,
	OFFERS,
};

enum {
	OFFER_CAN_SYNC = 1, /* the desk makes things durable when a flush cannot */
	OFFER_DIRECT = 2,   /* what is placed is durable, says who serves it */
};

struct offer {
	uint8_t version; /* of who sent it */
	enum offer_status status;
	uint8_t mem_kind; /* enum mem_kind */
	unsigned flags;
	bool has_desc;
	uint8_t desc[DESC_SIZE];
};

/* The desk. */
enum request_type {
	REQUEST_HASH = 1, /* of each HASH_BLOCK of a range, the last may be short */
	REQUEST_SYNC,	  /* make a range durable */
	REQUEST_COUNT,	  /* what has been, of the session */
	REQUEST_TYPES,
};

#define HASH_BLOCK ((uint64_t)4 << 20)

struct request {
	enum request_type type;
	uint64_t offset;
	uint64_t length;
};

struct counts {
	uint64_t time;	     /* nanoseconds, of the server's clock */
	uint64_t cpu;	     /* nanoseconds, of the server's process */
	uint64_t messages;   /* sent by the server */
	uint64_t bytes;	     /* ... in these */
	uint64_t mismatches; /* in what came to it */
};

struct reply {
	bool failed;
	unsigned n_hashes;
	uint8_t hashes[HASHES_MAX][HASH_SIZE];
	struct counts counts;
};

static inline bool has_desk(enum role role)
{
	return role == ROLE_COPY || role == ROLE_SESSION;
}

void hello_encode(const struct hello *h, uint8_t buf[HELLO_SIZE]);
/* *version tells why it is false: 0, no hello at all; another one than ours. */
bool hello_decode(const uint8_t *buf, size_t len, struct hello *h, unsigned *version);
void offer_encode(const struct offer *o, uint8_t buf[OFFER_SIZE]);
bool offer_decode(const uint8_t *buf, size_t len, struct offer *o);
void request_encode(const struct request *r, uint8_t buf[REQUEST_SIZE]);
bool request_decode(const uint8_t *buf, size_t len, struct request *r);
/* Returns the length. */
size_t reply_encode(enum request_type type, const struct reply *r, uint8_t buf[REPLY_SIZE]);
bool reply_decode(enum request_type type, const uint8_t *buf, size_t len, struct reply *r);

#endif /* PROTO_H */
