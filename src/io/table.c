/* SPDX-License-Identifier: MIT
 *
 * table.c - see table.h.
 */
#include "io/table.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

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

enum status output_flush(struct fault *fault)
{
	if (fflush(stdout) || ferror(stdout))
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return STATUS_OK;
}

enum status output_close(struct fault *fault)
{
	enum status status = output_flush(fault);

	/* EBADF: it was never open. If there was output, the flush has failed. */
	if (status == STATUS_OK && close(STDOUT_FILENO) && errno != EBADF)
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}

/* ---- one cell ---- */

static bool separates(const struct csv_dialect *d, char byte)
{
	return byte == d->delimiter || byte == '\r' || byte == '\n';
}

/* Whether text as it is would be read as another value. */
static bool needs_quotes(const struct csv_dialect *d, const char *text)
{
	while (*text && !separates(d, *text) && *text != d->quote)
		text++;
	return *text != '\0';
}

bool output_field_fits(const char *text, const struct csv_dialect *d)
{
	return d->whitespace || d->quote || d->escape || !needs_quotes(d, text);
}

/* Like output_field: fields end at blanks, and nothing quotes one. */
static void print_word(const char *text)
{
	for (; *text; text++)
		putchar(field_is_blank(*text) || separates(&(struct csv_dialect){0}, *text) ? '_' : *text);
}

void output_field(const char *text, const struct csv_dialect *d)
{
	bool quoted = needs_quotes(d, text), escaped = quoted && !d->quote;

	if (d->whitespace) {
		print_word(text);
		return;
	}
	if (quoted && d->quote)
		putchar(d->quote);
	for (; *text; text++) {
		if (*text == d->quote)
			putchar(d->quote);
		else if (d->escape && (*text == d->escape || (escaped && separates(d, *text))))
			putchar(d->escape);
		putchar(*text);
	}
	if (quoted && d->quote)
		putchar(d->quote);
}

static void print_csv_cell(const char *text)
{
	static const struct csv_dialect of_results = {.delimiter = ',', .quote = '"'};

	output_field(text, &of_results);
}

/* Prints tabs and line ends as \t, \n, \r, and \ as \\. */
static void print_tsv_cell(const char *text)
{
	for (; *text; text++) {
		const char *special = "\t\n\r\\", *at = strchr(special, *text);
		if (at) {
			putchar('\\');
			putchar("tnr\\"[at - special]);
		} else {
			putchar(*text);
		}
	}
}

/* JSON is UTF-8: any other byte prints as the replacement character. */
static void print_json_string(const char *text)
{
	const char *end = text + strlen(text);

	putchar('"');
	while (*text) {
		size_t nbytes = utf8_length(text, (size_t)(end - text));
		unsigned char c = (unsigned char)*text;
		if (nbytes == 0)
			fputs("\\ufffd", stdout);
		else if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			printf("\\u%04x", c);
		else
			fwrite(text, 1, nbytes, stdout);
		text += nbytes ? nbytes : 1;
	}
	putchar('"');
}

static void print_json_cell(const struct cell *cell)
{
	if (!cell->is_number)
		print_json_string(cell->text);
	else
		fputs(*cell->text ? cell->text : "null", stdout);
}

/* ---- rows ---- */

static void print_separated(const struct cell *row, size_t ncells, char separator,
			    void (*print)(const char *))
{
	for (size_t i = 0; i < ncells; i++) {
		if (i)
			putchar(separator);
		print(row[i].text);
	}
	putchar('\n');
}

static void print_rows(const struct table *t, char separator, bool names,
		       void (*print)(const char *))
{
	if (names)
		print_separated(t->names, t->ncolumns, separator, print);
	for (size_t i = 0; i < t->nrows; i++)
		print_separated(t->cells + i * t->ncolumns, t->ncolumns, separator, print);
}

/* Prints the values without names: of one record, one a line; otherwise a row a line. */
static void print_plain(const struct table *t)
{
	print_rows(t, t->one_record ? '\n' : '\t', false, print_tsv_cell);
}

static void print_json_object(const struct table *t, const struct cell *row)
{
	putchar('{');
	for (size_t i = 0; i < t->ncolumns; i++) {
		if (i)
			fputs(", ", stdout);
		print_json_string(t->names[i].text);
		fputs(": ", stdout);
		print_json_cell(&row[i]);
	}
	putchar('}');
}

static void print_json(const struct table *t)
{
	if (!t->one_record)
		putchar('[');
	for (size_t i = 0; i < t->nrows; i++) {
		if (i)
			fputs(",\n ", stdout);
		print_json_object(t, t->cells + i * t->ncolumns);
	}
	puts(t->one_record ? "" : "]");
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
static void print_aligned(const struct table *t, const struct cell *row, const size_t *widths)
{
	size_t pending = 0, end = t->ncolumns;

	while (end > 0 && !*row[end - 1].text)
		end--;
	for (size_t i = 0; i < end; i++) {
		size_t width = utf8_width(row[i].text);
		size_t pad = width < widths[i] ? widths[i] - width : 0;
		bool right = t->names[i].is_number;
		printf("%*s", (int)(pending + (right ? pad : 0)), "");
		utf8_print(stdout, row[i].text, strlen(row[i].text));
		pending = 2 + (right ? 0 : pad);
	}
	putchar('\n');
}

static enum status print_table(const struct table *t)
{
	size_t *widths = calloc(t->ncolumns + 1, sizeof *widths);

	if (!widths)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < t->ncolumns; i++)
		widths[i] = column_width(t, i);
	print_aligned(t, t->names, widths);
	for (size_t i = 0; i < t->nrows; i++)
		print_aligned(t, t->cells + i * t->ncolumns, widths);
	free(widths);
	return STATUS_OK;
}

enum status table_print(const struct table *t, enum format format, struct fault *fault)
{
	if (format == FORMAT_CSV)
		print_rows(t, ',', true, print_csv_cell);
	else if (format == FORMAT_TSV)
		print_rows(t, '\t', true, print_tsv_cell);
	else if (format == FORMAT_JSON)
		print_json(t);
	else if (format != FORMAT_TABLE)
		print_plain(t);
	else if (print_table(t) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return output_flush(fault);
}
