/* SPDX-License-Identifier: MIT
 *
 * table.c - tables and their formats: see table.h. JSON by RFC 8259; Markdown by GitHub Flavored Markdown Spec 0.29, "Tables
 * (extension)" and "Backslash escapes".
 */
#include "io/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/output.h"

#define TEXT_WIDTH_MAX 100
#define CELL_WIDTH_MAX 24 /* of a text in a column of numbers: longer ones are cut */
#define ELLIPSIS "\u2026"

enum status table_init(struct table *t, size_t ncolumns, size_t nrows)
{
	memset(t, 0, sizeof *t);
	t->names = calloc(ncolumns * (nrows + 1) + 1, sizeof *t->names);
	NEED(t->names);
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

static const struct cell *row_of(const struct table *t, size_t row)
{
	return t->cells + row * t->ncolumns;
}

char *table_join(const struct cell *cells, size_t ncells, const char *between)
{
	size_t nbytes = 1;
	char *text, *to;

	for (size_t i = 0; i < ncells; i++)
		nbytes += strlen(between) + strlen(cells[i].text);
	text = to = calloc(nbytes, 1);
	for (size_t i = 0; text && i < ncells; i++)
		to = stpcpy(stpcpy(to, i ? between : ""), cells[i].text);
	return text;
}

/* ---- separated ---- */

char *table_write_csv(char *to, const char *text, size_t nbytes)
{
	bool quoted = memchr(text, ',', nbytes) || memchr(text, '"', nbytes) || memchr(text, '\n', nbytes) ||
		      memchr(text, '\r', nbytes);

	if (!quoted)
		return (char *)memcpy(to, text, nbytes) + nbytes;
	*to++ = '"';
	for (size_t i = 0; i < nbytes; i++) {
		if (text[i] == '"')
			*to++ = '"';
		*to++ = text[i];
	}
	*to++ = '"';
	return to;
}

char *table_write_tsv(char *to, const char *text, size_t nbytes)
{
	static const char special[] = "\t\n\r\\";

	for (size_t i = 0; i < nbytes; i++) {
		const char *at = text[i] ? strchr(special, text[i]) : NULL;
		if (at)
			*to++ = '\\';
		*to++ = at ? "tnr\\"[at - special] : text[i];
	}
	return to;
}

/* Room for a row, each of whose cells may be quoted and have every byte escaped. */
static size_t row_nbytes_most(const struct cell *cells, size_t ncells)
{
	size_t nbytes = 3 * ncells;

	for (size_t i = 0; i < ncells; i++)
		nbytes += 2 * strlen(cells[i].text);
	return nbytes;
}

/* Room for the longest row, the names included. */
static size_t longest_nbytes_most(const struct table *t)
{
	size_t most = row_nbytes_most(t->names, t->ncolumns);

	for (size_t i = 0; i < t->nrows; i++) {
		size_t nbytes = row_nbytes_most(row_of(t, i), t->ncolumns);
		most = nbytes > most ? nbytes : most;
	}
	return most;
}

/* Prints the names, if asked for, and the rows. All that can fail is done before the first byte is printed. */
static enum status print_rows(FILE *out, const struct table *t, bool with_names, char separator,
			      char *(*write)(char *, const char *, size_t))
{
	char *text = malloc(longest_nbytes_most(t) + 1);

	NEED(text);
	for (size_t i = with_names ? 0 : 1; i <= t->nrows; i++) {
		const struct cell *row = i ? row_of(t, i - 1) : t->names;
		char *to = text;
		for (size_t c = 0; c < t->ncolumns; c++) {
			to = write(to, row[c].text, strlen(row[c].text));
			*to++ = c + 1 < t->ncolumns ? separator : '\n';
		}
		fwrite(text, 1, (size_t)(to - text), out);
	}
	free(text);
	return STATUS_OK;
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
		any = *row_of(t, i)[column].text;
	return any;
}

/* Returns the widest cell's width. In a column of text, cells beyond TEXT_WIDTH_MAX do not count:
 * padding many short cells to one long one would exceed the size of the input. */
static size_t column_width(const struct table *t, size_t column)
{
	size_t limit = t->names[column].is_number ? SIZE_MAX : TEXT_WIDTH_MAX;
	size_t width = utf8_width(t->names[column].text);

	for (size_t i = 0; i < t->nrows; i++) {
		size_t w = cell_width(t, column, &row_of(t, i)[column]);
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

	NEED(widths);
	for (size_t i = 0; i < t->ncolumns; i++)
		widths[i] = is_shown(t, i) ? column_width(t, i) : WIDTH_HIDDEN;
	print_aligned(out, t, t->names, widths);
	for (size_t i = 0; i < t->nrows; i++)
		print_aligned(out, t, row_of(t, i), widths);
	free(widths);
	return STATUS_OK;
}

/* ---- Markdown ---- */

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Whether the byte at would be markup. An underscore within a word is not. */
static bool is_markup(const char *text, size_t at)
{
	if (text[at] == '_')
		return at == 0 || !is_alphanumeric(text[at - 1]) || !is_alphanumeric(text[at + 1]);
	return strchr("\\`*[]<>|~&$", text[at]) != NULL;
}

/* Prints a text that is shown as it is; its line ends as <br>, since a row is a line. */
static void print_markdown_text(FILE *out, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '\r' && text[i + 1] == '\n')
			i++;
		if (text[i] == '\n' || text[i] == '\r') {
			fputs("<br>", out);
			continue;
		}
		if (is_markup(text, i))
			putc('\\', out);
		putc(text[i], out);
	}
}

static void print_markdown_row(FILE *out, const struct cell *row, size_t ncells)
{
	for (size_t i = 0; i < ncells; i++) {
		fputs("| ", out);
		print_markdown_text(out, row[i].text);
		putc(' ', out);
	}
	fputs("|\n", out);
}

/* A line of names, a rule that aligns numbers right and text left, and a line a row. */
static void print_markdown(FILE *out, const struct table *t)
{
	print_markdown_row(out, t->names, t->ncolumns);
	for (size_t i = 0; i < t->ncolumns; i++)
		fputs(t->names[i].is_number ? "| --: " : "| --- ", out);
	fputs("|\n", out);
	for (size_t i = 0; i < t->nrows; i++)
		print_markdown_row(out, row_of(t, i), t->ncolumns);
}

/* ---- JSON ---- */

static void print_escaped(FILE *out, const char *text)
{
	const char *end = text + strlen(text);

	while (*text) {
		size_t nbytes = utf8_length(text, (size_t)(end - text));
		unsigned char c = (unsigned char)*text;
		if (nbytes == 0)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fwrite(text, 1, nbytes, out);
		text += nbytes ? nbytes : 1;
	}
}

/* The text as it stands between the quotes; NULL: out of memory. Owned by the caller. */
static char *escape(const char *text)
{
	char *escaped = NULL;
	size_t nbytes;
	FILE *out = open_memstream(&escaped, &nbytes);

	if (!out)
		return NULL;
	print_escaped(out, text);
	if (fclose(out) == 0)
		return escaped;
	free(escaped);
	return NULL;
}

/* A column's key: the name's first occurrence prints as it is, the others with a number. */
struct key {
	char *text;
	size_t column;
	unsigned long number; /* 0: none */
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = compare_texts(x, y);

	return order ? order : (x->column > y->column) - (x->column < y->column);
}

static int compare_columns(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return (x->column > y->column) - (x->column < y->column);
}

/* Whether text_number is a name of its own. */
static bool is_taken(const struct key *sorted, size_t n, const char *text, unsigned long number)
{
	struct key wanted = {0};
	bool taken;

	if (asprintf(&wanted.text, "%s_%lu", text, number) < 0)
		return false;
	taken = bsearch(&wanted, sorted, n, sizeof *sorted, compare_texts) != NULL;
	free(wanted.text);
	return taken;
}

/* Numbers the keys that are there already. Sorted by text, then by column. */
static void number_keys(struct key *sorted, size_t n)
{
	unsigned long number = 1;

	for (size_t i = 1; i < n; i++) {
		if (compare_texts(&sorted[i], &sorted[i - 1])) {
			number = 1;
			continue;
		}
		do
			number++;
		while (is_taken(sorted, n, sorted[i].text, number));
		sorted[i].number = number;
	}
}

static void free_keys(struct key *keys, size_t n)
{
	for (size_t i = 0; keys && i < n; i++)
		free(keys[i].text);
	free(keys);
}

/* The keys of the table's columns, in their order; NULL: out of memory. For free_keys. */
static struct key *make_keys(const struct table *t)
{
	struct key *keys = calloc(t->ncolumns + 1, sizeof *keys);

	for (size_t i = 0; keys && i < t->ncolumns; i++) {
		keys[i] = (struct key){escape(t->names[i].text), i, 0};
		if (keys[i].text)
			continue;
		free_keys(keys, i);
		return NULL;
	}
	if (keys) {
		qsort(keys, t->ncolumns, sizeof *keys, compare_keys);
		number_keys(keys, t->ncolumns);
		qsort(keys, t->ncolumns, sizeof *keys, compare_columns);
	}
	return keys;
}

static const char *skip_digits(const char *text)
{
	return text + strspn(text, "0123456789");
}

/* Whether a number's text is one of JSON: no sign + and no 0 before it, and digits on both sides of the point. */
static bool is_json_number(const char *text)
{
	const char *digits = text + (*text == '-'), *end = skip_digits(digits);

	if (end == digits || (*digits == '0' && end > digits + 1))
		return false;
	if (*end == '.') {
		digits = end + 1;
		end = skip_digits(digits);
		if (end == digits)
			return false;
	}
	if (*end == 'e' || *end == 'E') {
		digits = end + 1;
		digits += *digits == '+' || *digits == '-';
		end = skip_digits(digits);
		if (end == digits)
			return false;
	}
	return *end == '\0';
}

/* A number that is spelled otherwise than JSON's are, such as 02134, is a string. */
static bool is_string(const struct cell *cell)
{
	if (!cell->is_number || !*cell->text)
		return !cell->is_number;
	return cell->is_quoted || (cell->is_spelled && !is_json_number(cell->text));
}

static void print_value(FILE *out, const struct cell *cell)
{
	if (!is_string(cell)) {
		fputs(*cell->text ? cell->text : "null", out);
		return;
	}
	putc('"', out);
	print_escaped(out, cell->text);
	putc('"', out);
}

static void print_object(FILE *out, const struct key *keys, const struct cell *row, size_t ncolumns)
{
	putc('{', out);
	for (size_t i = 0; i < ncolumns; i++) {
		fprintf(out, "%s\"%s", i ? ", " : "", keys[i].text);
		if (keys[i].number)
			fprintf(out, "_%lu", keys[i].number);
		fputs("\": ", out);
		print_value(out, &row[i]);
	}
	putc('}', out);
}

/* A list of objects, or of one record an object; is_lines: the objects, one a line. Keys are the columns'
 * names; of columns with the same name, the second's key ends in _2 and so on, so that no key is
 * there twice. JSON is UTF-8: any other byte prints as U+FFFD. */
static enum status print_json(FILE *out, const struct table *t, bool is_lines)
{
	struct key *keys = make_keys(t);
	bool is_list = !is_lines && !t->one_record;

	NEED(keys);
	if (is_list)
		putc('[', out);
	for (size_t i = 0; i < t->nrows; i++) {
		if (i)
			fputs(is_lines ? "\n" : ",\n ", out);
		print_object(out, keys, row_of(t, i), t->ncolumns);
	}
	fputs(is_list ? "]\n" : is_lines && t->nrows == 0 ? "" : "\n", out);
	free_keys(keys, t->ncolumns);
	return STATUS_OK;
}

/* ---- all of them ---- */

enum status table_print(const struct table *t, enum format format, struct fault *fault)
{
	FILE *out = output_stream();
	enum status status = STATUS_OK;

	if (format == FORMAT_CSV)
		status = print_rows(out, t, true, ',', table_write_csv);
	else if (format == FORMAT_TSV)
		status = print_rows(out, t, true, '\t', table_write_tsv);
	else if (format == FORMAT_JSON)
		status = print_json(out, t, false);
	else if (format == FORMAT_NDJSON)
		status = print_json(out, t, true);
	else if (format == FORMAT_MARKDOWN)
		print_markdown(out, t);
	else if (format == FORMAT_TABLE)
		status = print_table(out, t);
	else /* the values without names: of one record, one a line; otherwise a row a line */
		status = print_rows(out, t, false, t->one_record ? '\n' : '\t', table_write_tsv);
	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}
