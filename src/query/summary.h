/* SPDX-License-Identifier: MIT
 *
 * summary.h - the columns of the summary: what is said of each column of the input.
 */
#ifndef GPUSTAT_SUMMARY_H
#define GPUSTAT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "query/options.h"
#include "query/percentile.h"

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

#define SUMMARY_NKEYS_MOST 100000 /* different values of a column that are counted */

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

#endif
