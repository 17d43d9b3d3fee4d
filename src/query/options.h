/* SPDX-License-Identifier: MIT
 *
 * options.h - the command line.
 */
#pragma once

#include "io/picture.h"
#include "io/table.h"
#include "number/decimal.h"
#include "lang/time.h"
#include "number/notation.h"
#include "query/option_table.h"
#include "query/plan.h"
#include "base/status.h"
#include "lang/program.h"

enum operation {
#define OPERATION(id, ...) OPERATION_##id,
#include "query/options.def"
	NOPERATIONS
};

enum operation_kind {
	OPERATION_REDUCE, OPERATION_TEXT, OPERATION_TABLE, OPERATION_PAIR, OPERATION_RECORDS, OPERATION_EXPR, OPERATION_FRACTION,
	OPERATION_RUNNING, OPERATION_OFFSET, OPERATION_LET, OPERATION_FIELDS
};

enum header_mode { HEADER_AUTO, HEADER_YES, HEADER_NO };
enum progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };
enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU, DEVICE_ALL };

/* How many values may be left out: at most `most` of them, or most / 10^nplaces percent. */
struct invalid_limit {
	const char *text; /* as it was given; NULL: it was not */
	bool is_percentage;
	uint64_t most;
	int nplaces;
};

/* The number of --pNN: numerator / 10^nplaces percent, 0 to 100. */
struct percentile {
	uint64_t numerator;
	int nplaces;
};

/* One operation of the command line. */
struct operation_use {
	enum operation operation;
	const char *argument; /* COLS, PAIRS, EXPR, or NULL */
	const char *name;     /* the option's, of a percentile as it was typed: "p99.9" */
	char *typed;          /* name, if it is owned; else NULL */
	const char *title; /* of its results; NULL: the operation's */
	struct percentile percentile; /* of OPERATION_PERCENTILE, and F of OPERATION_TRIMMED_MEAN */
	char *column;                 /* of OPERATION_HIST and where there is a suffix: argument, which is owned then */
	struct decimal width; /* of OPERATION_HIST, and of a window by time: in seconds; 0: the
				 window is none */
	const char *suffix;           /* of OPERATION_LEAD, OPERATION_TRIMMED_MEAN and windows: ":N", ":F" or ":A" after the columns, as it was
				       * typed; NULL if the argument has no such end */
	uint64_t nrows;               /* of OPERATION_LEAD, OPERATION_NTILE and windows: N */
	struct ewma_weight *weight;   /* of OPERATION_EWMA; owned by the options, or NULL */
	bool is_descending;           /* of those that rank */
};

/* What the command line asks of the records, as a list of options that can be compared, saved and parsed again: operations in
 * their order, then the other options that change what a result is, sorted. Options that say how it is printed, or where it
 * runs, are not among them. */
struct asked {
	char **at;             /* n options; owned */
	size_t n, noperations; /* the first noperations are operations */
};

/* One of the parts of a file, --part K/N. */
struct file_part {
	uint64_t number, of; /* number: from 1 on */
	bool is_quoted;      /* it begins inside a quoted field */
};

/* Which of the records are printed: at most one of these is not 0. */
struct record_choice {
	uint64_t head, tail, sample;
	uint64_t seed;
	bool has_seed;
};

/* OLD=NEW of --rename. */
struct new_name {
	char *old;       /* owned, with what follows it */
	const char *name;
};

/* A file whose name an option took for its argument. */
struct taken_file {
	const char *file; /* NULL: no option did */
	const char *name, *argument; /* the option's, and what --help calls its argument */
};

struct options {
	struct asked asked;
	struct taken_file taken;
	bool is_default_input; /* no file is named */
	bool partial, merge;
	const char *save_state, *from_state; /* file names, or NULL */
	struct file_part part; /* of --part; of == 0: not given */
	size_t nuses;
	struct operation_use *uses; /* in the order given; none, and no where: the summary */
	const struct program *wanted; /* nwanted aggregates by their names: results of a pass that another one looks up */
	size_t nwanted;
	bool emits;                 /* records are printed: with new columns, or for where alone */
	const char *where;          /* EXPR, or NULL */
	struct record_choice choice;
	bool starts_anew;           /* there are new columns, which --by starts anew in each group */
	bool aggregates;            /* an expression has one, or may have: the input is read twice, perhaps */
	bool selects;               /* columns of the records are printed, not records: --select, --drop */
	size_t nrenames;
	struct new_name *renames;   /* in the order given */
	const char *runs;           /* COLS, or NULL: it is `by`, too */
	const char *over;           /* COL, or NULL */
	const char *by;             /* COLS, or NULL */
	const char *pivot;          /* COL, or NULL: the last key; alone, it is `by`, too */
	const char *having;         /* EXPR, or NULL */
	const char *sort;           /* a list of [-]KEY, as it was given, or NULL */
	bool sorts;                 /* ... of records, not of results */
	bool is_open;               /* names tell whether --by has records printed, or groups counted: options_settle is called then */
	bool is_settled;            /* and it has been */
	const char *unique;         /* COLS, or NULL */
	uint64_t top;               /* 0: all */
	bool exclusive, only;
	struct csv_dialect dialect;
	bool has_delimiter, has_quote; /* they were given */
	uint64_t nskipped_lines;
	bool unites; /* the columns of all files are read, by name */
	enum ragged_policy ragged;
	bool has_ragged; /* it was given */
	struct number_notation notation;
	struct time_zone zone;
	struct invalid_limit max_invalid;
	enum header_mode header;
	size_t nmissing;
	const char **missing; /* blanks trimmed */
	const char *split_number; /* in a list of them, from where a comma stands between digits; NULL: nowhere */
	enum invalid_policy invalid;
	struct style style;
	struct picture picture;
	enum device device;
	int device_number; /* with DEVICE_GPU: which; -1: every one */
	uint64_t memory_nbytes; /* of --memory; 0: not given */
	int nthreads;      /* 0: as many as there are cores to run on */
	size_t chunk_nbytes; /* 0: the workers' own choice; tests set it down to 1 */
	bool all; /* the summary has what is costly, too */
	bool explain; /* say what would be done instead of doing it */
	bool columns; /* print their names instead of a result */
	bool verbose;
	enum progress progress;
	enum option_about about;
	int npaths;
	const char **paths; /* "-": standard input; at least one */
};

/* Reads the command line and the environment into o, and reorders argv as option_parse does.
 * Errors: STATUS_USAGE with the whole sentence in fault's detail, STATUS_NO_MEMORY. o keeps
 * pointers into argv. Free with options_free. */
enum status options_parse(struct options *o, int argc, char **argv, struct fault *fault);
void options_free(struct options *o);

/* Checks which options go together, and sets o->emits, o->selects and, with --whitespace, the dialect. Where o->is_open, only those
 * that say how the input is read. Errors: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status options_check(struct options *o, struct fault *fault);

/* Says, of options that are open, whether records are sorted, and whether an expression has an aggregate for each record: if neither,
 * groups are counted. Checks what is left. o->uses may be another array then. Errors: options_check's. */
enum status options_settle(struct options *o, bool sorts, bool aggregates, struct fault *fault);

/* Reports that o->taken was meant as the input. Returns STATUS_USAGE. */
enum status options_fail_taken(const struct options *o, struct fault *fault);

/* The name of the option that chooses records, "head", or NULL. */
const char *options_choice_name(const struct options *o);

bool asked_equal(const struct asked *a, const struct asked *b);
void asked_free(struct asked *a);

/* Parses what was asked as if it were a command line; o points into a. Errors: options_parse's; STATUS_PART_DAMAGED: it is
 * not what options_parse makes, such as an option that writes a file, or a file's name. */
enum status asked_parse(const struct asked *a, struct options *o, struct fault *fault);

/* The operation's name, "cumsum"; the title of its results, "running_sum"; and its kind. */
const char *operation_name(enum operation operation);
const char *operation_title(enum operation operation);
enum operation_kind operation_kind(enum operation operation);

/* Whether the operation's argument is COLS, a column or pairs of columns. */
bool operation_has_columns(enum operation operation);

/* Whether the operation's results count something, so that they are not rounded. */
bool operation_counts(enum operation operation);

/* Whether '*' asks a pair's operation of all pairs of numeric columns. */
bool operation_use_is_matrix(const struct operation_use *use);

/* Whether the operation takes values that are no numbers. */
bool operation_takes_text(enum operation operation);

/* The aggregates that expressions may have: results of one column, by the names that they are printed with. result_names: those of
 * --agg, --having and --sort, which have the shares of groups besides. */
extern const struct aggregate_name *const aggregate_names, *const result_names;

/* Whether a result is computed of other results. */
static inline bool operation_is_computed(enum operation operation)
{
	return operation_kind(operation) == OPERATION_EXPR || operation_kind(operation) == OPERATION_FRACTION;
}

/* Makes a use of the operation that an aggregate's name means, "sum" or "p99", without an argument. Errors: STATUS_USAGE,
 * STATUS_NO_MEMORY; use->typed is then owned. */
enum status operation_use_of(struct operation_use *use, const char *name, size_t nbytes, struct fault *fault);

/* Whether the operation's new column shows something of each record, or group. */
bool operation_is_new_column(enum operation operation);

/* Whether a use shows windows by time. */
static inline bool operation_use_is_timed(const struct operation_use *use)
{
	return operation_kind(use->operation) == OPERATION_RUNNING && use->width.significand > 0;
}

/* Whether it is a new column that needs all values in order, from a pass before. */
bool operation_ranks(enum operation operation);

/* Whether a new column of the operation shows something of later records. */
bool operation_looks_ahead(enum operation operation);

/* The moments that an operation is computed from: a set of enum moment. */
unsigned operation_needs(enum operation operation);

/* What the new column of an operation shows, of those that have one. */
enum new_column_kind operation_new_column(enum operation operation);

extern const struct option_table options_table;
