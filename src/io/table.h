/* SPDX-License-Identifier: MIT
 *
 * table.h - prints a table of text to standard output in one of the formats.
 */
#ifndef GPUSTAT_TABLE_H
#define GPUSTAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "csv/field.h"

enum format { FORMAT_AUTO, FORMAT_PLAIN, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON, FORMAT_TABLE };

struct cell {
	char *text; /* owned by the table; "": no value, null in JSON if is_number */
	bool is_number;
};

struct table {
	size_t ncolumns, nrows;
	struct cell *names; /* ncolumns; owned, with the cells behind them */
	struct cell *cells; /* nrows x ncolumns, row by row */
	bool one_record;    /* the only row prints as an object, not as a list */
};

/* Makes a table whose cells are all NULL. Errors: STATUS_NO_MEMORY. */
enum status table_init(struct table *t, size_t ncolumns, size_t nrows);
void table_free(struct table *t);

/* Prints and flushes t; FORMAT_AUTO is as FORMAT_PLAIN. Errors: STATUS_NO_MEMORY, STATUS_WRITE. */
enum status table_print(const struct table *t, enum format format, struct fault *fault);

/* Prints text as a field of the dialect, quoted or escaped if needed. With whitespace, a blank or a
 * line end in it becomes "_". */
void output_field(const char *text, const struct csv_dialect *dialect);

/* Whether output_field can: the text is read as it is, or the dialect can quote or escape it. */
bool output_field_fits(const char *text, const struct csv_dialect *dialect);

/* Flushes standard output. Errors: STATUS_WRITE for this or an earlier write. */
enum status output_flush(struct fault *fault);

/* Flushes and closes standard output: some file systems report a full disk only then. Errors:
 * STATUS_WRITE. */
enum status output_close(struct fault *fault);

#endif
