/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * fake_objects.h -- the inside of the fake provider
 */

#ifndef RPMA_TESTS_FAKE_OBJECTS_H
#define RPMA_TESTS_FAKE_OBJECTS_H 1

#include "base/list.h"
#include "fake.h"

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fake_broken(__func__, #cond);                                              \
	} while (0)

_Noreturn void fake_broken(const char *func, const char *rule);

#define FAKE_CALLS_MAX 256
#define FAKE_QUEUE_MAX 16

struct fake_state {
	struct fake_call calls[FAKE_CALLS_MAX];
	unsigned n_calls;
	unsigned fail_at; /* calls to go; 0: never */
	int fail_at_err;
	int fail_op_err[FAKE_OPS];
	bool failed;
	void (*hook[FAKE_OPS])(void *arg);
	void *hook_arg[FAKE_OPS];

	unsigned device_caps;
	unsigned conn_caps; /* of those to come, too */
	enum rpma_conn_event events[FAKE_QUEUE_MAX];
	unsigned n_events;
	unsigned n_requests;
	uint8_t peer_data[UINT8_MAX];
	uint8_t peer_data_len;
	bool poll_result_set;
	int poll_result;
	uint32_t next_number; /* of keys and queue pairs */
};

extern struct fake_state fake;

/* A new record of a call; then what the call has to return: 0 or -errno. */
struct fake_call *fake_record(enum fake_op op, const void *object);
int fake_failure(enum fake_op op);

/*
 * The head of every object. An object that is destroyed with users leaks, as
 * the seam says for those that may have them: it goes with its last user, so
 * that a test can tell that leak from one of core's.
 */
struct fake_object {
	struct list all;
	enum { FAKE_OTHER, FAKE_MR, FAKE_CONN } kind; /* where it is looked for */
	struct fake_object *uses[4];
	unsigned users;
	bool destroyed;
};

#define FAKE_USES (sizeof(((struct fake_object *)0)->uses) / sizeof(struct fake_object *))

void *fake_object_alloc(size_t size);
void fake_object_use(struct fake_object *object, struct fake_object *used);
void fake_object_destroy(struct fake_object *object);
/* The region that a request names, which must be there. */
struct rp_mr *fake_mr_by_lkey(uint32_t lkey);

struct fake_pd {
	struct fake_object object;
	struct rp_pd base;
};

struct fake_mr {
	struct fake_object object;
	struct rp_mr base;
};

struct fake_channel {
	struct fake_object object;
	struct rp_channel base;
	struct rp_cq *events[FAKE_QUEUE_MAX];
	unsigned n_events;
};

struct fake_cq {
	struct fake_object object;
	struct rp_cq base;
	struct ibv_cq face; /* base.source */
	bool armed;
	struct ibv_wc wc[FAKE_QUEUE_MAX];
	int n_wc;
};

struct fake_srq {
	struct fake_object object;
	struct rp_srq base;
};

struct fake_listener {
	struct fake_object object;
	struct rp_listener base;
};

struct fake_conn {
	struct fake_object object;
	struct rp_conn base;
	bool passive;
	bool equipped;
	bool started; /* connected, accepted or rejected */
	bool rejected;
	bool has_srq;
};

#define DOWNCAST(noun)                                                                             \
	static inline struct fake_##noun *to_##noun(struct rp_##noun *base)                        \
	{                                                                                          \
		struct fake_##noun *noun = container_of(base, struct fake_##noun, base);           \
                                                                                                   \
		MUST(!noun->object.destroyed);                                                     \
		return noun;                                                                       \
	}

DOWNCAST(pd)
DOWNCAST(mr)
DOWNCAST(channel)
DOWNCAST(cq)
DOWNCAST(srq)
DOWNCAST(listener)
DOWNCAST(conn)

#undef DOWNCAST

/* Takes the first of *n things away and moves the others up. */
#define SHIFT(array, n) memmove((array), (array) + 1, --(n) * sizeof((array)[0]))

/* fake_conn.c: ops */
int fake_listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **base);
int fake_listener_destroy(struct rp_listener *base);
int fake_listener_next(struct rp_listener *base, struct rp_conn **conn_base);
int fake_conn_create(struct rp_pd *pd, const char *addr, const char *port, int timeout_ms,
	struct rp_conn **base);
int fake_conn_setup_qp(struct rp_conn *base, const struct rp_qp_attr *attr);
int fake_conn_connect(struct rp_conn *base, const void *data, size_t len);
int fake_conn_accept(struct rp_conn *base, const void *data, size_t len);
int fake_conn_reject(struct rp_conn *base);
int fake_conn_next_event(struct rp_conn *base, enum rpma_conn_event *event);
int fake_conn_disconnect(struct rp_conn *base);
int fake_conn_destroy(struct rp_conn *base);
/* The end of a receive for object, of a connection or shared. */
int fake_receive(enum fake_op op, struct rp_rq *rq, const void *object, int rc);

#endif /* RPMA_TESTS_FAKE_OBJECTS_H */
