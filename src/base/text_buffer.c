/* SPDX-License-Identifier: MIT
 *
 * text_buffer.c - see text_buffer.h.
 */
#include "base/text_buffer.h"

#include <stdlib.h>
#include <string.h>

enum status text_reserve(struct text_buffer *text, size_t nbytes)
{
	size_t capacity = 2 * text->capacity + nbytes;
	char *grown;

	if (text->capacity - text->nbytes >= nbytes)
		return STATUS_OK;
	grown = realloc(text->data, capacity);
	if (!grown)
		return STATUS_NO_MEMORY;
	text->data = grown;
	text->capacity = capacity;
	return STATUS_OK;
}

void text_free(struct text_buffer *text)
{
	free(text->data);
	memset(text, 0, sizeof *text);
}
