/* SPDX-License-Identifier: MIT
 *
 * table.c - tables and their formats: see table.h. Markdown by GitHub Flavored Markdown Spec 0.29, "Tables (extension)" and
 * "Backslash escapes".
 */
#include "io/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
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

/* ---- rows, one after the other ---- */

/* Whether a cell is a string in JSON: a number that is spelled otherwise than JSON's are, such as 02134, is one. */
static bool is_string(const struct cell *cell)
{
	if (!cell->is_number || !*cell->text)
		return !cell->is_number;
	return cell->is_quoted || (cell->is_spelled && !row_is_json_number(cell->text, strlen(cell->text)));
}

enum status table_append(struct text_buffer *out, const struct row_format *f, size_t column, const struct cell *cell)
{
	return row_append(out, f, column, cell->text, strlen(cell->text), is_string(cell));
}

/* Appends a row of cells. */
static enum status append_row(struct text_buffer *out, const struct row_format *f, const struct cell *row)
{
	for (size_t i = 0; i < f->ncolumns; i++)
		TRY(table_append(out, f, i, &row[i]));
	return STATUS_OK;
}

static enum status append_rows(struct text_buffer *out, const struct row_format *f, const struct table *t, const char *const *names)
{
	const bool is_object = f->format == FORMAT_JSON && t->one_record;
	const char *closing = is_object ? "\n" : row_closing(f);

	if (!is_object)
		TRY(row_append_heading(out, f, names));
	for (size_t i = 0; i < t->nrows; i++) {
		size_t begin = out->nbytes;
		TRY(append_row(out, f, row_of(t, i)));
		if (i > 0 || f->nfirst_less == 0)
			continue;
		memmove(out->data + begin, out->data + begin + f->nfirst_less, out->nbytes - begin - f->nfirst_less);
		out->nbytes -= f->nfirst_less;
	}
	return text_append(out, closing, strlen(closing));
}

/* Prints the rows. All that can fail is done before the first byte is printed. */
static enum status print_rows(FILE *out, const struct table *t, struct style style)
{
	const char **names = calloc(t->ncolumns + 1, sizeof *names);
	struct row_format f = {.leads = NULL};
	struct text_buffer text = {.data = NULL};
	enum status status = names ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; names && i < t->ncolumns; i++)
		names[i] = t->names[i].text;
	THEN(status, row_format_init(&f, style, names, t->ncolumns));
	THEN(status, append_rows(&text, &f, t, names));
	if (status == STATUS_OK && text.nbytes > 0)
		fwrite(text.data, 1, text.nbytes, out);
	row_format_free(&f);
	text_free(&text);
	free(names);
	return status;
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

/* ---- columns as rows, values as columns ---- */

/* A row's place among those that differ from it in some columns. */
struct placed_row {
	const struct cell *cells;
	const size_t *columns; /* ncolumns; the same for all rows */
	size_t ncolumns;
	size_t row, first; /* its number, and the first row's with the same cells */
};

static int compare_cells(const void *a, const void *b)
{
	const struct placed_row *x = a, *y = b;
	int order = 0;

	for (size_t i = 0; i < x->ncolumns && order == 0; i++)
		order = strcmp(x->cells[x->columns[i]].text, y->cells[x->columns[i]].text);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Numbers the rows by their cells in some columns, in the order in which these come first: places[row]. firsts[place]: the first row
 * there. Returns how many there are. rows: room for all. */
static size_t number_rows(const struct table *t, const size_t *columns, size_t ncolumns, struct placed_row *rows, size_t *places,
			  size_t *firsts)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nrows; i++)
		rows[i] = (struct placed_row){row_of(t, i), columns, ncolumns, i, i};
	if (t->nrows > 0)
		qsort(rows, t->nrows, sizeof *rows, compare_cells);
	for (size_t i = 0; i < t->nrows; i++) {
		bool is_same = i > 0;
		for (size_t k = 0; k < ncolumns && is_same; k++)
			is_same = !strcmp(rows[i].cells[columns[k]].text, rows[i - 1].cells[columns[k]].text);
		places[rows[i].row] = rows[i].first = is_same ? rows[i - 1].first : rows[i].row;
	}
	for (size_t i = 0; i < t->nrows; i++) {
		if (places[i] == i)
			firsts[n++] = i;
		places[i] = places[i] == i ? n - 1 : places[places[i]];
	}
	return n;
}

/* Copies a text to a cell. */
static bool copy_cell(struct cell *to, const char *text, bool is_number)
{
	*to = (struct cell){.text = strdup(text), .is_number = is_number};
	return to->text != NULL;
}

/* Moves a cell. */
static void move_cell(struct cell *to, struct cell *from)
{
	free(to->text);
	*to = *from;
	from->text = NULL;
}

static enum status fail_width(const char *option, size_t ncolumns, const char *remedy, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	snprintf(words, sizeof words, "--%s: there would be %zu columns, and at most %d are printed: %s", option, ncolumns,
		 TABLE_NCOLUMNS_MOST, remedy);
	return fault_set_usage(fault, words);
}

/* The names of the table that table_pivot makes: those of the labels, and nvalues times those of the others. */
static enum status name_pivoted(struct table *to, struct table *from, const size_t *labels, size_t nlabels, size_t pivot, const size_t *firsts)
{
	const size_t nothers = from->ncolumns - pivot - 1;

	for (size_t i = 0; i < nlabels; i++)
		move_cell(&to->names[i], &from->names[labels[i]]);
	for (size_t i = nlabels; i < to->ncolumns; i++) {
		const char *value = row_of(from, firsts[(i - nlabels) / nothers])[pivot].text;
		const struct cell *other = &from->names[pivot + 1 + (i - nlabels) % nothers];
		to->names[i].is_number = other->is_number;
		if (asprintf(&to->names[i].text, nothers > 1 ? "%s_%s" : "%s", value, other->text) < 0)
			to->names[i].text = NULL;
		NEED(to->names[i].text);
	}
	return STATUS_OK;
}

/* The same of the cells. rows, values: the places of each row of `from`. */
static enum status fill_pivoted(struct table *to, struct table *from, const size_t *labels, size_t nlabels, size_t pivot, const size_t *rows,
				const size_t *values)
{
	const size_t nothers = from->ncolumns - pivot - 1;

	for (size_t i = 0; i < to->nrows * to->ncolumns; i++)
		NEED(copy_cell(&to->cells[i], "", i % to->ncolumns >= nlabels));
	for (size_t i = 0; i < from->nrows; i++) {
		struct cell *cells = &to->cells[rows[i] * to->ncolumns], *source = &from->cells[i * from->ncolumns];
		for (size_t k = 0; k < nlabels; k++)
			move_cell(&cells[k], &source[labels[k]]);
		for (size_t k = 0; k < nothers; k++)
			move_cell(&cells[nlabels + values[i] * nothers + k], &source[pivot + 1 + k]);
	}
	return STATUS_OK;
}

/* Puts the columns of the values in another order. values: the places of rows; firsts: as number_rows has made them, n. */
static enum status arrange_values(const struct table *t, size_t pivot, size_t *values, size_t *firsts, size_t n,
				  enum status (*arrange)(void *context, const char *const *values, size_t n, size_t *places), void *context)
{
	const char **texts = calloc(n + 1, sizeof *texts);
	size_t *places = calloc(2 * n + 1, sizeof *places), *arranged = places + n;
	enum status status = texts && places ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		texts[i] = row_of(t, firsts[i])[pivot].text;
	THEN(status, arrange(context, texts, n, places));
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		arranged[places[i]] = firsts[i];
	for (size_t i = 0; i < t->nrows && status == STATUS_OK; i++)
		values[i] = places[values[i]];
	if (status == STATUS_OK)
		memcpy(firsts, arranged, n * sizeof *firsts);
	free(texts);
	free(places);
	return status;
}

enum status table_pivot(struct table *t, size_t nlabels, const bool *is_repeated,
			enum status (*arrange)(void *context, const char *const *values, size_t n, size_t *places), void *context,
			struct fault *fault)
{
	const size_t pivot = nlabels - 1, n = t->nrows + 1;
	size_t *memory = calloc(nlabels + 4 * n, sizeof *memory), *labels = memory, *rows = memory + nlabels, *values = rows + n;
	size_t *firsts = values + n, *value_firsts = firsts + n, nkept = 0, nrows, nvalues;
	struct placed_row *placed = calloc(n, sizeof *placed);
	struct table to = {.names = NULL};
	enum status status = memory && placed ? STATUS_OK : STATUS_NO_MEMORY;

	if (status == STATUS_OK) {
		for (size_t i = 0; i < pivot; i++)
			if (!is_repeated[i])
				labels[nkept++] = i;
		nrows = number_rows(t, labels, nkept, placed, rows, firsts);
		nvalues = number_rows(t, &pivot, 1, placed, values, value_firsts);
		if (nkept + nvalues * (t->ncolumns - nlabels) > TABLE_NCOLUMNS_MOST)
			status = fail_width("pivot", nkept + nvalues * (t->ncolumns - nlabels), "fewer values by --where, or --by in its place", fault);
		else
			status = table_init(&to, nkept + nvalues * (t->ncolumns - nlabels), nrows);
	}
	if (status == STATUS_OK && arrange)
		status = arrange_values(t, pivot, values, value_firsts, nvalues, arrange, context);
	if (status == STATUS_OK) {
		to.nlabels = nkept;
		to.one_record = nkept == 0 && nrows > 0;
		status = name_pivoted(&to, t, labels, nkept, pivot, value_firsts);
	}
	THEN(status, fill_pivoted(&to, t, labels, nkept, pivot, rows, values));
	free(memory);
	free(placed);
	if (status == STATUS_OK) {
		table_free(t);
		*t = to;
	} else if (to.names) {
		table_free(&to);
	}
	return status;
}

enum status table_transpose(struct table *t, struct fault *fault)
{
	const bool of_one = t->one_record;
	struct table to;

	if (t->ncolumns == 0) /* of --pivot, where no record was left */
		return STATUS_OK;
	if (t->nrows + 1 > TABLE_NCOLUMNS_MOST)
		return fail_width("transpose", t->nrows + 1, "--top N", fault);
	TRY(table_init(&to, t->nrows + 1, t->ncolumns - !of_one));
	for (size_t i = 0; i < to.nrows; i++)
		for (size_t k = 0; k < to.ncolumns; k++) {
			struct cell *from = (k ? &t->cells[(k - 1) * t->ncolumns] : t->names) + i + !of_one, *cell = &to.cells[i * to.ncolumns + k];
			move_cell(cell, from);
			cell->is_number &= k > 0;
			to.names[k].is_number = cell->is_number && (i == 0 || to.names[k].is_number);
		}
	if (of_one) {
		if (!copy_cell(&to.names[0], "name", false) || !copy_cell(&to.names[to.ncolumns - 1], "value", to.names[to.ncolumns - 1].is_number)) {
			table_free(&to);
			return STATUS_NO_MEMORY;
		}
	} else {
		for (size_t k = 0; k < to.ncolumns; k++) {
			const bool is_number = to.names[k].is_number;
			move_cell(&to.names[k], k ? &t->cells[(k - 1) * t->ncolumns] : t->names);
			to.names[k].is_number = is_number;
		}
	}
	table_free(t);
	*t = to;
	return STATUS_OK;
}

/* ---- all of them ---- */

enum status table_print(const struct table *t, struct style style, struct fault *fault)
{
	FILE *out = output_stream();
	enum status status = STATUS_OK;

	if (style.format == FORMAT_MARKDOWN) {
		print_markdown(out, t);
	} else if (style.format == FORMAT_TABLE) {
		status = print_table(out, t);
	} else {
		if (style.format == FORMAT_AUTO)
			style.format = FORMAT_PLAIN;
		if (style.format == FORMAT_PLAIN && t->one_record) /* the values, one a line; otherwise a row a line */
			style.delimiter = '\n';
		status = print_rows(out, t, style);
	}
	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

/* ---- of records ---- */

#define CELL_NBYTES 64 /* of a cell, and of its text beside the bytes */

enum status table_rows_add(struct table_rows *rows, const char *text, size_t nbytes)
{
	size_t ncells = 0;
	uint64_t needs;

	for (size_t i = 0; i < nbytes; i++)
		ncells += text[i] == '\0';
	needs = 2 * nbytes + CELL_NBYTES * ncells;
	NEED(memory_take(needs));
	rows->ntaken += needs;
	rows->ncells += ncells;
	return text_append(&rows->text, text, nbytes);
}

/* Fills the table with the cells, one after the other. */
static enum status set_cells(const struct table_rows *rows, struct table *t)
{
	const char *at = rows->text.data;

	for (size_t i = 0; i < rows->ncells; i++, at += strlen(at) + 1) {
		struct cell *name = &t->names[i % t->ncolumns], *cell = &t->cells[i];
		*cell = (struct cell){.text = strdup(at + 1), .is_number = *at == 'n'};
		NEED(cell->text);
		name->is_number = i < t->ncolumns ? cell->is_number : name->is_number && cell->is_number;
	}
	return STATUS_OK;
}

enum status table_rows_print(const struct table_rows *rows, const char *const *names, size_t ncolumns, struct style style,
			     struct fault *fault)
{
	struct table t = {.names = NULL};
	enum status status = table_init(&t, ncolumns, rows->ncells / ncolumns);

	t.one_record = true; /* each column and each cell is shown whole */
	for (size_t i = 0; i < ncolumns && status == STATUS_OK; i++) {
		t.names[i].text = strdup(names[i]);
		status = t.names[i].text ? STATUS_OK : STATUS_NO_MEMORY;
	}
	THEN(status, set_cells(rows, &t));
	status = status == STATUS_OK ? table_print(&t, style, fault) : fault_set(fault, status, 0, NULL);
	if (t.names)
		table_free(&t);
	return status;
}

void table_rows_free(struct table_rows *rows)
{
	memory_give(rows->ntaken);
	text_free(&rows->text);
	memset(rows, 0, sizeof *rows);
}
