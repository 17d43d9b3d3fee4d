/* SPDX-License-Identifier: MIT
 *
 * heap.h - heaps in arrays of any kind: item 0 is above all others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is done with items by their numbers. */
typedef bool heap_order(const void *items, size_t i, size_t j); /* whether item i is above item j */
typedef void heap_swap(void *items, size_t i, size_t j);

/* Moves item i of n down to where it belongs. The items below it are heaps. Inline, as the functions are then. */
static inline __attribute__((always_inline)) void heap_sink(void *items, size_t n, size_t i, heap_order *is_above, heap_swap *swap)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && is_above(items, child + 1, child);
		if (!is_above(items, child, i))
			return;
		swap(items, child, i);
	}
}

/* Moves item i up to where it belongs, among items that are a heap but for it. */
static inline __attribute__((always_inline)) void heap_rise(void *items, size_t i, heap_order *is_above, heap_swap *swap)
{
	for (; i > 0 && is_above(items, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(items, i, (i - 1) / 2);
}

/* Makes n items a heap. */
static inline __attribute__((always_inline)) void heap_make(void *items, size_t n, heap_order *is_above, heap_swap *swap)
{
	for (size_t i = n / 2; i-- > 0;)
		heap_sink(items, n, i, is_above, swap);
}

/* Sorts n items in place: none is above one behind it. */
static inline __attribute__((always_inline)) void heap_sort(void *items, size_t n, heap_order *is_above, heap_swap *swap)
{
	heap_make(items, n, is_above, swap);
	for (; n > 1; heap_sink(items, n, 0, is_above, swap))
		swap(items, 0, --n);
}
