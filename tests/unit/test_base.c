/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* test_base.c -- integers in memory, the list */

#include "base/bytes.h"
#include "base/list.h"
#include "support.h"

static void bytes_have_their_order(void **state)
{
	uint8_t b[8];

	(void)state;
	put_be16(b, 0x0102);
	assert_hex(b, 2, "01 02");
	put_be32(b, 0x01020304);
	assert_hex(b, 4, "01 02 03 04");
	put_be64(b, UINT64_C(0x0102030405060708));
	assert_hex(b, 8, "01 02 03 04 05 06 07 08");
	put_le16(b, 0x0102);
	assert_hex(b, 2, "02 01");
	put_le32(b, 0x01020304);
	assert_hex(b, 4, "04 03 02 01");
	put_le64(b, UINT64_C(0x0102030405060708));
	assert_hex(b, 8, "08 07 06 05 04 03 02 01");
}

static void bytes_come_back_from_any_alignment(void **state)
{
	uint8_t b[16];

	(void)state;
	for (size_t at = 0; at < 8; at++) {
		uint64_t v = rnd();

		put_be64(b + at, v);
		assert_int_equal(get_be64(b + at), v);
		assert_int_equal(get_be32(b + at), v >> 32);
		assert_int_equal(get_be16(b + at), v >> 48);
		put_le64(b + at, v);
		assert_int_equal(get_le64(b + at), v);
		assert_int_equal(get_le32(b + at), (uint32_t)v);
		assert_int_equal(get_le16(b + at), (uint16_t)v);
	}
}

static void bytes_stay_in_their_place(void **state)
{
	uint8_t b[10];

	(void)state;
	memset(b, 0x55, sizeof(b));
	put_be32(b + 3, 0xffffffff);
	assert_hex(b, sizeof(b), "55 55 55 ff ff ff ff 55 55 55");
}

struct item {
	int number;
	struct list node;
};

static void list_keeps_order(void **state)
{
	struct item item[3] = { { .number = 0 }, { .number = 1 }, { .number = 2 } };
	struct list head;

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	assert_null(list_pop(&head));
	for (int i = 0; i < 3; i++)
		list_add_tail(&head, &item[i].node);
	assert_false(list_empty(&head));
	assert_ptr_equal(list_first(&head, struct item, node), &item[0]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(container_of(list_pop(&head), struct item, node)->number, i);
	assert_true(list_empty(&head));
}

static void list_node_may_be_deleted_twice(void **state)
{
	struct item item[3];
	struct list head;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 3; i++)
		list_add_tail(&head, &item[i].node);
	list_del(&item[1].node);
	list_del(&item[1].node);
	assert_true(list_empty(&item[1].node));
	assert_ptr_equal(list_pop(&head), &item[0].node);
	assert_ptr_equal(list_pop(&head), &item[2].node);
	assert_null(list_pop(&head));
}

static void list_walk_may_delete(void **state)
{
	struct item item[5];
	struct list head;
	int seen = 0;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 5; i++) {
		item[i].number = i;
		list_add_tail(&head, &item[i].node);
	}
	list_each (n, tmp, &head) {
		assert_int_equal(container_of(n, struct item, node)->number, seen++);
		list_del(n);
	}
	assert_int_equal(seen, 5);
	assert_true(list_empty(&head));
	list_each (n, tmp, &head)
		fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_have_their_order),
		cmocka_unit_test(bytes_come_back_from_any_alignment),
		cmocka_unit_test(bytes_stay_in_their_place),
		cmocka_unit_test(list_keeps_order),
		cmocka_unit_test(list_node_may_be_deleted_twice),
		cmocka_unit_test(list_walk_may_delete),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
