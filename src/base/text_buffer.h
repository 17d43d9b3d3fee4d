/* SPDX-License-Identifier: MIT
 *
 * text_buffer.h - text that grows.
 */
#ifndef GPUSTAT_TEXT_BUFFER_H
#define GPUSTAT_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Zeroed: empty. */
struct text_buffer {
	char *data; /* owned */
	size_t nbytes, capacity;
	bool in_line; /* ends with a record that has no line end, even one of no bytes; the writer
		       * clears this */
};

/* Makes room for nbytes more. Errors: STATUS_NO_MEMORY. */
enum status text_reserve(struct text_buffer *text, size_t nbytes);
void text_free(struct text_buffer *text);

#endif
