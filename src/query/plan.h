/* SPDX-License-Identifier: MIT
 *
 * plan.h - what one run asks of every record: fixed before the first worker
 * starts, read by all of them, changed by none.
 */
#pragma once

#include "csv/field.h"
#include "csv/record.h"
#include "number/ewma.h"
#include "lang/time.h"
#include "number/decimal.h"
#include "number/notation.h"
#include "number/shown.h"

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
	MOMENT_EXTREMES = 4, /* the smallest and the largest value */
	MOMENT_SQUARES = 8,  /* the sum of squares */
	MOMENT_CUBES = 16,   /* the sum of third powers */
	MOMENT_FOURTHS = 32, /* the sum of fourth powers */
	MOMENT_LOGS = 64,    /* the sum of logarithms */
	MOMENT_RECIPROCALS = 8192, /* the sum of reciprocals */
	MOMENT_ENDS = 128,   /* the first and the last value */
	MOMENT_VALUES = 1024, /* every value */
	MOMENT_TEXTS = 4096, /* of all values as text: lengths, smallest and largest, dates */
	MOMENT_KEYS = 256,   /* the distinct texts */
	MOMENT_KEY_COUNTS = 512, /* with MOMENT_KEYS: how often each came, and where first */
};
#define MOMENTS_FUSED (MOMENT_COUNT | MOMENT_SUM | MOMENT_EXTREMES)
#define MOMENTS_OF_SPREAD (MOMENT_COUNT | MOMENT_SUM | MOMENT_SQUARES)
#define MOMENTS_OF_CUBES (MOMENTS_OF_SPREAD | MOMENT_CUBES)
#define MOMENTS_OF_FOURTHS (MOMENTS_OF_CUBES | MOMENT_FOURTHS)
#define MOMENTS_OF_ORDER (MOMENT_COUNT | MOMENT_EXTREMES | MOMENT_VALUES)
#define MOMENTS_OF_KEYS (MOMENT_COUNT | MOMENT_KEYS | MOMENT_KEY_COUNTS)
#define MOMENTS_OF_TEXT (MOMENTS_OF_KEYS | MOMENT_TEXTS) /* need no numbers */

/* What is true of a kind of new column: a set. */
enum new_column_trait {
	NEW_RUNS = 1,          /* it tells of the records before */
	NEW_LOOKS_BACK = 2,    /* of what the moments of these do not have: it has a struct plan_window */
	NEW_SKIPS_MISSING = 4, /* where it looks back, a missing value does not count */
	NEW_COPIES = 8,        /* it is a field, of any length, not a number */
	NEW_FOR_GPUS = 16,     /* GPUs print it, too */
	NEW_RANKS = 32,        /* it needs all numbers of the column in order, from a pass before */
};

#define FIELD_NOWHERE (UINT32_MAX / 2) /* the place of a column that the file lacks: beyond the end of each record */

/* The kinds of new columns: name, who writes it (emit/new_fields.c), the aggregate whose result it shows or NONE, traits, and what it
 * shows. */
#define NEW_COLUMN_KINDS(ROW) \
	ROW(SUM, totals, SUM, NEW_RUNS | NEW_FOR_GPUS) /* results of a column's numbers so far */ \
	ROW(MIN, totals, MIN, NEW_RUNS | NEW_FOR_GPUS) \
	ROW(MAX, totals, MAX, NEW_RUNS | NEW_FOR_GPUS) \
	ROW(COUNT, totals, COUNT, NEW_RUNS | NEW_FOR_GPUS) \
	ROW(MEAN, totals, MEAN, NEW_RUNS) \
	ROW(VAR, spreads, VAR, NEW_RUNS) \
	ROW(STDDEV, spreads, STDDEV, NEW_RUNS) \
	ROW(ROLLING_SUM, rollings, SUM, NEW_RUNS | NEW_LOOKS_BACK) /* of the last N records */ \
	ROW(ROLLING_MEAN, rollings, MEAN, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(ROLLING_MIN, rollings, MIN, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(ROLLING_MAX, rollings, MAX, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(ROLLING_COUNT, rollings, COUNT, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(ROLLING_STDDEV, rollings, STDDEV, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(ROLLING_MEDIAN, rollings, MEDIAN, NEW_RUNS | NEW_LOOKS_BACK) \
	ROW(DELTA, changes, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_SKIPS_MISSING) /* a number minus the last one before, */ \
	ROW(RATIO, changes, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_SKIPS_MISSING) /* ... or divided by it */ \
	ROW(PCT_CHANGE, changes, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_SKIPS_MISSING) /* ... or both */ \
	ROW(EWMA, weighted, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_SKIPS_MISSING) \
	ROW(RANK, ranks, NONE, NEW_RANKS) /* 1 and how many numbers come before the value in order, */ \
	ROW(RANK_DENSE, ranks, NONE, NEW_RANKS) /* ... or how many distinct ones, */ \
	ROW(PERCENT_RANK, ranks, NONE, NEW_RANKS) /* ... or how many of the others, as a part of 1, */ \
	ROW(NTILE, ranks, NONE, NEW_RANKS) /* ... or in which of N equal parts it is by its rank */ \
	ROW(ROW_NUMBER, row_numbers, NONE, NEW_RUNS) /* from 1 on; with --exclusive, how many records came before */ \
	ROW(OFFSET, offsets, NONE, NEW_RUNS | NEW_FOR_GPUS) /* the record's 0-based position among those where a predicate holds */ \
	ROW(LET, copies, NONE, NEW_COPIES) /* the value of a computed column */ \
	ROW(FIELD, copies, NONE, NEW_COPIES) /* a field of the record, as it is */ \
	ROW(LAG, lags, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_COPIES) /* the field of the record N before, as it is */ \
	ROW(FILL_DOWN, lags, NONE, NEW_RUNS | NEW_LOOKS_BACK | NEW_COPIES | NEW_SKIPS_MISSING) /* or the last one that is not missing */ \
	ROW(LEAD, copies, NONE, NEW_COPIES) /* the field of the record N later, as it is */ \
	ROW(BYTE_OFFSET, byte_offsets, NONE, NEW_FOR_GPUS) /* where the record starts in the decompressed input */

enum new_column_kind {
#define NEW_KIND(name, ops, aggregate, traits) NEW_##name,
	NEW_COLUMN_KINDS(NEW_KIND)
#undef NEW_KIND
};

/* Whether one of the traits is true of a kind. */
static inline bool new_column_has(enum new_column_kind kind, unsigned traits)
{
#define NEW_TRAITS(name, ops, aggregate, traits) traits,
	static const unsigned char all[] = {NEW_COLUMN_KINDS(NEW_TRAITS)};
#undef NEW_TRAITS

	return (all[kind] & traits) != 0;
}

struct program; /* an expression: lang/program.h */
struct group_store; /* fold/groups.h */
struct rank_tables; /* fold/rank_table.h */
struct sorter; /* emit/sort.h */
struct row_format; /* io/row_format.h */
struct aggregates; /* fold/aggregates.h */
#define PREDICATE_NONE SIZE_MAX

/* One new column of the records that are printed. */
struct new_column {
	enum new_column_kind kind;
	size_t column;    /* in the plan; not of NEW_ROW_NUMBER, NEW_OFFSET and NEW_BYTE_OFFSET */
	size_t predicate; /* NEW_OFFSET: in the plan */
	size_t window;    /* NEW_LOOKS_BACK: in the plan */
	uint64_t nahead;  /* NEW_LEAD, NEW_NTILE: N */
	size_t rank;      /* NEW_RANKS: which of the plan's nranks */
	bool is_descending; /* NEW_RANKS: the largest is the first */
	bool counts;        /* its numbers count, and are not rounded */
};

/* What a new column looks back on. */
struct plan_window {
	enum new_column_kind kind;
	size_t column;     /* in the plan */
	uint64_t nrows;    /* N: of the records that a rolling column shows, that of the record itself is one */
	bool is_timed; /* it shows those of the last `width` seconds instead, by the plan's times */
	struct decimal width;
	const struct ewma_weight *weight; /* of NEW_EWMA; not owned */
	/* Of its struct group_window (fold/window.h), in a group: */
	uint32_t cell_offset;
	uint8_t cell_nvalues; /* that it has room for */
	bool cell_suffices;   /* no more are needed */
	uint8_t cell_values; /* where they are, in bytes */
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
	case NEW_PCT_CHANGE:
		return 1;
	case NEW_EWMA:
		return UINT64_MAX; /* of a text that does not begin the input */
	default:
		return window->is_timed ? UINT64_MAX : window->nrows - 1;
	}
}

/* One field that is read, or one computed column. Tables have 300,000 and more: no byte is left between two members. */
struct plan_column {
	const struct program *let; /* what computes it; NULL: it is a field of the records. Not owned. */
	const char *name;    /* header name, or colN; not owned */
	uint64_t nkeys_most; /* with MOMENT_KEYS: so many distinct texts are kept; 0: all */
	uint32_t field;      /* 0-based position in the record */
	uint32_t cell_offset; /* where its states are in a group, in bytes (fold/group.h) */
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
	uint16_t states; /* what a group keeps of it: a set of enum group_state (fold/group.h) */
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

/* Two columns whose products are summed, over the records that have both values. */
struct plan_pair {
	size_t x, y;          /* in the plan */
	uint32_t cell_offset; /* of its state in a group, in bytes (fold/group.h) */
};

/* One of the keys that records are sorted by. */
struct plan_sort_key {
	size_t column; /* in the plan */
	bool is_descending;
};

/* Of the records, the last ones, or some that are drawn at random. */
enum record_choice_kind { CHOICE_NONE, CHOICE_LAST, CHOICE_SAMPLE };

struct plan {
	struct csv_dialect dialect;
	struct number_notation notation;
	struct time_zone zone;
	struct ragged_rule ragged;
	enum invalid_policy bad_record; /* ERROR or SKIP: one that is ragged and not taken, or for
					 * which a predicate compares text with a number */
	size_t ncolumns;
	struct plan_column *columns; /* by field, ascending, no field twice; then computed ones */
	size_t nlets;                /* of these */
	bool computes;               /* values that are no fields, in these or in predicates: texts are copied, with room after */
	size_t npairs;
	struct plan_pair *pairs;
	/* --by: records with the same values in these columns are a group. */
	size_t nkeys;
	size_t *keys;        /* in the plan's columns, as in COLS */
	bool has_runs;       /* --runs: of neighbours only: see fold/groups.h */
	size_t group_nbytes; /* of a struct group with its cells; 0 without keys */
	size_t groups_few;   /* so many are kept by a thread; more by all together */
	size_t tuple_nbytes; /* of a record on its way to its group; 0: records are no tuples (fold/group_tuples.h) */
	size_t group_nmatched_offset; /* in it, of the predicates' counts; 0 if there are no predicates */
	bool groups_keep_keys;      /* some column needs MOMENT_KEYS */
	bool groups_keep_ends;      /* some column with a cell needs MOMENT_ENDS or MOMENT_TEXTS */
	uint32_t nlists;            /* ... or MOMENT_VALUES, or MOMENT_KEYS: so many do */
	struct group_store *groups; /* all groups of the run; whoever runs it owns them */
	bool reads_groups_once;     /* as they appeared, when all records are folded: a device that has all of them may
				     * keep them until then (fold/groups.h) */

	size_t npredicates;
	const struct program **predicates; /* --where's, and one for each --offsets */
	size_t where; /* the first of the predicates, without which a record is left out; or PREDICATE_NONE */

	bool guesses_texts; /* numbers may be left out of MOMENT_TEXTS: only a column of text needs
			     * them. Where that was wrong, result_lacks_texts says so. */
	bool is_part; /* of the records; see plan_as_part */
	bool is_saved; /* what is kept leaves the process: --partial or --save-state */
	bool counts_records; /* partial.nrecords is needed: else a device may leave it 0 */

	bool emits;       /* records are printed, each with its new columns */
	uint64_t head;    /* of these so many at most; 0: all */
	uint64_t group_head; /* with keys: ... so many of each group at most; 0: all */
	enum record_choice_kind choice; /* which of these are printed is chosen of all */
	uint64_t seed;    /* of CHOICE_SAMPLE */
	size_t nsort_keys;
	struct plan_sort_key *sort_keys; /* the first one first */
	uint64_t top;     /* the most sorted or chosen records that are printed; 0: all of them */
	size_t nsort_groups;
	size_t *sort_groups; /* columns: of the records with the same values in these */
	uint64_t group_top;  /* ... this many are printed at most; 0: there are no such columns */
	struct sorter *sorter; /* takes the records; whoever runs the plan owns it; NULL: they are printed as they come */
	bool formats;     /* records are not printed as they came, but in a format of their own: */
	const struct row_format *row_format; /* ... once all names are known; else NULL; whoever runs the plan owns it */
	size_t nunited;   /* columns of all files together (--union); 0: those of the first file are all */
	const uint32_t *places; /* of a file's plan with those: where each is in its records, or FIELD_NOWHERE; NULL: no such plan. Not owned. */
	const struct number_style *shown; /* numbers of new columns and results are written in; NULL: as computed. Not owned */
	bool only;        /* the new fields without the record */
	bool shares_header; /* records of all files are printed under the first one's: others are errors */
	bool draws;       /* what is printed is drawn (io/curve.h) */
	bool inside_line; /* the header record has no LF: the first record printed needs one before it */
	bool exclusive;   /* totals before the record instead of after it */
	size_t nnew_columns;
	struct new_column *new_columns;
	size_t nwindows;
	struct plan_window *windows; /* of the new columns that have one */
	size_t first_timed;          /* the first of these that is timed, or nwindows. Then: */
	size_t over; /* the column of times, in seconds, which do not fall from record to record, of
			a group */
	size_t over_field; /* what that is computed of, or it: the field that shows where they do */
	size_t nleads, nranks; /* of these: NEW_LEAD, and of NEW_RANKS */
	uint64_t nahead_max;   /* the largest of NEW_LEAD */
	const struct rank_tables *ranks; /* made by a pass before this one; whoever runs the plan owns them; NULL
					  * without such a pass */

	const struct aggregates *aggregates; /* the values of the computed columns that are aggregates: as ranks are */

	const char *header; /* the header record, without its line end; NULL: none. Not owned. */
	size_t header_nbytes;
	uint64_t line_below_header; /* its number in the file; 0: there is no header */
	struct sought_header sought; /* unless some column's values show by themselves that a record is the header */

	size_t nmissing;             /* spellings besides the empty field */
	const char *const *missing;  /* each NUL-terminated, blanks trimmed */
};

/* Whether new fields are printed after those of a record, in the input's format. With --only, _ is written for what is empty. */
static inline bool plan_widens_records(const struct plan *plan)
{
	return plan->emits && plan->nnew_columns > 0 && !plan->only && !plan->formats;
}

/* Has a complete plan of a file read words by the layout of its header, NULL: none, which stays the caller's. Sets in the
 * layout what may be read below the names: where new columns are printed beside records, nothing, since a blank field is
 * none when that is read. Errors: STATUS_ALIGNED_ONLY: then they cannot be read. */
enum status plan_use_layout(struct plan *plan, struct word_layout *layout);

/* The number of the input's columns in a record that is printed in a format. */
static inline size_t plan_nprinted(const struct plan *plan)
{
	return plan->nunited ? plan->nunited : plan->ragged.nfields;
}

/* Whether records are printed without new columns, and without a look at their groups. */
static inline bool plan_copies_records(const struct plan *plan)
{
	return plan->emits && plan->nnew_columns == 0 && plan->group_head == 0;
}

/* Whether the text of a number can hold the delimiter. */
static inline bool plan_numbers_need_quotes(const struct plan *plan)
{
	const char d = plan->dialect.delimiter;

	return d == '-' || d == plan->notation.decimal || decimal_is_digit(d) ||
	       (plan->shown && number_style_has(plan->shown, d));
}

/* As many columns as a GPU folds faster straight from the text than by way of a table of fields. */
#define FOLDED_NCOLUMNS_MAX 2304

/* Whether a column needs one of these moments, a set of enum moment. */
static inline bool plan_needs(const struct plan *plan, unsigned moments)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs & moments)
			return true;
	return false;
}

/* Whether nothing but sums, extremes, counts and squares of columns is asked for, of all records. A GPU folds such columns
 * straight from the text, before a chunk's entry is known; otherwise a chunk waits for those before it. */
static inline bool plan_folds_columns(const struct plan *plan)
{
	return !plan->emits && plan->nkeys == 0 && plan->npredicates == 0 && plan->nlets == 0 && plan->ncolumns > 0 &&
	       plan->ncolumns <= FOLDED_NCOLUMNS_MAX && !plan_needs(plan, MOMENT_VALUES | MOMENT_KEYS);
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
		if (new_column_has(plan->new_columns[i].kind, NEW_RUNS))
			return true;
	return false;
}

/* Whether a new column shows a window by time. */
static inline bool new_column_is_timed(const struct plan *plan, const struct new_column *column)
{
	return new_column_has(column->kind, NEW_LOOKS_BACK) &&
	       plan->windows[column->window].is_timed;
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
	return plan->nwindows > 0 || plan->has_runs;
}
