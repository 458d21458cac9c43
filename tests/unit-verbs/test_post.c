/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_post.c -- the slots of queues, and the form in which a device gets requests, on
 * a device that takes everything */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "support.h"
#include "verbs/verbs.h"

/* ---- the device ------------------------------------------------------------ */

static struct {
	struct ibv_device device;
	struct ibv_context context;
	struct ibv_qp qp;
	int error; /* what it says to a request */
	struct ibv_send_wr send;
	struct ibv_recv_wr recv;
	struct ibv_sge sge;
	unsigned requests;
} hw;

static int take_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(qp, &hw.qp);
	assert_null(wr->next);
	if (hw.error) {
		*bad = wr;
		return hw.error;
	}
	hw.requests++;
	hw.send = *wr;
	hw.sge = wr->sg_list[0];
	return 0;
}

static int take_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(qp, &hw.qp);
	assert_null(wr->next);
	if (hw.error) {
		*bad = wr;
		return hw.error;
	}
	hw.requests++;
	hw.recv = *wr;
	hw.sge = wr->sg_list[0];
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n, (void)wc;
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int vector)
{
	static struct ibv_cq cq;

	(void)vector;
	cq = (struct ibv_cq){
		.context = context, .channel = channel, .cq_context = cq_context, .cqe = cqe
	};
	return &cq;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	(void)attr;
	hw.qp = (struct ibv_qp){ .context = &hw.context, .qp_num = 7 };
	id->qp = &hw.qp;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp, (void)attr, (void)mask;
	return 0;
}

/* ---- a connection on it ---------------------------------------------------- */

struct rig {
	struct rv_device device;
	struct rv_pd pd;
	struct rv_channel channel;
	struct rv_cq cq;
	struct rdma_cm_id id;
	struct rv_srq srq;
	struct rv_conn *conn;
};

static void rig_open(struct rig *r, uint32_t sq, uint32_t rq, bool with_srq)
{
	const struct rp_qp_attr attr = { &r->cq.base, &r->cq.base, with_srq ? &r->srq.base : NULL,
		sq, rq };

	memset(&hw, 0, sizeof(hw));
	hw.device.transport_type = IBV_TRANSPORT_IB;
	hw.context.device = &hw.device;
	hw.context.ops.post_send = take_send;
	hw.context.ops.post_recv = take_recv;
	hw.context.ops.poll_cq = poll_cq;
	memset(r, 0, sizeof(*r));
	r->device.base.context = &hw.context;
	r->device.features.max_cqe = 1000000;
	r->pd.base.dev = &r->device.base;
	pthread_mutex_init(&r->channel.lock, NULL);
	r->cq.base.dev = &r->device.base;
	r->cq.base.channel = &r->channel.base;
	r->conn = rv_conn_new(&r->pd.base);
	assert_non_null(r->conn);
	r->conn->cm.id = &r->id;
	assert_int_equal(rv_conn_setup_qp(&r->conn->base, &attr), 0);
	assert_ptr_equal(r->cq.base.poll, poll_cq);
}

static void rig_close(struct rig *r)
{
	rv_qp_free(r->conn);
	rv_conn_free(r->conn);
	pthread_mutex_destroy(&r->channel.lock);
}

/* What core builds and takes. */

static int post(struct rig *r, unsigned flags)
{
	struct rp_sq *sq = &r->conn->base.sq;
	int ret;

	lock_take(&sq->lock);
	sq->sge = (struct ibv_sge){ 0x1000, 8, 3 };
	sq->wr.num_sge = 1;
	sq->wr.wr_id = 5;
	sq->wr.opcode = IBV_WR_RDMA_WRITE;
	sq->wr.send_flags = flags;
	sq->wr.wr.rdma.remote_addr = 0x2000;
	sq->wr.wr.rdma.rkey = 4;
	ret = sq->post(sq);
	lock_take(&sq->lock); /* it has been released */
	lock_release(&sq->lock);
	return ret;
}

static int receive(struct rig *r)
{
	struct rp_rq *rq = &r->conn->base.rq;
	int ret;

	lock_take(&rq->lock);
	rq->sge = (struct ibv_sge){ 0x1000, 8, 3 };
	rq->wr.num_sge = 1;
	rq->wr.wr_id = 6;
	ret = rq->post(rq);
	lock_take(&rq->lock);
	lock_release(&rq->lock);
	return ret;
}

#define assert_posted(r, flags) assert_int_equal(post((r), (flags)), 0)
#define assert_refused(call) assert_int_equal((call), RPMA_E_PROVIDER)

/* ---- cases ----------------------------------------------------------------- */

static void as_it_is_to_the_device(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 4, 4, false);
	rv_qp_ready(r.conn);
	assert_posted(&r, IBV_SEND_SIGNALED);
	assert_int_equal(hw.send.wr_id, 5);
	assert_int_equal(hw.send.num_sge, 1);
	assert_int_equal(hw.send.opcode, IBV_WR_RDMA_WRITE);
	assert_int_equal(hw.send.send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(hw.send.wr.rdma.remote_addr, 0x2000);
	assert_int_equal(hw.send.wr.rdma.rkey, 4);
	assert_int_equal(hw.sge.addr, 0x1000);
	assert_int_equal(hw.sge.length, 8);
	assert_int_equal(hw.sge.lkey, 3);
	assert_int_equal(receive(&r), 0);
	assert_int_equal(hw.recv.wr_id, 6);
	assert_int_equal(hw.recv.num_sge, 1);
	assert_int_equal(r.conn->base.sq.no_data, 0);
	rig_close(&r);
}

static void not_before_it_is_ready(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 4, 4, false);
	assert_refused(post(&r, IBV_SEND_SIGNALED));
	assert_int_equal(receive(&r), 0);
	assert_int_equal(hw.requests, 1);
	rv_qp_ready(r.conn);
	assert_posted(&r, IBV_SEND_SIGNALED);
	rig_close(&r);
}

/* Completions of signaled requests free those before them. */
static void slots(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 7, 8, 100 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
		uint32_t size = sizes[s];
		struct rig r;

		rig_open(&r, size, 1, false);
		rv_qp_ready(r.conn);
		for (uint32_t silent = 0; silent < size; silent++) {
			for (int round = 0; round < 3; round++) {
				for (uint32_t i = 0; i < silent; i++)
					assert_posted(&r, 0);
				for (uint32_t i = silent; i < size; i++)
					assert_posted(&r, IBV_SEND_SIGNALED);
				assert_refused(post(&r, IBV_SEND_SIGNALED));
				assert_refused(post(&r, 0));
				r.cq.base.sends++;
				/* the first one frees the silent ones, too */
				for (uint32_t i = 0; i <= silent; i++)
					assert_posted(&r, IBV_SEND_SIGNALED);
				assert_refused(post(&r, IBV_SEND_SIGNALED));
				r.cq.base.sends += size;
			}
		}
		for (uint32_t i = 0; i < size; i++)
			assert_posted(&r, 0);
		assert_refused(post(&r, IBV_SEND_SIGNALED));
		rig_close(&r);
	}
}

/* Against a queue that is kept as the contract tells it. */
static void slots_at_random(void **state)
{
	enum { SIZE = 13 };
	bool queue[SIZE] = { 0 };
	uint32_t used = 0, seed = 1;
	struct rig r;

	(void)state;
	rig_open(&r, SIZE, 1, false);
	rv_qp_ready(r.conn);
	for (int i = 0; i < 100000; i++) {
		bool signaled;

		seed = seed * 1664525 + 1013904223;
		signaled = seed >> 24 & 1;
		if (seed >> 28 < 10) {
			int ret = post(&r, signaled ? IBV_SEND_SIGNALED : 0);

			assert_int_equal(ret, used < SIZE ? 0 : RPMA_E_PROVIDER);
			if (used < SIZE)
				queue[used++] = signaled;
			continue;
		}
		for (uint32_t k = 0; k < used; k++) {
			if (!queue[k])
				continue;
			used -= k + 1;
			memmove(queue, queue + k + 1, used);
			r.cq.base.sends++;
			break;
		}
		if (used == SIZE && !memchr(queue, true, SIZE)) {
			/* full of what says nothing: nobody will ever free it */
			rig_close(&r);
			rig_open(&r, SIZE, 1, false);
			rv_qp_ready(r.conn);
			used = 0;
		}
	}
	rig_close(&r);
}

/* The device takes one at a time, and never more than fit. */
enum { POSTERS = 3, POSTS = 3000, CROWDED = 5 };

static atomic_uint crowd_taken;
static struct rig *crowd_rig;

static int take_of_crowd(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	unsigned taken = atomic_load(&crowd_taken) + 1;

	(void)qp, (void)bad;
	if (taken - atomic_load(&crowd_rig->cq.base.sends) > CROWDED || wr->wr_id != 5)
		abort();
	sched_yield();
	atomic_store(&crowd_taken, taken);
	return 0;
}

static void *post_in_a_crowd(void *arg)
{
	for (unsigned i = 0; i < POSTS; i++)
		while (post(arg, IBV_SEND_SIGNALED))
			sched_yield();
	return NULL;
}

static void threads_share_a_queue(void **state)
{
	pthread_t threads[POSTERS];
	struct rig r;

	(void)state;
	rig_open(&r, CROWDED, 1, false);
	rv_qp_ready(r.conn);
	hw.context.ops.post_send = take_of_crowd;
	crowd_rig = &r;
	for (int i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_in_a_crowd, &r), 0);
	for (unsigned polled = 0; polled < POSTERS * POSTS;) {
		if (polled < atomic_load(&crowd_taken))
			atomic_store(&r.cq.base.sends, ++polled);
		else
			sched_yield();
	}
	for (int i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(crowd_taken, POSTERS * POSTS);
	rig_close(&r);
}

static void receives_have_slots(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 1, 3, false);
	for (int i = 0; i < 3; i++)
		assert_int_equal(receive(&r), 0);
	for (int i = 0; i < 10; i++) {
		assert_refused(receive(&r));
		r.cq.base.recvs++;
		assert_int_equal(receive(&r), 0);
	}
	assert_refused(receive(&r));
	r.cq.base.recvs += 3;
	for (int i = 0; i < 3; i++)
		assert_int_equal(receive(&r), 0);
	assert_refused(receive(&r));
	rig_close(&r);
}

static void a_refused_request_leaves_no_trace(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 2, 2, false);
	rv_qp_ready(r.conn);
	for (int i = 0; i < 10; i++) {
		hw.error = i & 1 ? ENOMEM : EINVAL;
		assert_refused(post(&r, IBV_SEND_SIGNALED));
		assert_refused(post(&r, 0));
		assert_refused(receive(&r));
	}
	hw.error = 0;
	for (int i = 0; i < 2; i++) {
		assert_posted(&r, IBV_SEND_SIGNALED);
		assert_int_equal(receive(&r), 0);
	}
	assert_refused(post(&r, IBV_SEND_SIGNALED));
	assert_refused(receive(&r));
	rig_close(&r);
}

/* Then the queue pair only flushes, and who polls all will see all. */
static void after_a_failure_the_device_decides(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 2, 2, false);
	rv_qp_ready(r.conn);
	for (int i = 0; i < 2; i++) {
		assert_posted(&r, 0);
		assert_int_equal(receive(&r), 0);
	}
	assert_refused(post(&r, 0));
	r.cq.base.failed = true;
	for (int i = 0; i < 100; i++) {
		assert_posted(&r, i & 1 ? IBV_SEND_SIGNALED : 0);
		assert_int_equal(receive(&r), 0);
	}
	hw.error = ENOMEM;
	assert_refused(post(&r, 0));
	assert_refused(receive(&r));
	rig_close(&r);
}

static void no_receives_beside_a_shared_queue(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 2, 2, true);
	assert_refused(receive(&r));
	assert_int_equal(hw.requests, 0);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_it_is_to_the_device),
		cmocka_unit_test(not_before_it_is_ready),
		cmocka_unit_test(slots),
		cmocka_unit_test(slots_at_random),
		cmocka_unit_test(threads_share_a_queue),
		cmocka_unit_test(receives_have_slots),
		cmocka_unit_test(a_refused_request_leaves_no_trace),
		cmocka_unit_test(after_a_failure_the_device_decides),
		cmocka_unit_test(no_receives_beside_a_shared_queue),
	};

	rp_log_set_threshold(RP_LOG_MAIN, RP_LOG_FATAL);
	return cmocka_run_group_tests_name("verbs: post", tests, NULL, NULL);
}
