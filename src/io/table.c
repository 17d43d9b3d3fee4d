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

#define TEXT_WIDTH_MAX 100

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
	memset(t, 0, sizeof *t);
}

/* ---- one cell ---- */

static void print_csv_cell(FILE *out, const char *text)
{
	static const struct csv_dialect of_results = {.delimiter = ',', .quote = '"'};

	output_field(out, text, &of_results);
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

/* Returns the widest cell's width. In a column of text, cells beyond TEXT_WIDTH_MAX do not count:
 * padding many short cells to one long one would exceed the size of the input. */
static size_t column_width(const struct table *t, size_t column)
{
	size_t limit = t->names[column].is_number ? SIZE_MAX : TEXT_WIDTH_MAX;
	size_t width = utf8_width(t->names[column].text);

	for (size_t i = 0; i < t->nrows; i++) {
		size_t w = utf8_width(t->cells[i * t->ncolumns + column].text);
		width = w > width && w <= limit ? w : width;
	}
	return width;
}

/* Aligns numbers right and text left, without trailing blanks. */
static void print_aligned(FILE *out, const struct table *t, const struct cell *row,
			  const size_t *widths)
{
	size_t pending = 0, end = t->ncolumns;

	while (end > 0 && !*row[end - 1].text)
		end--;
	for (size_t i = 0; i < end; i++) {
		size_t width = utf8_width(row[i].text);
		size_t pad = width < widths[i] ? widths[i] - width : 0;
		bool right = t->names[i].is_number;
		fprintf(out, "%*s", (int)(pending + (right ? pad : 0)), "");
		utf8_print(out, row[i].text, strlen(row[i].text));
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
		widths[i] = column_width(t, i);
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
	else if (format == FORMAT_TABLE)
		status = print_table(out, t);
	else
		print_plain(out, t);
	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}
