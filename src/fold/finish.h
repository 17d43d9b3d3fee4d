/* SPDX-License-Identifier: MIT
 *
 * finish.h - what is computed of finished results, in the pass that made them: --agg, --share, --having, and --sort by expressions.
 *
 * These are programs (lang/program.h), run by fold/program_block.c over a row for each group, or over one row of all records.
 * A row has no text: its columns are looked up, as aggregates of records are (fold/aggregates.h): the group's keys, results of
 * its columns as they would be printed, and sums over all groups. So a quotient of exact sums is rounded once.
 *
 * There are two sets of programs. One is run while groups are listed, for --having and --sort, in any thread's order; the other
 * while they are printed, in the printed order, which --cumshare needs.
 */
#pragma once

#include <pthread.h>

#include "base/status.h"
#include "fold/aggregates.h"
#include "fold/column.h"
#include "fold/program_block.h"
#include "fold/row_block.h"
#include "number/exact.h"
#include "query/query.h"

struct group;
struct group_list; /* group_order.h */
struct group_rows; /* group_result.h */
struct group_sort; /* group_order.h */

enum finish_kind { FINISH_KEY, FINISH_RESULT, FINISH_TOTAL, FINISH_RUNNING };

/* What a column is looked up from. */
struct finish_source {
	enum finish_kind kind;
	size_t index; /* of the plan's keys; of TOTAL and RUNNING: of the shares */
	struct result result;
};

/* A set of programs. */
struct finish {
	struct plan plan;	   /* all of its columns are computed */
	struct program **programs; /* the columns': of sources, and copies of the query's; owned */
	size_t nprograms, nsources;
	uint32_t *placed; /* by the query's finishers: the column, or NO_COLUMN */
	struct finish_source *sources;
};

/* A column whose sum over all groups is needed. */
struct finish_share {
	struct result sum;
	struct exact total;
};

/* All of a query. Owned by whoever runs it. */
struct finishing {
	const struct query *q; /* not owned */
	struct finish listed, printed;
	uint32_t *columns; /* of the query's results that are computed: where `printed` has them */
	size_t nshares;
	struct finish_share *shares;
	bool runs; /* some of `printed` tell of the rows before */
	struct exact *before; /* of each block of rows that is printed by itself: the sums of those before it, nshares each */
	size_t nbefore;
	pthread_mutex_t lock; /* of the following */
	struct fault fault;   /* of the first group in the input whose programs have no answer while groups are listed */
	uint64_t fault_first; /* UINT64_MAX: none has failed */
};

/* Makes *out for a query whose plan is complete, and finds what --sort names: keys, results, or what is computed of them. top, some
 * groups of all: without --sort the first result, the largest first. sort: to be freed with group_sort_free. *out: NULL where
 * nothing is computed of results. Errors: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status finishing_make(struct finishing **out, struct group_sort *sort, const struct query *q, const char *text, uint64_t top,
			   struct fault *fault);
void finishing_free(struct finishing *g);

/* Sums what shares are parts of, over all groups of the store, with up to nthreads threads. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status finishing_sum(struct finishing *g, const struct group_rows *rows, size_t nthreads);

/* The same over the groups of the list before each of its blocks. Errors: STATUS_NO_MEMORY. */
enum status finishing_sum_before(struct finishing *g, const struct group_rows *rows, const struct group_list *list, size_t block_nrows,
				 size_t nthreads);

/* Runs a set of programs, for up to ROW_BLOCK_NROWS rows at once. One thread's. All owned but for the first three. */
struct finisher {
	struct finishing *all;
	const struct finish *finish;
	const struct query *q;
	size_t n; /* rows */
	struct aggregate_value *values; /* nsources of each row */
	struct exact *running; /* nshares: the sums of the rows so far */
	struct row_block block;
	struct program_block programs;
	struct row_filter filter;
	struct scratch scratch;
	char text[ROW_BLOCK_NROWS + SIMD_PAD_NBYTES]; /* of rows without fields */
	uint32_t ends[ROW_BLOCK_NROWS + 1];
};

/* The query's sets of programs, if it has any. */
static inline const struct finish *finishing_listed(const struct query *q)
{
	return q->finishing ? &q->finishing->listed : NULL;
}

static inline const struct finish *finishing_printed(const struct query *q)
{
	return q->finishing ? &q->finishing->printed : NULL;
}

/* For a set without programs, or none, f->finish becomes NULL: f is not to be used then. Errors: STATUS_NO_MEMORY; f can then be
 * freed. */
enum status finisher_init(struct finisher *f, const struct query *q, const struct finish *finish);
void finisher_free(struct finisher *f);

/* Has the sums begin with those before a block. */
enum status finisher_begin(struct finisher *f, size_t block);

/* Removes the rows. */
void finisher_clear(struct finisher *f);

/* Adds a row: a group's; NULL: that of all records. Errors: STATUS_NO_MEMORY. */
enum status finisher_add(struct finisher *f, struct group_rows *rows, struct group *g);

/* Runs the programs for all rows. Errors: STATUS_NO_MEMORY. */
enum status finisher_run(struct finisher *f);

/* The same while groups are listed, for rows of these groups. Where --having has no answer for one of them, that is noted, *has_answer
 * is false, and nothing may be asked of the rows; with --invalid skip, it does not hold. Errors: STATUS_NO_MEMORY. */
enum status finisher_run_listed(struct finisher *f, struct group *const *groups, bool *has_answer);

/* Whether --having, if it is there, holds for a row. */
bool finisher_holds(const struct finisher *f, size_t row);

/* Finds a column's value in a row as it is printed without a style: *text, until the next call, of no bytes if it is missing. *is_number: it is one, in
 * plain decimal, or missing. Errors: STATUS_NO_MEMORY; and those of a value that has no answer, with fault: with --invalid skip it
 * is missing. */
enum status finisher_value(struct finisher *f, size_t row, uint32_t column, const char **text, size_t *nbytes, bool *is_number,
			   struct fault *fault);

/* Whether a column is nothing but a result that counts. */
bool finisher_counts(const struct finisher *f, uint32_t column);

/* The same while groups are listed: a value that has no answer is missing, and noted for the group. Errors: STATUS_NO_MEMORY. */
enum status finisher_listed(struct finisher *f, size_t row, uint32_t column, const struct group *g, const char **text, size_t *nbytes,
			    bool *is_number);
