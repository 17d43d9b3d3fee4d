/* SPDX-License-Identifier: MIT
 *
 * row_filter.h - evaluates the plan's predicates for a block of rows at once, a bit for each row.
 *
 * A compiled condition is a chain of tests (expr_eval.h). A set of rows is pending at each test,
 * all of them at the first; a test moves its rows on to later tests or to a result. Numbers are
 * compared as integers: for each scale that a number can have, the significands equal to the
 * literal are known beforehand.
 *
 * Rows with a value that this does not read (quotes in quotes, wide numbers, text for a number)
 * are evaluated one by one, by expr_row.c.
 */
#ifndef GPUSTAT_ROW_FILTER_H
#define GPUSTAT_ROW_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "fold/expr_row.h"
#include "query/plan.h"
#include "fold/row_block.h"
#include "base/status.h"

/* A literal among the numbers of one scale: significands below `low` are less, those above `high`
 * greater. */
struct row_threshold {
	int64_t low, high;
};

/* One predicate. */
struct row_predicate {
	struct row_threshold *thresholds; /* DECIMAL_NSCALES a test */
	uint64_t *pending; /* a test: the rows to be tested */
	struct pattern_match **matches; /* one for each pattern */
	struct expr_row row;
};

/* The value that leaves a condition without an answer. */
struct row_culprit {
	uint32_t column; /* in the plan */
	enum status why; /* what is wrong with it: see expr_row_eval */
};

/* What a condition says of rows. */
struct row_verdict {
	uint64_t holds;
	uint64_t undecided; /* it compares text with a number, or has no answer for another reason */
	struct row_culprit *culprits; /* by row, of those; the caller's */
};

/* Errors: STATUS_NO_MEMORY; p can then be freed. p: zeroed. */
enum status row_predicate_init(struct row_predicate *p, const struct expr *e);
void row_predicate_free(struct row_predicate *p, const struct expr *e);

/* Evaluates condition e for the rows in `of`, and sets *verdict, but for culprits of other rows.
 * spans: room for the fields of a row. Errors: STATUS_NO_MEMORY. */
enum status row_predicate_block(struct row_predicate *p, const struct expr *e, struct row_block *b,
				struct field_span *spans, uint64_t of, struct row_verdict *verdict);

/* One thread's memory, and the result for the last block. All memory owned. */
struct row_filter {
	const struct plan *plan;
	struct row_predicate *predicates; /* plan->npredicates */
	struct field_span *spans;         /* plan->ncolumns: of a row evaluated by itself */
	uint64_t kept;      /* rows where the plan's condition holds, if it has one */
	uint64_t undecided; /* rows left out because a predicate compares text with a number */
	struct row_culprit culprit; /* in the first of them */
	uint64_t *holds;    /* plan->npredicates: of the kept rows, those where it holds */
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status row_filter_init(struct row_filter *f, const struct plan *plan);
void row_filter_free(struct row_filter *f);

/* Evaluates the predicates for the block's rows, which have all fields of the plan, and sets the
 * result. Errors: STATUS_NO_MEMORY. */
enum status row_filter_block(struct row_filter *f, struct row_block *b);

#endif
