/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * cfg.c -- configurations: defaults, what is set is got, what is refused
 */

#include <limits.h>

#include "core/core.h"
#include "rig.h"

/* ---- the fields that are numbers ---------------------------------------- */

#define U32_FIELD(noun, field, initial)                                                            \
	static void noun##_##field(void **state)                                                   \
	{                                                                                          \
		static const uint32_t values[] = { 0, 1, 20, INT_MAX, UINT32_MAX };                \
		struct rpma_##noun *cfg = NULL;                                                    \
		uint32_t value = 77;                                                               \
                                                                                                   \
		(void)state;                                                                       \
		assert_ok(rpma_##noun##_new(&cfg));                                                \
		assert_inval(rpma_##noun##_set_##field(NULL, 5));                                  \
		assert_inval(rpma_##noun##_get_##field(NULL, &value));                             \
		assert_inval(rpma_##noun##_get_##field(cfg, NULL));                                \
		assert_int_equal(value, 77);                                                       \
                                                                                                   \
		assert_ok(rpma_##noun##_get_##field(cfg, &value));                                 \
		assert_int_equal(value, initial);                                                  \
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {                  \
			assert_ok(rpma_##noun##_set_##field(cfg, values[i]));                      \
			assert_ok(rpma_##noun##_get_##field(cfg, &value));                         \
			assert_int_equal(value, values[i]);                                        \
		}                                                                                  \
		assert_ok(rpma_##noun##_delete(&cfg));                                             \
		assert_null(cfg);                                                                  \
	}

U32_FIELD(conn_cfg, cq_size, 10)
U32_FIELD(conn_cfg, rcq_size, 0)
U32_FIELD(conn_cfg, sq_size, 10)
U32_FIELD(conn_cfg, rq_size, 10)
U32_FIELD(srq_cfg, rq_size, 20)
U32_FIELD(srq_cfg, rcq_size, 20)

/* ---- the others --------------------------------------------------------- */

static void conn_cfg_timeout(void **state)
{
	struct rpma_conn_cfg *cfg = NULL;
	int value = 77;

	(void)state;
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_inval(rpma_conn_cfg_set_timeout(NULL, 1));
	assert_inval(rpma_conn_cfg_set_timeout(cfg, -1));
	assert_inval(rpma_conn_cfg_set_timeout(cfg, INT_MIN));
	assert_inval(rpma_conn_cfg_get_timeout(NULL, &value));
	assert_inval(rpma_conn_cfg_get_timeout(cfg, NULL));
	assert_int_equal(value, 77);

	assert_ok(rpma_conn_cfg_get_timeout(cfg, &value));
	assert_int_equal(value, RPMA_DEFAULT_TIMEOUT_MS);
	assert_ok(rpma_conn_cfg_set_timeout(cfg, 0));
	assert_ok(rpma_conn_cfg_get_timeout(cfg, &value));
	assert_int_equal(value, 0);
	assert_ok(rpma_conn_cfg_set_timeout(cfg, INT_MAX));
	assert_ok(rpma_conn_cfg_get_timeout(cfg, &value));
	assert_int_equal(value, INT_MAX);
	assert_ok(rpma_conn_cfg_delete(&cfg));
}

static void conn_cfg_compl_channel(void **state)
{
	struct rpma_conn_cfg *cfg = NULL;
	bool value = true;

	(void)state;
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_inval(rpma_conn_cfg_set_compl_channel(NULL, true));
	assert_inval(rpma_conn_cfg_get_compl_channel(NULL, &value));
	assert_inval(rpma_conn_cfg_get_compl_channel(cfg, NULL));
	assert_true(value);

	assert_ok(rpma_conn_cfg_get_compl_channel(cfg, &value));
	assert_false(value);
	assert_ok(rpma_conn_cfg_set_compl_channel(cfg, true));
	assert_ok(rpma_conn_cfg_get_compl_channel(cfg, &value));
	assert_true(value);
	assert_ok(rpma_conn_cfg_delete(&cfg));
}

static void conn_cfg_srq(void **state)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = POISON;

	(void)state;
	assert_ok(rpma_conn_cfg_new(&cfg));
	assert_inval(rpma_conn_cfg_set_srq(NULL, POISON));
	assert_inval(rpma_conn_cfg_get_srq(NULL, &srq));
	assert_inval(rpma_conn_cfg_get_srq(cfg, NULL));
	assert_ptr_equal(srq, POISON);

	assert_ok(rpma_conn_cfg_get_srq(cfg, &srq));
	assert_null(srq);
	assert_ok(rpma_conn_cfg_set_srq(cfg, POISON));
	/* Once set it stays set. */
	assert_inval(rpma_conn_cfg_set_srq(cfg, NULL));
	assert_ok(rpma_conn_cfg_get_srq(cfg, &srq));
	assert_ptr_equal(srq, POISON);
	assert_ok(rpma_conn_cfg_delete(&cfg));
}

static void new_and_delete(void **state)
{
	struct rpma_conn_cfg *conn_cfg = NULL;
	struct rpma_srq_cfg *srq_cfg = NULL;
	struct rpma_peer_cfg *peer_cfg = NULL;

	(void)state;
	assert_inval(rpma_conn_cfg_new(NULL));
	assert_inval(rpma_conn_cfg_delete(NULL));
	assert_ok(rpma_conn_cfg_delete(&conn_cfg));
	assert_inval(rpma_srq_cfg_new(NULL));
	assert_inval(rpma_srq_cfg_delete(NULL));
	assert_ok(rpma_srq_cfg_delete(&srq_cfg));
	assert_inval(rpma_peer_cfg_new(NULL));
	assert_inval(rpma_peer_cfg_delete(NULL));
	assert_ok(rpma_peer_cfg_delete(&peer_cfg));
}

static void no_memory(void **state)
{
	uint8_t desc[CORE_PEER_CFG_DESC_SIZE] = { 1 };
	struct rpma_conn_cfg *conn_cfg = POISON;
	struct rpma_srq_cfg *srq_cfg = POISON;
	struct rpma_peer_cfg *peer_cfg = POISON;

	(void)state;
	rig_alloc_fail_at(1);
	assert_int_equal(rpma_conn_cfg_new(&conn_cfg), RPMA_E_NOMEM);
	assert_null(conn_cfg);
	rig_alloc_fail_at(1);
	assert_int_equal(rpma_srq_cfg_new(&srq_cfg), RPMA_E_NOMEM);
	assert_null(srq_cfg);
	rig_alloc_fail_at(1);
	assert_int_equal(rpma_peer_cfg_new(&peer_cfg), RPMA_E_NOMEM);
	assert_ptr_equal(peer_cfg, POISON);
	rig_alloc_fail_at(1);
	assert_int_equal(
		rpma_peer_cfg_from_descriptor(desc, sizeof(desc), &peer_cfg), RPMA_E_NOMEM);
	assert_ptr_equal(peer_cfg, POISON);
}

/* ---- peer configuration ------------------------------------------------- */

static void peer_cfg_direct_write(void **state)
{
	struct rpma_peer_cfg *pcfg = NULL;
	uint8_t desc[2] = { 0xa5, 0xa5 };
	bool value = true;

	(void)state;
	assert_ok(rpma_peer_cfg_new(&pcfg));
	assert_inval(rpma_peer_cfg_set_direct_write_to_pmem(NULL, true));
	assert_inval(rpma_peer_cfg_get_direct_write_to_pmem(NULL, &value));
	assert_inval(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, NULL));
	assert_inval(rpma_peer_cfg_get_descriptor(NULL, desc));
	assert_inval(rpma_peer_cfg_get_descriptor(pcfg, NULL));
	assert_true(value);

	assert_ok(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &value));
	assert_false(value);
	assert_ok(rpma_peer_cfg_get_descriptor(pcfg, desc));
	assert_int_equal(desc[0], 0);
	assert_ok(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	assert_ok(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &value));
	assert_true(value);
	assert_ok(rpma_peer_cfg_get_descriptor(pcfg, desc));
	assert_int_equal(desc[0], 1);
	assert_int_equal(desc[1], 0xa5);
	assert_ok(rpma_peer_cfg_delete(&pcfg));
	assert_null(pcfg);
}

static void peer_cfg_descriptor_size(void **state)
{
	size_t size = 77;

	(void)state;
	assert_inval(rpma_peer_cfg_get_descriptor_size(NULL, &size));
	assert_inval(rpma_peer_cfg_get_descriptor_size(POISON, NULL));
	assert_int_equal(size, 77);
	/* It does not look at the object. */
	assert_ok(rpma_peer_cfg_get_descriptor_size(POISON, &size));
	assert_int_equal(size, 1);
}

static void peer_cfg_from_descriptor(void **state)
{
	static const struct {
		uint8_t desc[3];
		size_t size;
		bool value;
	} cases[] = {
		{ { 0, 1, 1 }, 1, false },
		{ { 0, 1, 1 }, 3, false },
		{ { 1, 0, 0 }, 1, true },
		{ { 0x80, 0, 0 }, 2, true },
	};
	struct rpma_peer_cfg *pcfg = POISON;
	bool value;

	(void)state;
	assert_inval(rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg));
	assert_inval(rpma_peer_cfg_from_descriptor(cases[0].desc, 1, NULL));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);
	assert_inval(rpma_peer_cfg_from_descriptor(cases[0].desc, 0, &pcfg));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
	assert_ptr_equal(pcfg, POISON);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_ok(rpma_peer_cfg_from_descriptor(cases[i].desc, cases[i].size, &pcfg));
		assert_ok(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &value));
		assert_int_equal(value, cases[i].value);
		assert_ok(rpma_peer_cfg_delete(&pcfg));
	}
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_INFO), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(conn_cfg_cq_size),
		rig_test(conn_cfg_rcq_size),
		rig_test(conn_cfg_sq_size),
		rig_test(conn_cfg_rq_size),
		rig_test(conn_cfg_timeout),
		rig_test(conn_cfg_compl_channel),
		rig_test(conn_cfg_srq),
		rig_test(srq_cfg_rq_size),
		rig_test(srq_cfg_rcq_size),
		rig_test(new_and_delete),
		rig_test(no_memory),
		rig_test(peer_cfg_direct_write),
		rig_test(peer_cfg_descriptor_size),
		rig_test(peer_cfg_from_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
