/* SPDX-License-Identifier: MIT
 *
 * row_filter.h - asks the plan's predicates about a block of rows at once, a bit for each row.
 *
 * A compiled condition is a chain of tests (expr_eval.h). Here all rows of a block stand before
 * its first test; each test is asked about those that stand before it, and sends them on, to later
 * tests or to a verdict. A comparison of numbers is one of integers: for each scale that a number
 * can have it is known beforehand from which significand on it exceeds the literal.
 *
 * Rows with a value that this does not read (quotes in quotes, wide numbers, text for a number)
 * are asked one by one, by expr_row.c.
 */
#ifndef GPUSTAT_ROW_FILTER_H
#define GPUSTAT_ROW_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "fold/expr_row.h"
#include "query/plan.h"
#include "fold/row_block.h"
#include "base/status.h"

/* Numbers of one scale against a literal, by their significands: below `low` they are less than
 * it, above `high` greater. */
struct row_threshold {
	int64_t low, high;
};

/* What belongs to one predicate. */
struct row_predicate {
	struct row_threshold *thresholds; /* DECIMAL_NSCALES a test */
	uint64_t *standing; /* a test: the rows that stand before it */
	struct expr_row row;
};

/* One thread's means of judging, and its verdict on the block judged last. All memory owned. */
struct row_filter {
	const struct plan *plan;
	struct row_predicate *predicates; /* plan->npredicates */
	struct field_span *spans;         /* plan->ncolumns: of a row that is asked by itself */
	uint64_t kept;      /* rows where the plan's condition holds, if it has one */
	uint64_t undecided; /* rows left out: a predicate compares text with a number; */
	uint32_t culprit;   /* the plan's column of that text in the first of them */
	uint64_t *holds;    /* plan->npredicates: of those kept, rows where it holds */
};

/* Errors: STATUS_NO_MEMORY; j can then be freed. */
enum status row_filter_init(struct row_filter *j, const struct plan *plan);
void row_filter_free(struct row_filter *j);

/* Judges the block's rows, which have all fields of the plan, and sets the verdict.
 * Errors: STATUS_NO_MEMORY. */
enum status row_filter_block(struct row_filter *j, struct row_block *b);

#endif
