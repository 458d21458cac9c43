/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * conn.h -- a connection of the tcp provider: one TCP socket, the MPA start-up,
 * a queue pair, and its end
 *
 * Files: conn.c life and states, handshake.c start-up frames, connect.c the
 * active side's way to a socket, qp.c queues and completions, tx.c queues to
 * socket, rx.c socket to FPDUs, place.c FPDUs to memory, direct.c large payload from
 * socket to memory, answer.c what we owe the peer, serve.c what the engine calls,
 * drive.c what the program's own threads do.
 *
 * Lock: conn->lock guards everything below that is not marked. It is taken
 * before the locks of srq, cq, channel, persist, mem, engine, pool (each a leaf
 * towards the others but for srq -> engine, cq -> channel -> notify, srq -> cq, persist ->
 * mem). The log is never written under it: conn_note() keeps a record for
 * conn_unlock() to write.
 *
 * Progress: whoever has the lock and changed something calls conn_progress(),
 * which moves bytes and states as far as they go without waiting; the engine
 * does the same when the socket, a timer or a kick says so, and a persist thread
 * when it has done a flush.
 */

#ifndef RPMA_TCP_CONN_H
#define RPMA_TCP_CONN_H 1

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "provider.h"
#include "tcp/cq.h"
#include "tcp/engine.h"
#include "tcp/iwarp/mpa.h"
#include "tcp/iwarp/terminate.h"
#include "tcp/mem.h"
#include "tcp/notify.h"
#include "tcp/persist.h"
#include "tcp/pool.h"
#include "tcp/srq.h"
#include "tcp/wq.h"

/*
 *  active:  IDLE -> TCP -> REPLY [-> CAPS] -.
 *                                            >-> OPEN -> DRAIN -> FIN -> DEAD
 *  passive: REQUEST -> PENDING -> FIRST ----'      \-> TERM -> LINGER -> DEAD
 *
 * From every state there is a way to DEAD.
 */
enum conn_state {
	CONN_IDLE,    /* active: address known, nothing sent */
	CONN_TCP,     /* TCP connection under way */
	CONN_REPLY,   /* MPA request sent, waiting for the reply */
	CONN_CAPS,    /* RTR sent, waiting for what it asks: is the peer like us? */
	CONN_REQUEST, /* passive: a stranger, until its MPA request is whole */
	CONN_PENDING, /* request received, the application has not answered */
	CONN_FIRST,   /* reply sent, waiting for the first FPDU; nothing may be
			 * sent before it */
	CONN_OPEN,
	CONN_DRAIN,  /* disconnect asked for: what is posted goes out */
	CONN_FIN,    /* our FIN is sent, waiting for the peer's */
	CONN_TERM,   /* error found: answers owed, then a Terminate, go out */
	CONN_LINGER, /* Terminate sent, waiting for the peer to read it and close */
	CONN_DEAD,   /* no socket */
	CONN_STATES,
};

enum {
	CONN_ADDRS = 8,	 /* addresses tried of one host name */
	CONN_EVENTS = 4, /* ESTABLISHED and one end is all there is */
	TX_IOV = 64,
	TX_HELD = 32,
	CONN_TICK_MS = 2, /* a polled connection is looked after that often */
	PATROLS = 3,	  /* looks at a silent peer until it is dead */
	/* High half of the immediate data that goes with the Send behind it, not
	 * with the Write before it; between peers of this library. */
	IMM_FOR_SEND = 0x53494d4d,
};

/* A posted request. */
struct swqe {
	uint64_t wr_id;
	uint64_t addr;
	uint64_t length;
	uint64_t remote_addr;
	uint32_t lkey; /* 0: no local memory */
	uint32_t rkey;
	uint32_t imm;
	uint32_t msn;	     /* SEND: of its message; READ, ...: of its request */
	uint8_t opcode;	     /* enum rp_opcode */
	uint8_t flags;	     /* enum rp_wr_flag */
	uint8_t flush_flags; /* RDMAP_FLUSH_* */
	uint8_t data[8];     /* INLINE */
};

/*
 * done <= sent <= posted, free-running. [done, sent) are under way: handed to
 * the socket, and not known to have arrived. A request is over when an answer
 * to it or to a later request comes (the peer handles requests in order); with
 * a foreign peer SEND and WRITE are over when the socket has them.
 */
struct sq {
	struct wq_slots slots;
	struct swqe *ring;
	uint32_t size; /* of the ring, a power of two */
	uint32_t posted;
	uint32_t sent;
	uint32_t done;
	uint32_t limit; /* from here on nothing is sent (after disconnect) */
	bool limited;
	uint32_t silent;   /* slots of requests over without a completion */
	uint32_t signaled; /* all SIGNALED SEND and WRITE sent are before here */
	uint32_t covered;  /* requests before here have an answer coming or got
				 * one: no probe is needed for them */
};

/* A request of ours on queue number 1 that waits for its answer. */
struct orq_entry {
	enum {
		ORQ_READ,
		ORQ_FLUSH,
		ORQ_ATOMIC,
		ORQ_PROBE, /* a zero-length Read of our own, only to learn that
				 * all before it has arrived */
	} type;
	uint32_t covers; /* requests before here have arrived when it is answered */
	uint32_t msn;
	uint32_t sink_stag; /* named by us, echoed by the peer; means no memory */
	uint64_t sink_to;
	uint32_t size;
	uint32_t got;
	uint64_t mark; /* tx.bytes when it was staged */
};

/* A request of the peer's on queue number 1 that we owe an answer. */
struct irq_entry {
	enum rdmap_opcode opcode;
	uint32_t msn;
	union {
		struct rdmap_read_req read;
		struct rdmap_atomic_req atomic;
		struct rdmap_flush_req flush;
	};
	uint32_t sent;	   /* of a read, answered so far */
	bool ready;	   /* atomic, flush: done, the answer can go */
	uint64_t original; /* atomic */
};

struct depth_ring {
	uint32_t head;
	uint32_t tail; /* free-running; depth is a power of two */
};

/* Staged bytes and where they go: FPDUs being handed to the socket. */
struct tx_batch {
	struct iovec iov[TX_IOV];
	struct tcp_mr *held[TX_HELD]; /* open accesses of payload sent in place */
	uint8_t bytes[];
};

struct tx {
	struct tx_batch *batch; /* in a buffer of the pool; NULL: nothing staged */
	size_t fill;		/* of batch->bytes */
	unsigned n_iov;
	unsigned next_iov;
	unsigned n_held;
	bool blocked;	   /* the socket is full, EPOLLOUT is asked for */
	bool in_request;   /* request number staged is begun and not ended */
	uint64_t off;	   /* in it */
	bool imm_sent;	   /* its immediate data, where it goes first */
	bool data_sent;	   /* all of its data, where immediate data follows */
	bool turn;	   /* whose turn is it: answers or requests */
	bool any_sent;	   /* FPDUs */
	bool gated;	   /* passive: nothing may go before the peer's first */
	uint32_t staged;   /* requests before here are staged, or sent */
	uint32_t send_msn; /* next, per queue number */
	uint32_t read_msn;
	uint32_t resp_msn;
	bool rtr_due;	 /* RTR message, or magic Read, to send first */
	bool rtr_read;	 /* it is a Read, not a Write */
	bool rtr_magic;	 /* ... that tells our capabilities */
	unsigned probes; /* under way */
	/* Payload of requests, in bytes since the start: staged; asked about by a
	 * probe or another request; known to be handled. See window_open(). */
	uint64_t bytes;
	uint64_t asked;
	uint64_t acked;
	uint32_t receiver; /* all requests staged that need a receive of the peer
				 * are before here */
};

/* A segment whose payload is being read to where it belongs; see direct.c */
struct direct {
	struct fpdu f; /* payload_len 0: there is none */
	uint8_t hdr[DDP_TAGGED_HDR];
	uint32_t placed; /* of the payload */
	size_t trailer;	 /* bytes of it still to come */
	unsigned habit;	 /* above 0: the next one is expected to be such a one */
};

struct rx {
	uint8_t *buf; /* of the pool; NULL: nothing buffered */
	size_t size;  /* of buf */
	size_t start;
	size_t end;
	size_t scan;	   /* what is before it, from start on, waits */
	size_t parked;	   /* while resuming: what is before it has waited already */
	bool paused;	   /* the message at start waits for a receive */
	bool full;	   /* no room for more that has to wait */
	uint32_t send_msn; /* expected next, per queue number */
	uint32_t read_msn;
	uint32_t resp_msn;
	bool in_recv; /* a receive is taken, its message not complete */
	struct rwqe recv;
	uint32_t recv_off;
	bool in_write;	    /* last segment of a Write not seen yet */
	uint64_t write_len; /* of the Write just before, 0 after anything else */
	bool has_imm;	    /* immediate data for the next Send */
	uint32_t imm;
	struct direct direct;
};

/* Needed until the connection is open; freed then. */
struct handshake {
	struct sockaddr_storage addr[CONN_ADDRS];
	socklen_t addr_len[CONN_ADDRS];
	unsigned n_addrs;
	unsigned next_addr;
	int last_error; /* of the addresses tried, errno */
	int timeout_ms;
	int64_t deadline;	    /* engine_now() time; 0: none */
	struct mpa_frame request;   /* active: what we sent; passive: what came */
	uint8_t data[MPA_DATA_MAX]; /* active: of request */
	uint8_t in[MPA_FRAME_MAX];
	size_t in_len;
};

struct tcp_listener;

struct tcp_conn {
	struct rp_conn base;
	pthread_mutex_t lock;
	enum conn_state state;
	bool passive;
	bool setup; /* conn_setup_qp was called */
	int fd;	    /* -1: none */
	struct watch watch;
	atomic_uint missed; /* what the engine had for it while it was locked */
	int64_t patrol;	    /* when to look after a dead peer, engine_now(); or 0 */
	unsigned looks;	    /* such looks since all of ours was answered */
	struct handshake *hs;
	char *peer_data; /* storage of base.peer_data */
	char name[80];	 /* of the other side, for the log */

	struct notify notify; /* fd -1 until connect or accept */
	enum rpma_conn_event events[CONN_EVENTS];
	unsigned n_events;
	bool direct;			/* who waits for an event is here: */
	bool untold;			/* events[0] is not in notify, but for it */
	bool ended;			/* the end has been told, or is not to be */
	enum rpma_conn_event end_event; /* of TERM: what to tell */

	/* Threads of the program that move the connection themselves; see drive.c */
	struct cq_driver driver;
	unsigned waiting;   /* in drive's wait: they watch the socket */
	unsigned attending; /* in drive_events: likewise */
	bool at_hand;	    /* one of these is moving it, and is going to sleep there */
	bool polled;	    /* one polls all the time: it watches the socket ... */
	bool polled_lately; /* ... as long as it has done so since the last tick */
	unsigned polls;	    /* in a row, each soon after the one before */
	unsigned waits;	    /* likewise */
	int64_t last_look;  /* the end of it; ns, monotonic */
	bool holding;	    /* requests may be held; a tick sends them ... */
	bool held_lately;   /* ... as long as some were since the last tick */
	bool last_holdable; /* the last request posted might have been held */
	unsigned pairs;	    /* times that such a one was followed by another at once */
	int64_t last_post;  /* likewise */

	/* agreed at start-up */
	bool crc;
	bool own_peer;	    /* the same library: answers to Reads acknowledge */
	atomic_uint caps;   /* enum mpa_cap in force */
	unsigned opcodes;   /* RDMAP_BIT set that may come in */
	uint32_t depth;	    /* of orq and irq rings */
	uint32_t ord;	    /* requests we may have waiting, <= depth */
	uint32_t ird;	    /* requests the peer may have waiting, <= depth */
	uint32_t max_ulpdu; /* that we may send */

	/* queue pair */
	struct rp_cq *send_cq;
	struct rp_cq *recv_cq;
	struct rp_srq *srq;
	struct srq_waiter srq_waiter;
	struct sq sq;
	struct rq rq;
	struct depth_ring orq;
	struct depth_ring irq;
	struct orq_entry *orq_ring;
	struct irq_entry *irq_ring;
	struct persist_job flush_job; /* for the head of the irq ... */
	uint32_t flush_end;	      /* ... and what follows it up to here */
	struct tx tx;
	struct rx rx;
	struct terminate_cause cause; /* of TERM */

	/* passive, until the application has it: by the listener's lock */
	struct tcp_listener *listener;
	struct list node;

	int note_level; /* -1: no note */
	char note[192];
};

/* ---- conn.c: life ----------------------------------------------------------- */

int conn_new(struct rp_pd *pd, bool passive, watch_fn *fn, struct tcp_conn **conn);
int conn_destroy(struct rp_conn *conn);
int conn_next_event(struct rp_conn *conn, enum rpma_conn_event *event);
/* The oldest event; false: there is none. Lock held. */
bool conn_take_event(struct tcp_conn *c, enum rpma_conn_event *event);
int conn_disconnect(struct rp_conn *conn);

static inline struct tcp_conn *tcp_conn(struct rp_conn *base)
{
	return container_of(base, struct tcp_conn, base);
}

/*
 * The engine does not wait for the lock: it leaves what it has to the thread that
 * has it, which sees to it when it unlocks. This spares two changes of threads each
 * time that the program and the engine turn to a connection at once.
 */
void conn_lock(struct tcp_conn *c);
/* Writes the note. True: there was something, and it is seen to. */
bool conn_unlock(struct tcp_conn *c);
/* One record per locked section; the first wins. Lock held. */
void conn_note(struct tcp_conn *c, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* All of the following: lock held. */

void conn_event(struct tcp_conn *c, enum rpma_conn_event event);
/* Make the descriptor that events are told by, once. */
int conn_open_events(struct tcp_conn *c);
void conn_close_socket(struct tcp_conn *c);
/* The start-up is over: tell ESTABLISHED. */
void conn_established(struct tcp_conn *c);
/* The end, whatever led to it: flush all requests, close, tell event (once). */
void conn_dead(struct tcp_conn *c, enum rpma_conn_event event);
/* We found a protocol error: flush, answer what came before, tell the peer why. */
void conn_terminate(struct tcp_conn *c, enum iwarp_err err, const struct fpdu *f);
/* Likewise with c->cause filled by the caller. */
void conn_terminate_cause(struct tcp_conn *c);
/* Move on as far as it goes: send, complete, change state. */
void conn_progress(struct tcp_conn *c);
/* Ask epoll for what the state needs. */
void conn_update_watch(struct tcp_conn *c);
/* Set the timer of state OPEN. */
void conn_set_timer(struct tcp_conn *c);

static inline bool conn_carries_fpdus(const struct tcp_conn *c)
{
	return c->state == CONN_OPEN || c->state == CONN_DRAIN || c->state == CONN_FIRST ||
	       c->state == CONN_CAPS;
}

/* ---- connect.c: the active side's socket ------------------------------------- */

int conn_create(struct rp_pd *pd, const char *addr, const char *port, int timeout_ms,
	struct rp_conn **conn);
int conn_connect(struct rp_conn *conn, const void *data, size_t len);
void connect_serve(struct tcp_conn *c);			     /* state TCP: the socket is ready */
void conn_socket_options(int fd);			     /* of every connection */
void conn_socket_near(int fd, const struct sockaddr *other); /* if that is this host */
void conn_set_name(struct tcp_conn *c, const struct sockaddr *sa, socklen_t len);
void connect_timer(struct tcp_conn *c); /* states TCP, REPLY, CAPS */

/* ---- handshake.c: MPA start-up ------------------------------------------------ */

int conn_accept(struct rp_conn *conn, const void *data, size_t len);
int conn_reject(struct rp_conn *conn);
void handshake_send_request(struct tcp_conn *c);
void handshake_read_reply(struct tcp_conn *c);
/* 1: the request is whole; 0: more is to come; -errno: not one of ours. */
int handshake_read_request(struct tcp_conn *c);
/* The peer proved by a magic Read that it is this library. */
void handshake_peer_caps(struct tcp_conn *c, uint64_t sink_to);
uint64_t handshake_own_caps(void); /* for SinkTO of a magic Read */

/* ---- qp.c: queues --------------------------------------------------------------- */

int conn_setup_qp(struct rp_conn *conn, const struct rp_qp_attr *attr);
int post_send(struct rp_conn *conn, const struct rp_send_wr *wr);
int post_recv(struct rp_conn *conn, const struct rp_recv_wr *wr);
void qp_free(struct tcp_conn *c); /* no lock needed any more */
/* All requests before upto are over, well. */
void sq_succeed(struct tcp_conn *c, uint32_t upto);
/* A foreign peer will not tell that a SEND or WRITE has arrived: the socket's word
 * has to do. */
void sq_settle(struct tcp_conn *c);
/* Request i failed so: those before it end well where that is known, those after
 * it are flushed. */
void sq_fail(struct tcp_conn *c, uint32_t i, enum ibv_wc_status status);
/* Everything posted ends now. */
void qp_flush(struct tcp_conn *c);
/* Take a posted receive; false: none, a waiter is set. */
bool rq_next(struct tcp_conn *c, struct rwqe *wqe);
struct recv_result {
	enum ibv_wc_status status;
	bool by_write; /* consumed by a write with immediate */
	uint32_t byte_len;
	bool has_imm;
	uint32_t imm;
};
void rq_complete(struct tcp_conn *c, const struct rwqe *wqe, const struct recv_result *r);

/* ---- tx.c, rx.c ------------------------------------------------------------------- */

void tx_run(struct tcp_conn *c);
bool tx_idle(const struct tcp_conn *c); /* nothing staged, nothing begun */
void tx_drop(struct tcp_conn *c);	/* forget what is staged */
void rx_run(struct tcp_conn *c);	/* read and handle what the socket has */
void rx_drop(struct tcp_conn *c);
void rx_resume(struct tcp_conn *c); /* a receive was posted: try again */
/* The socket failed; what it still has is read first, maybe it says why. */
void rx_broken(struct tcp_conn *c, int err);
/* A Terminate from the peer. */
void rx_terminate(struct tcp_conn *c, const struct fpdu *f);

/* ---- place.c, direct.c ------------------------------------------------------------- */

/* Handle one decoded segment. False: it must wait, or the connection is ending. */
bool rx_segment(struct tcp_conn *c, const struct fpdu *f);
/* May this tagged segment come now? */
enum iwarp_err place_check(const struct tcp_conn *c, const struct fpdu *f);
/* Open where its payload belongs, from off on; *to is the address of that. */
enum mem_err place_open(
	struct tcp_conn *c, const struct fpdu *f, uint32_t off, struct tcp_mr **mr, uint64_t *to);
/* It cannot go there. */
bool place_failed(struct tcp_conn *c, const struct fpdu *f, enum mem_err why);

/* Of the segment at scan not all has come: the rest may go straight to its place. */
void direct_begin(struct tcp_conn *c);
/* How much to read while none is under way: where such a one is expected, not more than
 * its header, or the rest would have to be copied. */
size_t direct_most(const struct tcp_conn *c, size_t room);
/* Read for it, once, as recv() does; *want bytes at most. */
ssize_t direct_recv(struct tcp_conn *c, size_t *want);
/* Handle it when it is whole. False: it is not, or the connection is ending. */
bool direct_end(struct tcp_conn *c);

static inline bool direct_under_way(const struct tcp_conn *c)
{
	return c->rx.direct.f.payload_len > 0;
}

/* ---- answer.c: requests of the peer that want one ---------------------------------- */

/* Work on the head of the irq as far as it goes without sending. */
void answer_work(struct tcp_conn *c);
/* May the peer do that? Judged when the request comes, and again when it is done. */
enum iwarp_err answer_check(struct tcp_conn *c, const struct irq_entry *q);
/* Open the source of a Read. */
enum iwarp_err answer_open_read(
	struct tcp_conn *c, uint32_t stag, uint64_t to, uint32_t len, struct tcp_mr **mr);
/* A persist thread has done the flush at the head: it sends the answer, too. */
void answer_flush_done(struct persist_job *job);
/* The request cannot be answered: Terminate instead. */
void answer_fail(struct tcp_conn *c, const struct irq_entry *q, enum iwarp_err err);

static inline struct irq_entry *irq_entry(const struct tcp_conn *c, uint32_t i)
{
	return &c->irq_ring[i & (c->depth - 1)];
}

static inline struct irq_entry *irq_head(const struct tcp_conn *c)
{
	return irq_entry(c, c->irq.head);
}

static inline struct orq_entry *orq_head(const struct tcp_conn *c)
{
	return &c->orq_ring[c->orq.head & (c->depth - 1)];
}

static inline uint32_t ring_count(const struct depth_ring *r)
{
	return r->tail - r->head;
}

static inline struct swqe *sq_entry(const struct tcp_conn *c, uint32_t i)
{
	return &c->sq.ring[i & (c->sq.size - 1)];
}

/* ---- drive.c ------------------------------------------------------------------------ */

void drive_init(struct tcp_conn *c);
void drive_tick(struct tcp_conn *c); /* the timer, in state OPEN: is it still polled? */
/* A thread that is to wait for an event moves the connection meanwhile. True: it has
 * one; false: somebody else moves the connection, or has posted one. */
bool drive_events(struct tcp_conn *c, enum rpma_conn_event *event);
/* A request just posted may wait for the next one, to go out with it. */
bool drive_hold(struct tcp_conn *c, const struct rp_send_wr *wr);
/* It was not held, and what could be sent is sent. */
void drive_posted(struct tcp_conn *c, const struct rp_send_wr *wr);

/* ---- serve.c ------------------------------------------------------------------------ */

watch_fn conn_serve;
/* The following: lock held. */
void serve_events(struct tcp_conn *c, uint32_t events);
/* The same for the socket alone, with what poll or epoll said of it. */
void serve_socket(struct tcp_conn *c, uint32_t events);

/* ---- linger.c: sockets whose connection is gone -------------------------------------- */

/* Takes fd: sends FIN, reads on until the peer's, or for linger_ms; closes. */
void linger_start(struct engine *engine, int fd);
void linger_stop(void); /* close all of them */

/* ---- device.c ----------------------------------------------------------------------- */

struct engine *tcp_engine(void); /* valid while a pd exists */

/* ---- resolve.c ----------------------------------------------------------------------- */

struct addrinfo;

/* Addresses for a host and a service; what is wrong with them is logged here.
 * -EINVAL, -EADDRNOTAVAIL, -ENOMEM, ... Freed by freeaddrinfo. */
int resolve(const char *addr, const char *port, bool passive, struct addrinfo **ai);
/* Is there a way to this address? 0 or -errno. */
int resolve_route(const struct sockaddr *sa, socklen_t len);

/* ---- listener.c ---------------------------------------------------------------------- */

int listener_create(
	struct rp_pd *pd, const char *addr, const char *port, struct rp_listener **listener);
int listener_destroy(struct rp_listener *listener);
int listener_next(struct rp_listener *listener, struct rp_conn **conn);

#endif /* RPMA_TCP_CONN_H */
