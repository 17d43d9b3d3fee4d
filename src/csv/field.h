/* SPDX-License-Identifier: MIT
 *
 * field.h - one raw field of a text, and its value.
 */
#ifndef GPUSTAT_FIELD_H
#define GPUSTAT_FIELD_H

#include <stddef.h>

/* Where a field lies in a text: [begin, end), quotes included. */
struct field_span {
	size_t begin, end;
};

/* Memory for a field's value once its quotes are removed. Zeroed: empty; grows. */
struct scratch {
	char *data; /* owned */
	size_t nbytes;
};

/* Removes the quotes of field[0 .. nbytes): the outer ones; "" becomes "; text after the closing
 * quote is kept. Returns a pointer into field or into scratch, and the length in *value_nbytes;
 * NULL where memory ran out. */
const char *field_value(const char *field, size_t nbytes, struct scratch *scratch,
			size_t *value_nbytes);

#endif
