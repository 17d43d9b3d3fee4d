/* SPDX-License-Identifier: MIT
 *
 * result.h - from the total of all records to the table that is printed.
 */
#pragma once

#include "fold/column.h"
#include "fold/key.h"
#include "query/options.h"
#include "io/table.h"
#include "query/query.h"
#include "base/status.h"

struct ranks; /* quantile.h */

/* Whether what q asks for is a table of its own, as no result of a row is: the summary, a matrix, a histogram. */
static inline bool result_is_table(const struct query *q)
{
	return q->summary || q->matrix || (q->nresults == 1 && operation_kind(q->results[0].operation) == OPERATION_TABLE);
}

/* Makes that table. total: the fold of all records, the plan's columns. ranks: what quantiles need, found; NULL where none do.
 * Errors: STATUS_NO_NUMERIC_COLUMN where '*' was all that was asked and no column holds numbers; STATUS_MANY_BINS; STATUS_NO_MEMORY. */
enum status result_table(const struct query *q, const struct partial *total, const struct ranks *ranks, struct table *out,
			 struct fault *fault);

/* A value of a result, as text, which is where the value was made or belongs to what was folded. */
struct result_value {
	const char *text;
	size_t nbytes;      /* 0: it has no value */
	const char *number; /* of a number that is not spelled as others are: that, NUL-terminated; else NULL */
	bool is_number;
	bool is_quoted;     /* as of a cell */
	struct key key;     /* has the text if it is a short key's */
};

/* Whether it is a string in JSON: a number that is spelled otherwise than JSON's are, such as 02134, is one. */
static inline bool result_is_string(const struct result_value *v)
{
	return !v->is_number || (v->nbytes && (v->is_quoted || (v->number && !row_is_json_number(v->text, v->nbytes))));
}

/* Sets a cell to a copy. Errors: STATUS_NO_MEMORY. */
enum status result_copy(const struct result_value *v, struct cell *cell);

/* Finds a result that is computed of nothing but the fold of its records. A number is written to to[0 .. RATIO_TEXT_NBYTES), as it is
 * computed. ranks: of the columns of the plan, or NULL. */
void result_find(const struct query *q, const struct partial *total, const struct ranks *ranks, const struct result *r, char *to,
		 struct result_value *out);

/* A number of a result, text[0 .. nbytes), in the style that is shown (number_shown); to be freed. NULL: out of memory. */
char *result_shown(enum operation operation, const char *text, size_t nbytes);

/* Whether a column's values that are no numbers count. column: all of its records'. */
bool result_counts_texts(const struct plan_column *plan, const struct column_partial *column);

/* Whether '*' asked for this result of a column that holds no numbers. */
bool result_is_dropped(const struct partial *total, const struct result *r);

/* The name of a result, "title(column)", or "title(x:y)" of a pair; to be freed. NULL: out of memory. */
char *result_name(const struct query *q, const struct result *r);

/* The heading that is printed for a name, which is freed or returned: that of --rename, if it has one. NULL: out of memory, or name is. */
char *result_heading_of(const struct query *q, char *name);

/* Checks that what --rename names is printed. Errors: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status result_renames_check(const struct query *q, struct fault *fault);

/* The names of the columns of the records that are printed, *n of them; to be freed with result_names_free. A column without a name has
 * none in CSV and TSV, elsewhere colN. NULL: out of memory. */
char **result_printed_names(const struct query *q, enum format format, size_t *n);
void result_names_free(char **names, size_t n);

/* Prints the header of the records that are printed, if the input has one: the record as
 * it came and the names of the new columns; or what the plan's row_format begins with. Errors: STATUS_WRITE, STATUS_NO_MEMORY. */
enum status result_heading(const struct query *q, struct fault *fault);

/* Whether the total lacks texts of numbers that the summary needs after all, because their column is
 * one of text: see guesses_texts of the plan. The input must be folded again without the guess. */
bool result_lacks_texts(const struct query *q, const struct partial *total);

/* Prints the name of every column to output_stream(), a line each, in quotes where CSV needs them.
 * q: the summary. */
void result_columns(const struct query *q);

/* The number of the column's numbers. */
uint64_t result_nnumbers(const struct column_partial *column);

/* The number of records, with --where of those where it holds. */
uint64_t result_nrecords(const struct plan *plan, const struct partial *total);

/* Whether a column's first and last value are texts, which are strings in JSON: it has values that are no numbers. With
 * --by, that is asked of the column over all groups. */
bool result_holds_text(const struct plan_column *plan, const struct column_partial *column);

/* The number of invalid values that are left out. In a column of text, values that are no numbers are
 * present, but for one with a NUL where --count names the column. */
uint64_t result_nleft_out(const struct plan_column *plan, const struct column_partial *column);
