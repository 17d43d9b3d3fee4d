/* SPDX-License-Identifier: MIT
 *
 * run.h - a run of the program: input, query, devices, engine, result. main.c, and each rank of gpustat-mpi, is made
 * of these.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "cluster/part.h"
#include "engine/total.h"
#include "fold/group_result.h"
#include "fold/quantile.h"
#include "io/curve.h"
#include "io/input.h"
#include "query/options.h"
#include "query/query.h"
#include "run/device_choice.h"

/* What one pass over the input owns. */
struct run {
	struct options options;
	off_t stdin_offset; /* of standard input at the start; -1: it cannot seek */
	uint64_t stamp;     /* of an input that is read twice, before that (io/spool.h); 0: it is read once */
	struct input *input;
	struct query query;
	struct group_printing groups;
	struct row_format row_format; /* of the records that are printed, unless they are as they came */
	struct table_rows rows; /* ... of a table */
	struct curve curve; /* of the running column that is drawn */
	struct device_choice devices;
	struct total total;
	struct merge merge;
	struct input_range range; /* of --part */
	const struct part_source *slice_state; /* of a slice whose records are printed: the state of those before
						* it; NULL if no slice is before it; not owned */
	bool lacks_heading;       /* the header is not printed: another slice has it */
	struct ranks *ranks; /* what quantiles need; by the plan's columns */
	const struct aggregates *aggregates; /* of expressions, which an earlier pass has made; NULL: none; not owned */
	bool searches;  /* a later pass, for the ranks of one column only: searched, in the plan */
	size_t searched;
	const bool *padded; /* of each input, whether another rank has found it padded; NULL without other ranks; not owned */
	size_t npadded;
	bool careful;   /* fold no chunk on a guess: the pass before guessed wrong */
	const struct run *before; /* the pass that is repeated; NULL: this is the first; not owned */
	bool all_ended; /* every thread of the engine has ended; true before it has begun */
	bool is_repeatable; /* the input, found out while no thread used it */
};

/* Does all of it, once the options have been parsed: merges, explains, lists columns, prints results or records.
 * *r: all 0 but for options and all_ended; becomes the last pass, which has a struct run of its own, because threads of the pass
 * before may still use theirs. Errors, here and below: of all that the run does. */
enum status run_whole(struct run **r, struct fault *fault);

/* Like that, in one pass. Errors, besides: STATUS_MISGUESSED, STATUS_GPU_LOST, where it is to be repeated. */
enum status run_process(struct run *r, struct fault *fault);

/* Whether a pass that ended with this status is repeated, after so many: a wrong guess is made once, and then a GPU lost once. */
bool run_is_repeated(enum status status, int npasses);

/* Whether every thread of all passes has ended. */
bool run_has_ended(const struct run *r);

/* ---- its steps ---- */

/* Makes r, which is zeroed, another pass over the input, which reads it from its beginning; with the options of the pass before,
 * which belong to that. */
void run_begin_pass(struct run *r, const struct run *before);

/* Does what run_process does with an input that has been opened, for a query with aggregates. */
enum status run_aggregated(struct run *r, struct fault *fault);

/* Opens the input, and makes the query. */
enum status run_open_input(struct run *r, struct fault *fault);

/* Folds the input as the query says, or prints its records. */
enum status run_fold_input(struct run *r, struct fault *fault);

/* Finds what quantiles of all records need: among the kept values, or by further passes. */
enum status run_find_ranks(struct run *r, struct fault *fault);

/* Prints the result, and what was left out for it, and closes standard output. If that is too much, no result is
 * printed; records have been printed before. */
enum status run_finish(struct run *r, struct fault *fault);

/* Says what was guessed of the input, where a guess may be wrong: run_finish does. */
void run_report_guesses(const struct run *r);

/* ---- what it says beside the result ---- */

/* Of a run whose input has been opened, and whose devices are chosen: prints to output_stream() what will be read and how, why the
 * first record is a header or is not, which columns are looked at, what is printed, and which devices work, a line each. Bytes that
 * could harm a terminal are escaped. Errors: STATUS_NO_MEMORY. */
enum status explain_print(const struct run *r);

/* Fails if --invalid skip has left out every value of a column, every record, or more of them than
 * --max-invalid allows: fault is then the first value or record that was left out. */
enum status left_out_check(const struct run *r, struct fault *fault);

/* Warns of values and records that were left out, and of ragged records that the summary took. */
void left_out_report(const struct run *r);

/* Shows on standard error, from a second on, how far the run is. A thread of its own looks at
 * counters that the run keeps anyway, so it costs the run nothing. */

/* Begins, if options and what standard error is ask for it: --progress in the man page. Without a thread
 * left in the system, nothing is shown. */
void progress_begin(const struct options *options);

/* A pass over the input begins: engine_nbytes_begun and fd_nbytes_read count it. all_nbytes: what
 * fd_nbytes_read grows to; UINT64_MAX: not known. devices: whose pools work on it; not owned. */
void progress_pass(uint64_t all_nbytes, const struct device_choice *devices);

/* The pass has ended: its devices are not looked at any more. */
void progress_pass_end(void);

/* Ends it, and takes the line away. A message does so, too. */
void progress_end(void);

/* ---- its end ---- */

/* Adds to a fault what the run knows of its cause. */
void run_explain_fault(struct run *r, struct fault *fault);

/* Prints the message. Returns the exit status. */
int run_message_fault(const struct run *r, const struct fault *fault);

/* Closes the input, and so ends its threads. r->all_ended must be set, here and below. */
void run_close(struct run *r);

/* Frees all that r owns. */
void run_free(struct run *r);
