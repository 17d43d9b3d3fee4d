/* SPDX-License-Identifier: MIT
 *
 * array.c - see array.h.
 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Pointers to all types of items have the size of void *; they are copied, since their types differ. */
static void *resize(void *array, size_t n, size_t each_nbytes)
{
	void *items, *grown = NULL;

	memcpy(&items, array, sizeof items);
	if (each_nbytes == 0 || n <= SIZE_MAX / each_nbytes)
		grown = realloc(items, n * each_nbytes);
	if (grown)
		memcpy(array, &grown, sizeof grown);
	return grown;
}

enum status array_grow(void *array, size_t *capacity, size_t wanted, size_t each_nbytes)
{
	size_t n = 2 * *capacity > wanted ? 2 * *capacity : wanted;

	NEED(resize(array, n, each_nbytes));
	*capacity = n;
	return STATUS_OK;
}

void *array_add(void *array, size_t n, size_t each_nbytes)
{
	char *items;

	if ((n & (n - 1)) == 0 && !resize(array, n ? 2 * n : 1, each_nbytes))
		return NULL;
	memcpy(&items, array, sizeof items);
	return memset(items + n * each_nbytes, 0, each_nbytes);
}

int compare_uint64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

enum status text_reserve(struct text_buffer *text, size_t nbytes)
{
	return ARRAY_GROW(text->data, text->capacity, text->nbytes + nbytes);
}

enum status text_append(struct text_buffer *to, const char *text, size_t nbytes)
{
	TRY(text_reserve(to, nbytes));
	if (nbytes > 0)
		memcpy(to->data + to->nbytes, text, nbytes);
	to->nbytes += nbytes;
	return STATUS_OK;
}

void text_free(struct text_buffer *text)
{
	free(text->data);
	memset(text, 0, sizeof *text);
}
