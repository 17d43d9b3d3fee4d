/* SPDX-License-Identifier: MIT
 *
 * array.h - arrays that grow, and text that does: memory that is reallocated, at least twice as much each time.
 */
#pragma once

#include "base/status.h"

/* Makes room for `wanted` items in array, which is NULL or from malloc and has room for capacity, a size_t. Both are lvalues.
 * On STATUS_NO_MEMORY they are as before. */
#define ARRAY_GROW(array, capacity, wanted) \
	((wanted) <= (capacity) ? STATUS_OK : array_grow(&(array), &(capacity), wanted, sizeof *(array)))

/* Returns a zeroed item behind the n items of array, or NULL when there is no memory. For arrays that have no capacity because
 * nothing else makes them grow: they begin as NULL, and there is room up to the next power of 2. The caller counts the item. */
#define ARRAY_ADD(array, n) array_add(&(array), n, sizeof *(array))

/* Puts a value, which the rest of the arguments are, behind the n items of such an array, and counts it. Errors: STATUS_NO_MEMORY. */
#define ARRAY_PUSH(array, n, ...) \
	(ARRAY_ADD(array, n) ? ((array)[(n)++] = __VA_ARGS__, STATUS_OK) : STATUS_NO_MEMORY)

/* array: the address of a pointer to items of each_nbytes. */
enum status array_grow(void *array, size_t *capacity, size_t wanted, size_t each_nbytes);
void *array_add(void *array, size_t n, size_t each_nbytes);

/* For qsort and bsearch: ascending order of uint64_t, or of structs that begin with one, and of int64_t. */
int compare_uint64(const void *a, const void *b);
int compare_int64(const void *a, const void *b);

/* A text that grows. Zeroed: empty. */
struct text_buffer {
	char *data; /* owned */
	size_t nbytes, capacity;
	bool in_line; /* ends with a record that has no line end, even one of no bytes; the writer
		       * clears this */
};

/* Makes room for nbytes more. Errors: STATUS_NO_MEMORY. */
enum status text_reserve(struct text_buffer *text, size_t nbytes);

/* Appends text[0 .. nbytes). Errors: STATUS_NO_MEMORY. */
enum status text_append(struct text_buffer *to, const char *text, size_t nbytes);
void text_free(struct text_buffer *text);
