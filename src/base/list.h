/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/*
 * list.h -- intrusive doubly linked list
 *
 * A node that is in no list points to itself, so list_del() may be called on it
 * again. The lock is the owner's business.
 */

#ifndef RPMA_BASE_LIST_H
#define RPMA_BASE_LIST_H 1

#include <stdbool.h>
#include <stddef.h>

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct list {
	struct list *next;
	struct list *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_add_tail(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

static inline struct list *list_pop(struct list *head)
{
	struct list *node = head->next;

	if (node == head)
		return NULL;
	list_del(node);
	return node;
}

#define list_first(head, type, member) container_of((head)->next, type, member)

/* The body may delete node. */
#define list_each(node, tmp, head)                                                                 \
	for (struct list *node = (head)->next, *tmp = node->next; node != (head);                  \
		node = tmp, tmp = node->next)

#endif /* RPMA_BASE_LIST_H */
