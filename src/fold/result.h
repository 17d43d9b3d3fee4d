/* SPDX-License-Identifier: MIT
 *
 * result.h - from the total of all records to the table that is printed.
 */
#pragma once

#include "fold/column.h"
#include "query/options.h"
#include "io/table.h"
#include "query/query.h"
#include "base/status.h"

struct ranks; /* quantile.h */

/* Makes the table of results of q: one row, or for the summary and for a matrix a row for each
 * column. total: the fold of all records, the plan's columns. ranks: what quantiles need, found;
 * NULL where none do.
 * Errors: STATUS_NO_NUMERIC_COLUMN where '*' was all that was asked and no column holds
 * numbers; STATUS_NO_MEMORY. */
enum status result_table(const struct query *q, const struct partial *total,
			 const struct ranks *ranks, struct table *out, struct fault *fault);

/* The format that FORMAT_AUTO means for this table. */
enum format result_format(const struct query *q, const struct table *t, enum format format);

/* Sets *value to a result. ranks: of the columns of the plan, or NULL. False: out of memory. */
bool result_cell(const struct query *q, const struct partial *total, const struct ranks *ranks,
		 const struct result *r, struct cell *value);

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
