/* SPDX-License-Identifier: MIT
 *
 * table.h - prints a table of text to standard output in one of the formats.
 */
#pragma once

#include <string.h>

#include "base/status.h"
#include "io/row_format.h"

struct cell {
	char *text; /* owned by the table; "": no value, null in JSON if is_number */
	bool is_number;
	bool is_spelled; /* a number not as other results are printed: that comes after text's NUL, as a second string */
	bool is_quoted;  /* a number that is a string in JSON, since its column has texts */
};

/* A number's text in the form of plain.h. */
static inline const char *cell_number(const struct cell *cell)
{
	return cell->is_spelled ? cell->text + strlen(cell->text) + 1 : cell->text;
}

struct table {
	size_t ncolumns, nrows;
	struct cell *names; /* ncolumns; owned, with the cells: these are right behind them only while ncolumns is table_init's */
	struct cell *cells; /* nrows x ncolumns, row by row */
	bool one_record;    /* the only row prints as an object, not as a list */
	size_t nlabels;     /* for a picture: the first columns, which name the rows; 0: none can be drawn */
	bool labels_are_bounds; /* from the one label to the other */
	char *title;        /* of the picture; owned */
};

/* Makes a table whose cells are all NULL. Errors: STATUS_NO_MEMORY. */
enum status table_init(struct table *t, size_t ncolumns, size_t nrows);
void table_free(struct table *t);

/* The cells in one text, to be freed; NULL: no memory. */
char *table_join(const struct cell *cells, size_t ncells, const char *between);

/* The most columns that rows, or the values of a key, become. */
#define TABLE_NCOLUMNS_MOST 1000

/* Makes the last of the first nlabels columns, which name rows, columns: a row for each combination of the others, in the order in which
 * these first come, and for each value of that column as many as there are after it, in the order in which the values first come,
 * or as `arrange` says: places[i] is that of values[i]. A column is called VALUE, or VALUE_NAME if there are several for each. A cell of no row is missing. A label column which that column repeats
 * is dropped. is_repeated: of each label. Errors: STATUS_NO_MEMORY, STATUS_USAGE: there would be more than TABLE_NCOLUMNS_MOST. */
enum status table_pivot(struct table *t, size_t nlabels, const bool *is_repeated,
			enum status (*arrange)(void *context, const char *const *values, size_t n, size_t *places), void *context,
			struct fault *fault);

/* Makes columns rows, whose first cell is the column's name, and rows columns, which are called as their first cell: of one record, "value".
 * Errors: STATUS_NO_MEMORY, STATUS_USAGE: there would be more than TABLE_NCOLUMNS_MOST. */
enum status table_transpose(struct table *t, struct fault *fault);

/* Records for a table, whose widths depend on all of them: as a row_format of FORMAT_TABLE writes them. Zeroed: none. */
struct table_rows {
	struct text_buffer text;
	size_t ncells;
	uint64_t ntaken; /* of the memory limit */
};

/* Adds rows. Errors: STATUS_NO_MEMORY. */
enum status table_rows_add(struct table_rows *rows, const char *text, size_t nbytes);

/* Prints them: numbers are aligned in a column that has no text. Errors: those of table_print. */
enum status table_rows_print(const struct table_rows *rows, const char *const *names, size_t ncolumns, struct style style,
			     struct fault *fault);
void table_rows_free(struct table_rows *rows);

/* Appends the cell of a column. Errors: STATUS_NO_MEMORY. */
enum status table_append(struct text_buffer *out, const struct row_format *f, size_t column, const struct cell *cell);

/* Prints and flushes t; FORMAT_AUTO is as FORMAT_PLAIN. Errors: STATUS_NO_MEMORY, STATUS_WRITE. */
enum status table_print(const struct table *t, struct style style, struct fault *fault);
