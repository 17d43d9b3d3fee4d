/* SPDX-License-Identifier: MIT
 *
 * sheet.h - rows of anything, printed as table, CSV or JSON, from one table of columns.
 */
#ifndef GPUSTAT_SHEET_H
#define GPUSTAT_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "query/options.h"
#include "base/status.h"

#define SHEET_CELL_NBYTES 256

struct sheet_column {
	const char *name;    /* in CSV and JSON: "median_us"; NULL: not there */
	const char *heading; /* in a table: "time us"; NULL: not there */
	bool is_number;      /* to the right in a table, bare in JSON (true and false, too) */
	/* Writes the cell of rows' row into text, SHEET_CELL_NBYTES long; leaves it "" where
	 * there is no such value. */
	void (*write)(const void *rows, size_t row, char *text);
};

/* Prints rows [first, first + nrows) and makes sure that they were written. A value that there
 * is none of is empty in CSV, null in JSON if a number, and '-' in a table. format: FORMAT_TABLE,
 * FORMAT_CSV or FORMAT_JSON. Errors: STATUS_NO_MEMORY, STATUS_WRITE. */
enum status sheet_print(const struct sheet_column *columns, size_t ncolumns, const void *rows,
			size_t first, size_t nrows, enum format format, struct fault *fault);

#endif
