/* SPDX-License-Identifier: MIT
 *
 * plan.h - what one run asks of every record: fixed before the first worker
 * starts, read by all of them, changed by none.
 */
#ifndef GPUSTAT_PLAN_H
#define GPUSTAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/dialect.h"
#include "csv/ragged.h"
#include "csv/repeated_header.h"
#include "number/ewma.h"
#include "number/notation.h"

/* What to do about a value that is no number. */
enum invalid_policy {
	INVALID_ERROR, /* stop with a message */
	INVALID_SKIP,  /* leave it out, and say at the end how many there were */
	INVALID_TEXT,  /* the column is text if there are many: the summary's way */
};

/* What is kept of a column's values: a set of these. The first three are kept by one fused fold
 * (number/decimal.h), on every device; each of the others is a row of fold/moment.h. */
enum moment {
	MOMENT_COUNT = 1,    /* values that are not missing */
	MOMENT_SUM = 2,
	MOMENT_EXTREMES = 4, /* the least and the greatest value */
	MOMENT_SQUARES = 8,  /* the sum of squares */
	MOMENT_CUBES = 16,   /* the sum of third powers */
	MOMENT_FOURTHS = 32, /* the sum of fourth powers */
	MOMENT_LOGS = 64,    /* the sum of logarithms */
	MOMENT_ENDS = 128,   /* the first and the last value */
	MOMENT_VALUES = 1024, /* every value */
	MOMENT_TEXTS = 4096, /* of all values as text: lengths, least and greatest, dates */
	MOMENT_KEYS = 256,   /* the different texts */
	MOMENT_KEY_COUNTS = 512, /* with MOMENT_KEYS: how often each came, and where first */
	MOMENT_KEY_LOGS = 2048,  /* with MOMENT_KEY_COUNTS: the sum of the counts' logarithms, in groups' cells */
};
#define MOMENTS_FUSED (MOMENT_COUNT | MOMENT_SUM | MOMENT_EXTREMES)
#define MOMENTS_OF_KEYS (MOMENT_COUNT | MOMENT_KEYS | MOMENT_KEY_COUNTS | MOMENT_KEY_LOGS)
#define MOMENTS_OF_TEXT (MOMENTS_OF_KEYS | MOMENT_TEXTS) /* need no numbers */

/* What a new column shows. */
enum new_column_kind {
	NEW_SUM, /* running totals of a column's numbers */
	NEW_MIN,
	NEW_MAX,
	NEW_COUNT,
	NEW_MEAN, /* the results of the numbers so far */
	NEW_VAR,
	NEW_STDDEV,
	NEW_DELTA, /* a number less the last one before that is not missing, */
	NEW_RATIO, /* ... or divided by it */
	NEW_ROLLING_SUM, /* of the last N records, as struct plan_window says */
	NEW_ROLLING_MEAN,
	NEW_ROLLING_MIN,
	NEW_ROLLING_MAX,
	NEW_EWMA,
	NEW_RANK,        /* 1 and how many numbers come before the value in order */
	NEW_ROW_NUMBER,  /* the record's number, from 1 on; with --exclusive, how many came before */
	NEW_OFFSET,      /* the record's 0-based position among those where a predicate holds */
	NEW_LET,         /* the value of a computed column */
	NEW_FIELD,       /* a field of the record, as it is */
	NEW_LAG,         /* the field of the record N before, as it is */
	NEW_FILL_DOWN,   /* the field, or the last one before it that is not missing */
	NEW_LEAD,        /* the field of the record N later, as it is */
	NEW_BYTE_OFFSET, /* where the record starts in the decompressed input */
};

struct expr; /* a condition on records: expr_eval.h */
struct group_store; /* fold/groups.h */
struct curve; /* io/curve.h */
struct choice; /* emit/choice.h */
struct rank_tables; /* fold/rank_tables.h */
#define PREDICATE_NONE SIZE_MAX

/* One new column of the records that are printed. */
struct new_column {
	enum new_column_kind kind;
	size_t column;    /* NEW_SUM ... NEW_RATIO, NEW_LET, NEW_FIELD, NEW_LEAD: in the plan */
	size_t predicate; /* NEW_OFFSET: in the plan */
	size_t window;    /* new_column_has_window: in the plan */
	uint64_t nahead;  /* NEW_LEAD: N */
	size_t rank;      /* NEW_RANK: which of the plan's nranks */
	bool is_descending; /* NEW_RANK: the greatest is the first */
};

/* Whether it shows something of the records before that the moments do not have. */
static inline bool new_column_has_window(const struct new_column *column)
{
	return (column->kind >= NEW_DELTA && column->kind <= NEW_EWMA) || column->kind == NEW_LAG ||
	       column->kind == NEW_FILL_DOWN;
}

/* Whether it is a copy of a field, of any length. */
static inline bool new_column_is_copied(const struct new_column *column)
{
	return column->kind >= NEW_LET && column->kind <= NEW_LEAD;
}

/* What a new column looks back on. */
struct plan_window {
	enum new_column_kind kind;
	size_t column;     /* in the plan */
	uint64_t nrows;    /* N: of the records that a rolling column shows, that of the record itself is one */
	struct ewma_weight weight; /* NEW_EWMA */
	/* Of its struct group_window (fold/group_window.h), in a group; 0: the group's partial has it. */
	uint32_t cell_offset;
	uint8_t cell_nvalues; /* that it has room for */
	bool cell_suffices;   /* no more are needed */
};

/* How many of a column's values before a record are needed. */
static inline uint64_t plan_window_nbefore(const struct plan_window *window)
{
	switch (window->kind) {
	case NEW_LAG:
		return window->nrows;
	case NEW_FILL_DOWN:
	case NEW_DELTA:
	case NEW_RATIO:
		return 1;
	case NEW_EWMA:
		return UINT64_MAX; /* of a text that does not begin the input */
	default:
		return window->nrows - 1;
	}
}

/* Whether it is of fields as they are, not of numbers. */
static inline bool plan_window_is_of_text(const struct plan_window *window)
{
	return window->kind == NEW_LAG || window->kind == NEW_FILL_DOWN;
}

/* Whether a missing value does not count. */
static inline bool plan_window_skips_missing(const struct plan_window *window)
{
	return window->kind == NEW_FILL_DOWN || window->kind == NEW_EWMA || window->kind == NEW_DELTA ||
	       window->kind == NEW_RATIO;
}

/* Whether it shows results of the numbers so far. */
static inline bool new_column_is_running(const struct new_column *column)
{
	return column->kind < NEW_ROW_NUMBER;
}

struct let; /* query/let.h */

/* One field that is read, or one computed column. Tables have 300,000 and more: no byte is left between two members. */
struct plan_column {
	const struct let *let; /* what computes it; NULL: it is a field of the records. Not owned. */
	const char *name;    /* header name, or colN; not owned */
	uint64_t nkeys_most; /* with MOMENT_KEYS: so many different texts are kept; 0: all */
	uint32_t field;      /* 0-based position in the record */
	uint32_t cell_offset; /* where its states are in a group, in bytes (fold/group.h) */
	uint32_t cell_list;   /* its number among those whose groups' values are listed beside cells */
	uint32_t tuple_offset, tuple_code; /* where a tuple has its number, in bytes, and the number of its code (fold/group_tuples.h) */
	unsigned needs;      /* the moments that are asked of it; 0: only a predicate reads it */
	enum invalid_policy invalid;
	bool parses;         /* values must be numbers; false: only presence is counted */
	bool if_numeric;     /* selected by '*' or the summary: text is no error if the first
			      * value is text */
	bool counts_text;    /* --count, or another operation that takes text, names it as well: its
			      * texts are present, but for those with a NUL, which are invalid
			      * whatever its kind */
	bool takes_text;     /* it parses, but only operations that take text ask for it: a value that
			      * is no number is text, unless it has a NUL */
	bool begins_as_text; /* its value in the first record is no number */
	bool is_key;         /* it is among the plan's keys: a NUL in it is an error */
	bool has_currency;   /* with --money: its numbers are added up or compared, so that they share one */
	bool keeps_few_keys; /* with MOMENT_KEYS: tables are made for few, as each group has some */
	uint8_t states; /* what a group keeps of it: a set of enum group_state (fold/group.h); 0: the group's partial has all */
};

/* Whether the column needs a moment of numbers that the fused fold does not keep. */
static inline bool plan_column_has_moments(const struct plan_column *column)
{
	return (column->needs & ~(unsigned)(MOMENTS_FUSED | MOMENT_TEXTS)) != 0;
}

/* Whether it needs its values as text. */
static inline bool plan_column_has_texts(const struct plan_column *column)
{
	return (column->needs & MOMENT_TEXTS) != 0;
}

/* Whether a column that parses and needs keys needs those of its texts as well. */
static inline bool plan_column_keeps_text_keys(const struct plan_column *column)
{
	return column->counts_text || column->invalid == INVALID_TEXT;
}

/* Whether a group keeps the column's numbers in a cell. */
static inline bool plan_column_has_cell(const struct plan_column *column)
{
	return column->states != 0;
}

/* Whether it keeps one of these moments beside that. */
static inline bool plan_column_has_cell_of(const struct plan_column *column, unsigned moments)
{
	return plan_column_has_cell(column) && (column->needs & moments) != 0;
}

/* Two columns whose products are summed, over the records that have both values. */
struct plan_pair {
	size_t x, y;    /* in the plan */
	unsigned needs; /* the moments that are asked of both columns, over those records */
	uint32_t cell_offset; /* of its cell in a group, in bytes; 0: it has none (fold/group.h) */
};

struct plan {
	struct csv_dialect dialect;
	struct number_notation notation;
	struct ragged_rule ragged;
	enum invalid_policy bad_record; /* ERROR or SKIP: one that is ragged and not taken, or for
					 * which a predicate compares text with a number */
	size_t ncolumns;
	struct plan_column *columns; /* by field, ascending, no field twice; then computed ones */
	size_t nlets;                /* of these */
	size_t npairs;
	struct plan_pair *pairs;
	/* --by: records with the same values in these columns are a group. */
	size_t nkeys;
	size_t *keys;        /* in the plan's columns, as in COLS */
	size_t group_nbytes; /* of a struct group with its cells; 0 without keys */
	size_t groups_few;   /* so many are kept by a thread; more by all together */
	size_t tuple_nbytes; /* of a record on its way to its group; 0: records are no tuples (fold/group_tuples.h) */
	size_t group_nmatched_offset; /* in it, of the predicates' counts; 0 if there are no predicates */
	bool groups_keep_keys;      /* some column needs MOMENT_KEYS */
	bool groups_keep_ends;      /* some column with a cell needs MOMENT_ENDS or MOMENT_TEXTS */
	uint32_t nlists;            /* ... or MOMENT_VALUES, or MOMENT_KEYS: so many do */
	struct group_store *groups; /* all groups of the run; whoever runs it owns them */
	bool reads_groups_once;     /* as they appeared, when all records are folded: a device that has all of them may
				     * keep them until then (fold/group_source.h) */

	size_t npredicates;
	const struct expr **predicates; /* --where's, and one for each --offsets */
	size_t where; /* the predicate without which a record is left out, or PREDICATE_NONE */

	bool guesses_texts; /* numbers may be left out of MOMENT_TEXTS: only a column of text needs
			     * them. Where that was wrong, result_lacks_texts says so. */
	bool is_part; /* of the records; see plan_as_part */
	bool is_saved; /* what is kept leaves the process: --partial or --save-state */
	bool counts_records; /* partial.nrecords is needed: else a device may leave it 0 */

	bool emits;       /* records are printed, each with its new columns */
	uint64_t head;    /* of these so many at most; 0: all */
	struct choice *choice; /* has those printed that it chooses of all; whoever runs the plan owns it; NULL:
				* none */
	bool only;        /* the new fields without the record */
	bool shares_header; /* records of all files are printed under the first one's: others are errors */
	struct curve *curve; /* takes what is printed, to draw it; whoever runs the plan owns it; NULL: none */
	bool inside_line; /* the header record has no LF: the first record printed needs one before it */
	bool exclusive;   /* totals before the record instead of after it */
	size_t nnew_columns;
	struct new_column *new_columns;
	size_t nwindows;
	struct plan_window *windows; /* of the new columns that have one */
	size_t nleads, nranks; /* of these: NEW_LEAD, NEW_RANK */
	const struct rank_tables *ranks; /* made by a pass before this one; whoever runs the plan owns them; NULL
					  * without such a pass */

	const char *header; /* the header record, without its line end; NULL: none. Not owned. */
	size_t header_nbytes;
	uint64_t line_below_header; /* its number in the file; 0: there is no header */
	struct sought_header sought; /* unless some column's values show by themselves that a record is the header */

	size_t nmissing;             /* spellings besides the empty field */
	const char *const *missing;  /* each NUL-terminated, blanks trimmed */
};

/* Whether new fields are printed behind those of a record. With --only, _ is written for what is empty. */
static inline bool plan_widens_records(const struct plan *plan)
{
	return plan->emits && plan->nnew_columns > 0 && !plan->only;
}

/* Has a complete plan of a file read words by the layout of its header, NULL: none, which stays the caller's. Sets in the
 * layout what may be read below the names: where new columns are printed beside records, nothing, since a blank field is
 * none when that is read. Errors: STATUS_ALIGNED_ONLY: then they cannot be read. */
enum status plan_use_layout(struct plan *plan, struct word_layout *layout);

/* Whether records are printed without new columns. */
static inline bool plan_copies_records(const struct plan *plan)
{
	return plan->emits && plan->nnew_columns == 0;
}

/* As many columns as a GPU folds faster straight from the text than by way of a table of fields. */
#define FOLDED_NCOLUMNS_MAX 2304

/* Whether a column needs its values or its keys. */
static inline bool plan_keeps_numbers(const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs & (MOMENT_VALUES | MOMENT_KEYS))
			return true;
	return false;
}

/* Whether nothing but sums, extremes, counts and squares of columns is asked for, of all records. A GPU folds such columns
 * straight from the text, before a chunk's entry is known; otherwise a chunk waits for those before it. */
static inline bool plan_folds_columns(const struct plan *plan)
{
	return !plan->emits && plan->nkeys == 0 && plan->npredicates == 0 && plan->nlets == 0 && plan->ncolumns > 0 &&
	       plan->ncolumns <= FOLDED_NCOLUMNS_MAX && !plan_keeps_numbers(plan);
}

/* Whether a device keeps groups to the end of the run; where records are printed, it keeps those of a chunk. */
static inline bool plan_leaves_groups(const struct plan *plan)
{
	return plan->nkeys > 0 && !plan->emits;
}

/* Whether a record's new fields tell of the records before it. */
static inline bool plan_has_running(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind <= NEW_ROW_NUMBER || plan->new_columns[i].kind == NEW_OFFSET ||
		    new_column_has_window(&plan->new_columns[i]))
			return true;
	return false;
}

/* Has the plan fold some of a query's records, which are merged with others later (--partial). Only then it is
 * known whether a column of '*' is one of numbers, so its texts are no errors. */
static inline void plan_as_part(struct plan *plan)
{
	plan->is_part = plan->is_saved = plan->counts_records = true;
	plan->guesses_texts = false;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].if_numeric && plan->columns[c].invalid == INVALID_ERROR)
			plan->columns[c].invalid = INVALID_SKIP;
}

/* Undoes that, once all records have been merged. invalid: what the options say of values that are no numbers. */
static inline void plan_as_whole(struct plan *plan, enum invalid_policy invalid)
{
	plan->is_part = plan->is_saved = false;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].if_numeric && plan->columns[c].invalid == INVALID_SKIP)
			plan->columns[c].invalid = invalid;
}

/* Whether the order in which partials are combined shows in the result. First and last values know their places. */
static inline bool plan_is_ordered(const struct plan *plan)
{
	return plan->nwindows > 0;
}

#endif
