/* SPDX-License-Identifier: MIT
 *
 * row_format.h - rows as text, for results and for records: the formats whose rows are printed one after the other.
 *
 * A row is, for each column, what stands before its value (a delimiter, or a JSON name) and the value, then the row's end. What a
 * value looks like depends on nothing else: so threads can write rows, and values can be put in later.
 */
#pragma once

#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "number/shown.h"

enum format {
	FORMAT_AUTO, FORMAT_PLAIN, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON, FORMAT_NDJSON, FORMAT_TABLE,
	FORMAT_MARKDOWN
};

/* How a table or records are printed. */
struct style {
	enum format format;
	char delimiter; /* of CSV; 0: a comma */
	bool transposed; /* columns as rows: see table_transpose */
	bool to_terminal; /* a person reads standard output; not of a rank, whose output mpirun may read through a terminal */
	struct number_style numbers; /* of results and new columns */
};

/* What stands before a value. */
struct row_lead {
	char *text; /* owned; NULL: one byte, or none */
	size_t nbytes;
	char byte;
};

struct row_format {
	enum format format; /* no other than PLAIN, CSV, TSV, JSON and NDJSON prints its rows one by one. TABLE: for table_rows_print */
	size_t ncolumns;
	struct row_lead *leads; /* ncolumns; owned */
	const char *end;        /* after the last value */
	size_t end_nbytes;
	size_t nfirst_less;     /* bytes that the first row of a list does not begin with */
	bool takes_numbers;     /* as they are, if they have a byte */
	uint64_t special[4];    /* eight times each of the bytes that a value cannot have as they are, of CSV and TSV, */
	uint64_t above_special; /* ... one that is larger than all, or 0, */
	uint64_t filler;        /* ... and one that is no such byte, of JSON either */
};

/* Makes the format of rows with these names, NULL: without one. FORMAT_AUTO is CSV, FORMAT_MARKDOWN is TABLE. With PLAIN, the
 * style's delimiter separates values, or a tab. JSON's names are those of the columns; of columns with the same name, the second's ends in _2 and so on, so that no
 * name is there twice. Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status row_format_init(struct row_format *f, struct style style, const char *const *names, size_t ncolumns);
void row_format_free(struct row_format *f);

/* Whether strings look other than numbers. */
static inline bool row_has_strings(const struct row_format *f)
{
	return f->format == FORMAT_JSON || f->format == FORMAT_NDJSON;
}

/* Whether strings and numbers are told apart. */
static inline bool row_has_kinds(const struct row_format *f)
{
	return row_has_strings(f) || f->format == FORMAT_TABLE;
}

/* The most bytes that a value of nbytes and what stands before it take, the row's end included. */
static inline size_t row_value_nbytes_most(const struct row_format *f, size_t column, size_t nbytes)
{
	return f->leads[column].nbytes + 6 * nbytes + 8;
}

/* Writes what stands before a column's value. Returns its end. */
static inline char *row_put_lead(const struct row_format *f, size_t column, char *to)
{
	const struct row_lead *lead = &f->leads[column];

	if (lead->text)
		return (char *)memcpy(to, lead->text, lead->nbytes) + lead->nbytes;
	*to = lead->byte;
	return to + lead->nbytes;
}

/* Writes the row's end, if the column is the last. Returns its end. */
static inline char *row_put_end(const struct row_format *f, size_t column, char *to)
{
	if (column + 1 < f->ncolumns)
		return to;
	memcpy(to, f->end, 2);
	return to + f->end_nbytes;
}

/* Writes a value: a string, which JSON puts in quotes, or a number, which JSON prints as null if it is empty. JSON is UTF-8: a byte
 * that is not part of a character prints as U+FFFD. Returns its end. */
char *row_put_value(const struct row_format *f, const char *text, size_t nbytes, bool is_string, char *to);

/* Appends a column's value with what stands before it, and after the last one the row's end. Errors: STATUS_NO_MEMORY. */
enum status row_append(struct text_buffer *out, const struct row_format *f, size_t column, const char *text, size_t nbytes, bool is_string);

/* Appends what comes before the first row: the names, with CSV and TSV, or the list's beginning. Errors: STATUS_NO_MEMORY. */
enum status row_append_heading(struct text_buffer *out, const struct row_format *f, const char *const *names);

/* What comes after the last row. */
const char *row_closing(const struct row_format *f);

/* Whether text[0 .. nbytes) is a number as JSON spells them: no sign + and no 0 before it, and digits on both sides of the point. */
bool row_is_json_number(const char *text, size_t nbytes);
