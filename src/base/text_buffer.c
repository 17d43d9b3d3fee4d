/* SPDX-License-Identifier: MIT
 *
 * text_buffer.c - see text_buffer.h.
 */
#include "base/text_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum status text_reserve(struct text_buffer *text, size_t nbytes)
{
	return ARRAY_GROW(text->data, text->capacity, text->nbytes + nbytes);
}

void text_free(struct text_buffer *text)
{
	free(text->data);
	memset(text, 0, sizeof *text);
}
