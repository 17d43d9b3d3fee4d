/* SPDX-License-Identifier: MIT
 *
 * table.h - prints a table of text to standard output in one of the formats.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "csv/field.h"

enum format {
	FORMAT_AUTO, FORMAT_PLAIN, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON, FORMAT_NDJSON, FORMAT_TABLE,
	FORMAT_MARKDOWN
};

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

/* Write a cell as CSV, or as TSV: with tabs and line ends as \t, \n, \r, and \ as \\. There is room for twice its bytes, and two
 * more. Return its end. */
char *table_write_csv(char *to, const char *text, size_t nbytes);
char *table_write_tsv(char *to, const char *text, size_t nbytes);

/* Prints and flushes t; FORMAT_AUTO is as FORMAT_PLAIN. Errors: STATUS_NO_MEMORY, STATUS_WRITE. */
enum status table_print(const struct table *t, enum format format, struct fault *fault);
