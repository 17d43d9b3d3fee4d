/* SPDX-License-Identifier: MIT
 *
 * table.c - see table.h.
 */
#include "io/table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/output.h"
#include "io/table_json.h"
#include "io/table_markdown.h"

#define TEXT_WIDTH_MAX 100
#define CELL_WIDTH_MAX 24 /* of a text in a column of numbers: longer ones are cut */
#define ELLIPSIS "\u2026"

enum status table_init(struct table *t, size_t ncolumns, size_t nrows)
{
	memset(t, 0, sizeof *t);
	t->names = calloc(ncolumns * (nrows + 1) + 1, sizeof *t->names);
	if (!t->names)
		return STATUS_NO_MEMORY;
	t->cells = t->names + ncolumns;
	t->ncolumns = ncolumns;
	t->nrows = nrows;
	return STATUS_OK;
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->ncolumns * (t->nrows + 1); i++)
		free(t->names[i].text);
	free(t->names);
	free(t->title);
	memset(t, 0, sizeof *t);
}

/* ---- one cell ---- */

static void print_csv_cell(FILE *out, const char *text)
{
	static const struct csv_dialect of_results = {.delimiter = ',', .quote = '"'};

	output_field(out, text, &of_results, false);
}

/* Prints tabs and line ends as \t, \n, \r, and \ as \\. */
static void print_tsv_cell(FILE *out, const char *text)
{
	for (; *text; text++) {
		const char *special = "\t\n\r\\", *at = strchr(special, *text);
		if (at) {
			putc('\\', out);
			putc("tnr\\"[at - special], out);
		} else {
			putc(*text, out);
		}
	}
}

/* ---- rows ---- */

static void print_separated(FILE *out, const struct cell *row, size_t ncells, char separator,
			    void (*print)(FILE *, const char *))
{
	for (size_t i = 0; i < ncells; i++) {
		if (i)
			putc(separator, out);
		print(out, row[i].text);
	}
	putc('\n', out);
}

static void print_rows(FILE *out, const struct table *t, char separator, bool names,
		       void (*print)(FILE *, const char *))
{
	if (names)
		print_separated(out, t->names, t->ncolumns, separator, print);
	for (size_t i = 0; i < t->nrows; i++)
		print_separated(out, t->cells + i * t->ncolumns, t->ncolumns, separator, print);
}

/* Prints the values without names: of one record, one a line; otherwise a row a line. */
static void print_plain(FILE *out, const struct table *t)
{
	print_rows(out, t, t->one_record ? '\n' : '\t', false, print_tsv_cell);
}

/* ---- aligned ---- */

/* Whether a cell of a column is cut: a text among the numbers of several records, such as the least
 * of a column of text in the summary. */
static bool is_cut(const struct table *t, size_t column, const struct cell *cell)
{
	return !t->one_record && t->names[column].is_number && cell != &t->names[column] &&
	       !cell->is_number && utf8_width(cell->text) > CELL_WIDTH_MAX;
}

static size_t cell_width(const struct table *t, size_t column, const struct cell *cell)
{
	return is_cut(t, column, cell) ? CELL_WIDTH_MAX : utf8_width(cell->text);
}

static void print_cell(FILE *out, const struct table *t, size_t column, const struct cell *cell)
{
	size_t nbytes = strlen(cell->text);

	if (is_cut(t, column, cell)) {
		size_t room = CELL_WIDTH_MAX - 1;
		nbytes = utf8_fit(cell->text, &room);
		fprintf(out, "%*s", (int)room, "");
		utf8_print(out, cell->text, nbytes);
		fputs(ELLIPSIS, out);
		return;
	}
	utf8_print(out, cell->text, nbytes);
}

/* Whether some cell of the column has text. A column of the summary without any is not printed: it
 * would be a gap between others. */
static bool is_shown(const struct table *t, size_t column)
{
	bool any = t->one_record || t->nrows == 0;

	for (size_t i = 0; i < t->nrows && !any; i++)
		any = *t->cells[i * t->ncolumns + column].text;
	return any;
}

/* Returns the widest cell's width. In a column of text, cells beyond TEXT_WIDTH_MAX do not count:
 * padding many short cells to one long one would exceed the size of the input. */
static size_t column_width(const struct table *t, size_t column)
{
	size_t limit = t->names[column].is_number ? SIZE_MAX : TEXT_WIDTH_MAX;
	size_t width = utf8_width(t->names[column].text);

	for (size_t i = 0; i < t->nrows; i++) {
		size_t w = cell_width(t, column, &t->cells[i * t->ncolumns + column]);
		width = w > width && w <= limit ? w : width;
	}
	return width;
}

#define WIDTH_HIDDEN SIZE_MAX /* of a column that is not printed */

/* Aligns numbers right and text left, without trailing blanks. */
static void print_aligned(FILE *out, const struct table *t, const struct cell *row,
			  const size_t *widths)
{
	size_t pending = 0, end = t->ncolumns;

	while (end > 0 && !*row[end - 1].text)
		end--;
	for (size_t i = 0; i < end; i++) {
		size_t width = cell_width(t, i, &row[i]);
		size_t pad = width < widths[i] ? widths[i] - width : 0;
		bool right = t->names[i].is_number;
		if (widths[i] == WIDTH_HIDDEN)
			continue;
		fprintf(out, "%*s", (int)(pending + (right ? pad : 0)), "");
		print_cell(out, t, i, &row[i]);
		pending = 2 + (right ? 0 : pad);
	}
	putc('\n', out);
}

static enum status print_table(FILE *out, const struct table *t)
{
	size_t *widths = calloc(t->ncolumns + 1, sizeof *widths);

	if (!widths)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < t->ncolumns; i++)
		widths[i] = is_shown(t, i) ? column_width(t, i) : WIDTH_HIDDEN;
	print_aligned(out, t, t->names, widths);
	for (size_t i = 0; i < t->nrows; i++)
		print_aligned(out, t, t->cells + i * t->ncolumns, widths);
	free(widths);
	return STATUS_OK;
}

enum status table_print(const struct table *t, enum format format, struct fault *fault)
{
	FILE *out = output_stream();
	enum status status = STATUS_OK;

	if (format == FORMAT_CSV)
		print_rows(out, t, ',', true, print_csv_cell);
	else if (format == FORMAT_TSV)
		print_rows(out, t, '\t', true, print_tsv_cell);
	else if (format == FORMAT_JSON)
		status = table_print_json(t, out);
	else if (format == FORMAT_NDJSON)
		status = table_print_ndjson(t, out);
	else if (format == FORMAT_MARKDOWN)
		table_print_markdown(t, out);
	else if (format == FORMAT_TABLE)
		status = print_table(out, t);
	else
		print_plain(out, t);
	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}
