/* SPDX-License-Identifier: MIT
 *
 * sheet.c - see sheet.h. The three forms are gpustat's own (table.h).
 */
#include "bench/report/sheet.h"

#include <string.h>

#include "io/table.h"

/* What a column is called in this form; NULL: it is not part of it. */
static const char *title(const struct sheet_column *column, enum format format)
{
	return format == FORMAT_TABLE ? column->heading : column->name;
}

static enum status set_cell(struct cell *cell, const char *text, bool is_number)
{
	cell->text = strdup(text);
	cell->is_number = is_number;
	return cell->text ? STATUS_OK : STATUS_NO_MEMORY;
}

/* One column, which becomes column c of t: its title, then its cells. */
static enum status fill_column(struct table *t, size_t c, const struct sheet_column *column,
			       const void *rows, size_t first, enum format format)
{
	enum status status = set_cell(&t->names[c], title(column, format), column->is_number);

	for (size_t row = 0; row < t->nrows && status == STATUS_OK; row++) {
		char text[SHEET_CELL_NBYTES] = "";
		column->write(rows, first + row, text);
		if (!*text && format == FORMAT_TABLE)
			strcpy(text, "-");
		status = set_cell(&t->cells[row * t->ncolumns + c], text, column->is_number);
	}
	return status;
}

enum status sheet_print(const struct sheet_column *columns, size_t ncolumns, const void *rows,
			size_t first, size_t nrows, enum format format, struct fault *fault)
{
	struct table table;
	enum status status;
	size_t nshown = 0;

	for (size_t i = 0; i < ncolumns; i++)
		nshown += title(&columns[i], format) != NULL;
	status = table_init(&table, nshown, nrows);
	for (size_t i = 0, c = 0; i < ncolumns && status == STATUS_OK; i++)
		if (title(&columns[i], format))
			status = fill_column(&table, c++, &columns[i], rows, first, format);
	if (status == STATUS_OK)
		status = table_print(&table, format, fault);
	else
		fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	table_free(&table);
	return status;
}
