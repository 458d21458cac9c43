/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026, the librpma authors */

/* held.c -- see held.h */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "held.h"

static bool before(const struct packet *a, const struct packet *b)
{
	return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void swap(struct packet *a, struct packet *b)
{
	struct packet t = *a;

	*a = *b;
	*b = t;
}

static void rise(struct held *h, size_t i)
{
	for (; i > 0 && before(&h->heap[i], &h->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h->heap[i], &h->heap[(i - 1) / 2]);
}

static void sink(struct held *h, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && before(&h->heap[child + 1], &h->heap[child]))
			child++;
		if (before(&h->heap[i], &h->heap[child]))
			return;
		swap(&h->heap[i], &h->heap[child]);
	}
}

static bool make_room(struct held *h)
{
	size_t room = h->room ? 2 * h->room : 256;
	struct packet *heap;

	if (h->n < h->room)
		return true;
	heap = realloc(h->heap, room * sizeof(*heap));
	if (heap == NULL)
		return false;
	h->heap = heap;
	h->room = room;
	return true;
}

void held_add(struct held *h, int64_t due, const void *data, size_t len)
{
	uint8_t *copy = malloc(len);

	if (copy == NULL || !make_room(h)) {
		free(copy);
		return;
	}
	memcpy(copy, data, len);
	h->heap[h->n] = (struct packet){ due, h->number++, len, copy };
	rise(h, h->n++);
}

struct packet held_take(struct held *h, int64_t now)
{
	struct packet first = { 0 };

	if (h->n == 0 || h->heap[0].due > now)
		return first;
	first = h->heap[0];
	h->heap[0] = h->heap[--h->n];
	sink(h, 0);
	return first;
}

int64_t held_next(const struct held *h)
{
	return h->n > 0 ? h->heap[0].due : -1;
}

void held_free(struct held *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->heap[i].data);
	free(h->heap);
}
