/* SPDX-License-Identifier: MIT
 *
 * table.h - a table of text on standard output, in the format asked for.
 */
#ifndef GPUSTAT_OUTPUT_H
#define GPUSTAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "query/options.h"
#include "base/status.h"

/* One value. Text "" is an empty value: null in JSON if the cell is a number's. */
struct cell {
	char *text; /* owned by the table */
	bool is_number;
};

struct table {
	size_t ncolumns, nrows;
	struct cell *names; /* ncolumns */
	struct cell *cells; /* nrows x ncolumns, row by row */
	bool one_record;    /* the one row is an object by itself, not the first of a list */
};

/* Makes a table whose cells are all NULL. Errors: STATUS_NO_MEMORY. */
enum status table_init(struct table *t, size_t ncolumns, size_t nrows);
void table_free(struct table *t);

/* Prints t and makes sure that it was written. format is not FORMAT_AUTO.
 * Errors: STATUS_WRITE. */
enum status table_print(const struct table *t, enum format format, struct fault *fault);

/* Prints text as a field of a record, in quotes if it needs them. */
void output_field(const char *text, char delimiter);

/* Makes sure that all of standard output was written. Errors: STATUS_WRITE. */
enum status output_flush(struct fault *fault);

/* Likewise, once and for all: closes it, which is when some file systems say that they have no
 * room. Errors: STATUS_WRITE. */
enum status output_close(struct fault *fault);

#endif
