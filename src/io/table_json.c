/* SPDX-License-Identifier: MIT
 *
 * table_json.c - see table_json.h. RFC 8259.
 */
#include "io/table_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- text ---- */

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

/* ---- keys ---- */

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

/* ---- objects ---- */

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

static void print_cell(FILE *out, const struct cell *cell)
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
		print_cell(out, &row[i]);
	}
	putc('}', out);
}

enum status table_print_json(const struct table *t, FILE *out)
{
	struct key *keys = make_keys(t);

	if (!keys)
		return STATUS_NO_MEMORY;
	if (!t->one_record)
		putc('[', out);
	for (size_t i = 0; i < t->nrows; i++) {
		if (i)
			fputs(",\n ", out);
		print_object(out, keys, t->cells + i * t->ncolumns, t->ncolumns);
	}
	fputs(t->one_record ? "\n" : "]\n", out);
	free_keys(keys, t->ncolumns);
	return STATUS_OK;
}

enum status table_print_ndjson(const struct table *t, FILE *out)
{
	struct key *keys = make_keys(t);

	if (!keys)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < t->nrows; i++) {
		print_object(out, keys, t->cells + i * t->ncolumns, t->ncolumns);
		putc('\n', out);
	}
	free_keys(keys, t->ncolumns);
	return STATUS_OK;
}
