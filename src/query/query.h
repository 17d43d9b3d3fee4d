/* SPDX-License-Identifier: MIT
 *
 * query.h - from the options and the first record to the plan, and to what is printed.
 */
#pragma once

#include "query/header.h"
#include "lang/program.h"
#include "io/input.h"
#include "query/options.h"
#include "query/plan.h"
#include "base/status.h"

/* What finishers' literals and values are written in. */
extern const struct csv_dialect finished_dialect;

#define RENAME_HEADING UINT32_MAX /* ... but a result, a key or a new column, by its heading */

/* What --rename calls a column in the header. */
struct rename {
	uint32_t field;   /* FIELD_COMPUTED and above: a computed column; RENAME_HEADING: no column of the input */
	const char *name; /* not owned */
	char *old;        /* owned */
};

/* One value that is asked for. */
struct result {
	enum operation operation;
	uint32_t use;    /* of the query's uses: what asks for it */
	uint32_t other;  /* of a pair: its second column; of EXPR: its place in finishers */
	size_t column;   /* in the plan */
	uint32_t pair;   /* of a pair: in the plan */
	bool if_numeric; /* asked for by '*': dropped where the column is text */
};

/* An item of --sort. */
struct sort_item {
	char *text; /* without its sign; owned */
	bool is_descending;
	bool is_quoted; /* a name, which had quotes, and no expression */
};

struct finishing; /* fold/finish.h */

struct query {
	struct plan plan;
	struct header header;
	struct file_headers later; /* the headers of files after the header's */
	size_t nlets;     /* in the order of the command line */
	size_t ncomputed; /* these, then the keys that are expressions, and the aggregates: they have no name that others know */
	size_t naggregates; /* the last ones of these */
	struct program *lets;
	size_t nconditions; /* --where's, if it is there, then each --offsets' */
	struct program *conditions;
	/* What is computed of finished results: each --agg, --having if it is there, and each item of --sort: without steps where that is
	 * no expression but a name, perhaps. */
	size_t nfinishers, nsorts;
	struct program *finishers;
	struct sort_item *sorts;
	char **hidden; /* the aggregates of these, "sum(x)": of results[nshown ... nresults) */
	size_t nuses, nhidden;
	struct operation_use *uses; /* nuses of the options; then, of each hidden result, one whose name may be owned. Owned */
	struct finishing *finishing; /* runs the finishers, if there are any; whoever runs the query owns it */
	int nthreads;      /* for what is computed from the total; 0: one for each core */
	bool summary;      /* no operation was given: every column (summary.c) */
	bool all;          /* with what is costly */
	bool matrix;       /* pairs of all numeric columns: a result for each column, a pair in the plan
			    * for each two, see query_matrix_pair */
	bool star;         /* some operation is asked of every numeric column */
	bool guesses_delimiter; /* nothing said that fields end at a comma */
	size_t nrenames;
	struct rename *renames;
	size_t nshown, nresults; /* in the order of the command line; then those that are looked up */
	struct result *results;
};

/* The new name of a field, or NULL. */
const char *query_new_name(const struct query *q, uint32_t field);

/* Returns the delimiter that the input probably has instead of a comma, as its first records have
 * one field each, or 0. */
char query_other_delimiter(const struct query *q);

/* Whether the first record that is no header excludes this field from '*'. If its value is missing
 * there, or the record is left out, the field's first value decides later. If records are printed,
 * that would be too late for their header: the field is then excluded. */
bool query_starts_unfit(const struct query *q, const struct options *options, uint32_t field);

/* Where in the plan the pair of a matrix's results i and j is, i < j < nresults. */
static inline size_t query_matrix_pair(size_t nresults, size_t i, size_t j)
{
	return i * (2 * nresults - i - 1) / 2 + (j - i - 1);
}

/* Adds to a fault how that delimiter is given. */
void query_explain(const struct query *q, struct fault *fault);

/* Finds the first condition that puts a column of numbers in order as text, as v > "100" does, whose literal is a number.
 * "Of numbers": the first record's value is one, or it is computed. Sets fault's column to the column, and its value to the
 * literal. Returns false where there is no such condition. */
bool query_has_order_as_text(const struct query *q); /* the same, of any column: before there is a plan */
bool query_orders_numbers_as_text(const struct query *q, struct fault *fault);

/* Finds the first text in double quotes that is the name of a column, as "unit price" in a condition or in --let: in SQL it
 * would be that column. A text that is compared with the column of its own name does not count. Sets fault's value to the
 * text. Returns false if no text is such a name. */
bool query_takes_name_for_text(const struct query *q, struct fault *fault);

/* Reads the input's first record and works out what the options ask of the others. The
 * header, if there is one, is taken out of the input. q points into options, which are settled, if they were open.
 * Errors: header_read's; STATUS_USAGE, STATUS_UNKNOWN_COLUMN (then q->header is valid, to
 * list the names from). Free with query_free in any case. */
enum status query_make(struct query *q, struct options *options, struct input *input,
		       struct fault *fault);

/* Like query_make, for records that other runs have read: of their first records, header has what the plan
 * needs to know. It is moved to the query. Errors: STATUS_USAGE, STATUS_UNKNOWN_COLUMN, STATUS_NO_MEMORY. */
enum status query_make_again(struct query *q, struct options *options, struct header *header,
			     struct fault *fault);
void query_free(struct query *q);

/* Has the plan, which is complete, look for the header among the records, unless some column shows by its values that
 * a record is the header. is_part: see plan_as_part. query_make does it for what the options say. */
void query_seek_header(struct query *q, bool is_part);

/* ---- the columns of the summary: what is said of each column of the input ---- */

enum summary_value {
	SUMMARY_NAME,
	SUMMARY_TYPE,
	SUMMARY_MISSING,
	SUMMARY_INVALID,
	SUMMARY_SHORTEST,
	SUMMARY_LONGEST,
	SUMMARY_DISTINCT, /* the result of an operation, or more than SUMMARY_NKEYS_MOST */
	SUMMARY_RESULT, /* of an operation */
};

#define SUMMARY_NKEYS_MOST 100000 /* distinct values of a column that are counted */

struct summary_column {
	const char *name;
	enum summary_value value;
	/* SUMMARY_RESULT: the operations on columns of numbers, and on those of texts and dates;
	 * NOPERATIONS: the cell is empty. */
	enum operation of_numbers, of_texts;
	bool is_costly; /* for --all only */
	struct percentile percentile; /* of OPERATION_PERCENTILE */
};

/* Ends with a column whose name is NULL. */
extern const struct summary_column summary_columns[];

/* The moments that the summary needs of each column: a set of enum moment. all: with --all. */
unsigned summary_needs(bool all);
