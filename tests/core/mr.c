/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * mr.c -- memory regions and their descriptors
 */

#include <errno.h>
#include <string.h>

#include "core/core.h"
#include "rig.h"

#define DESC_SIZE 21

/* 4096 bytes at 0x7f1234567000, key 0x00a1b2c3, to be written and flushed */
static const uint8_t example[DESC_SIZE] = { 0x00, 0x70, 0x56, 0x34, 0x12, 0x7f, 0x00, 0x00, 0x00,
	0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3, 0xb2, 0xa1, 0x00, 0x18 };

static void reg_arguments(void **state)
{
	static const int usages[] = { 0, 0x100, 0x1ff, -1, 0x4000000 };
	struct rpma_peer *peer = rig_peer();
	struct rpma_mr_local *mr = POISON;
	unsigned calls = fake_calls();

	(void)state;
	assert_inval(rpma_mr_reg(NULL, rig_memory, 1, 1, &mr));
	assert_inval(rpma_mr_reg(peer, NULL, 1, 1, &mr));
	assert_inval(rpma_mr_reg(peer, rig_memory, 0, 1, &mr));
	assert_inval(rpma_mr_reg(peer, rig_memory, 1, 1, NULL));
	for (size_t i = 0; i < sizeof(usages) / sizeof(usages[0]); i++)
		assert_inval(rpma_mr_reg(peer, rig_memory, 1, usages[i], &mr));
	assert_ptr_equal(mr, POISON);
	assert_int_equal(fake_calls(), calls);
	assert_ok(rpma_peer_delete(&peer));
}

static void reg_passes_on(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_mr_local *mr = NULL;
	const struct fake_call *call;
	size_t size;
	void *ptr;

	(void)state;
	for (int usage = 1; usage <= 0xff; usage++) {
		assert_ok(rpma_mr_reg(peer, rig_memory + 1, 100, usage, &mr));
		call = fake_last(FAKE_MR_REG);
		assert_ptr_equal((void *)(uintptr_t)call->memory, rig_memory + 1);
		assert_int_equal(call->length, 100);
		assert_int_equal(call->type, usage);
		assert_ok(rpma_mr_get_ptr(mr, &ptr));
		assert_ptr_equal(ptr, rig_memory + 1);
		assert_ok(rpma_mr_get_size(mr, &size));
		assert_int_equal(size, 100);
		assert_ok(rpma_mr_dereg(&mr));
		assert_null(mr);
		if (usage % 64 == 63) {
			assert_ok(rpma_peer_delete(&peer));
			fake_reset();
			peer = rig_peer();
		}
	}
	assert_ok(rpma_peer_delete(&peer));
}

/* What a provider says of memory is its own error, also "no memory". */
static void reg_failures(void **state)
{
	static const int errors[] = { ENOMEM, EINVAL, EOPNOTSUPP, EIO, EAGAIN };
	struct rpma_peer *peer = rig_peer();
	struct rpma_mr_local *mr = POISON;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		fake_fail(FAKE_MR_REG, errors[i]);
		rig_log_forget();
		assert_int_equal(rpma_mr_reg(peer, rig_memory, 10, 1, &mr), RPMA_E_PROVIDER);
		assert_ptr_equal(mr, POISON);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 1);
		assert_non_null(strstr(rig_log_text(), strerror(errors[i])));
	}
	assert_ok(rpma_peer_delete(&peer));
}

static void dereg_arguments(void **state)
{
	struct rpma_mr_local *mr = NULL;
	struct rpma_mr_remote *remote = NULL;

	(void)state;
	assert_inval(rpma_mr_dereg(NULL));
	assert_ok(rpma_mr_dereg(&mr));
	assert_inval(rpma_mr_remote_delete(NULL));
	assert_ok(rpma_mr_remote_delete(&remote));
	assert_int_equal(fake_calls(), 0);
}

static void getter_arguments(void **state)
{
	struct rig rig = rig_make(NULL);
	void *ptr = POISON;
	size_t size = 77;
	int type = 77;
	char desc[DESC_SIZE] = { 0 };

	(void)state;
	assert_inval(rpma_mr_get_ptr(NULL, &ptr));
	assert_inval(rpma_mr_get_ptr(rig.mr, NULL));
	assert_ptr_equal(ptr, POISON);
	assert_inval(rpma_mr_get_size(NULL, &size));
	assert_inval(rpma_mr_get_size(rig.mr, NULL));
	assert_inval(rpma_mr_get_descriptor(NULL, desc));
	assert_inval(rpma_mr_get_descriptor(rig.mr, NULL));
	assert_inval(rpma_mr_get_descriptor_size(NULL, &size));
	assert_inval(rpma_mr_get_descriptor_size(rig.mr, NULL));
	assert_inval(rpma_mr_remote_get_size(NULL, &size));
	assert_inval(rpma_mr_remote_get_size(rig.remote, NULL));
	assert_int_equal(size, 77);
	assert_inval(rpma_mr_remote_get_flush_type(NULL, &type));
	assert_inval(rpma_mr_remote_get_flush_type(rig.remote, NULL));
	assert_int_equal(type, 77);
	rig_drop(&rig);
}

/* Exactly 21 bytes at any alignment; what one side writes the other reads. */
static void descriptor_bytes(void **state)
{
	struct rpma_peer *peer = rig_peer();
	struct rpma_mr_local *mr = rig_mr(peer);
	struct rpma_mr_remote *remote = NULL;
	uint8_t desc[8 + DESC_SIZE + 1];
	uint64_t addr = (uintptr_t)rig_memory;
	size_t size = 0;

	(void)state;
	assert_ok(rpma_mr_get_descriptor_size(mr, &size));
	assert_int_equal(size, DESC_SIZE);
	for (size_t at = 0; at < 8; at++) {
		memset(desc, 0xa5, sizeof(desc));
		assert_ok(rpma_mr_get_descriptor(mr, desc + at));
		for (size_t i = 0; i < 8; i++) {
			assert_int_equal(desc[at + i], (addr >> (8 * i)) & 0xff);
			assert_int_equal(desc[at + 8 + i], ((uint64_t)RIG_SIZE >> (8 * i)) & 0xff);
		}
		assert_int_equal(desc[at + 20], 0xff);
		assert_int_equal(desc[at + 21], 0xa5);
		assert_ok(rpma_mr_remote_from_descriptor(desc + at, DESC_SIZE, &remote));
		assert_ok(rpma_mr_remote_get_size(remote, &size));
		assert_int_equal(size, RIG_SIZE);
		assert_ok(rpma_mr_remote_delete(&remote));
		assert_null(remote);
	}
	assert_ok(rpma_mr_dereg(&mr));
	assert_ok(rpma_peer_delete(&peer));
}

static void descriptor_codec(void **state)
{
	struct rpma_mr_remote mr = { 0x7f1234567000, 4096, 0x00a1b2c3, 0x18 };
	uint8_t desc[DESC_SIZE];

	(void)state;
	core_mr_desc_encode(desc, &mr);
	assert_memory_equal(desc, example, DESC_SIZE);
	memset(&mr, 0, sizeof(mr));
	core_mr_desc_decode(example, &mr);
	assert_true(mr.addr == 0x7f1234567000);
	assert_int_equal(mr.size, 4096);
	assert_int_equal(mr.rkey, 0x00a1b2c3);
	assert_int_equal(mr.usage, 0x18);
}

static void from_descriptor_arguments(void **state)
{
	struct rpma_mr_remote *remote = POISON;
	uint8_t desc[DESC_SIZE + 100];

	(void)state;
	memset(desc, 0xa5, sizeof(desc));
	memcpy(desc, example, sizeof(example));
	assert_inval(rpma_mr_remote_from_descriptor(NULL, DESC_SIZE, &remote));
	assert_inval(rpma_mr_remote_from_descriptor(desc, DESC_SIZE, NULL));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), 0);
	for (size_t size = 0; size < DESC_SIZE; size++)
		assert_inval(rpma_mr_remote_from_descriptor(desc, size, &remote));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), DESC_SIZE);
	desc[20] = 0;
	assert_inval(rpma_mr_remote_from_descriptor(desc, DESC_SIZE, &remote));
	assert_inval(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &remote));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), DESC_SIZE + 2);
	assert_ptr_equal(remote, POISON);

	rig_alloc_fail_at(1);
	assert_int_equal(rpma_mr_remote_from_descriptor(example, DESC_SIZE, &remote), RPMA_E_NOMEM);
	assert_ptr_equal(remote, POISON);
}

static void from_descriptor(void **state)
{
	static const uint8_t usages[] = { 0x01, 0x10, 0x20, 0x30, 0xcf, 0xff };
	struct rpma_mr_remote *remote = NULL;
	uint8_t desc[DESC_SIZE + 100] = { 0 };
	size_t size;
	int type;

	(void)state;
	memcpy(desc, example, sizeof(example));
	for (size_t i = 0; i < sizeof(usages); i++) {
		desc[20] = usages[i];
		assert_ok(rpma_mr_remote_from_descriptor(desc, DESC_SIZE + i * 20, &remote));
		assert_ok(rpma_mr_remote_get_size(remote, &size));
		assert_int_equal(size, 4096);
		assert_ok(rpma_mr_remote_get_flush_type(remote, &type));
		assert_int_equal(type, usages[i] & 0x30);
		assert_ok(rpma_mr_remote_delete(&remote));
	}
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_DEBUG), sizeof(usages));
	assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_INFO), 0);
}

static void advise(void **state)
{
	static const struct {
		int err;
		int code;
	} cases[] = {
		{ 0, 0 },
		{ EOPNOTSUPP, RPMA_E_NOSUPP },
		{ ENOTSUP, RPMA_E_NOSUPP },
		{ EFAULT, RPMA_E_INVAL },
		{ EINVAL, RPMA_E_INVAL },
		{ EIO, RPMA_E_PROVIDER },
		{ ENOMEM, RPMA_E_PROVIDER },
	};
	struct rig rig = rig_make(NULL);
	const struct fake_call *call;

	(void)state;
	assert_inval(rpma_mr_advise(NULL, 0, 1, 0, 0));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_fail(FAKE_MR_ADVISE, cases[i].err);
		assert_int_equal(rpma_mr_advise(rig.mr, 16, 5ULL << 32, 1, 3), cases[i].code);
		call = fake_last(FAKE_MR_ADVISE);
		assert_int_equal(call->memory, (uintptr_t)rig_memory + 16);
		assert_int_equal(call->length, 5ULL << 32);
		assert_int_equal(call->type, 1);
		assert_int_equal(call->flags, 3);
		assert_int_equal(rig_log_count(RPMA_LOG_LEVEL_ERROR), i);
	}
	rig_drop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(reg_arguments),
		rig_test(reg_passes_on),
		rig_test(reg_failures),
		rig_test(dereg_arguments),
		rig_test(getter_arguments),
		rig_test(descriptor_bytes),
		rig_test(descriptor_codec),
		rig_test(from_descriptor_arguments),
		rig_test(from_descriptor),
		rig_test(advise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
