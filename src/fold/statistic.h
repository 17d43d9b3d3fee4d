/* SPDX-License-Identifier: MIT
 *
 * statistic.h - statistics: formulas over the moments of a column (moment.h), exact and rounded
 * once where a result has no end.
 *
 * A statistic is a row of query/options.def, which names the moments it needs and its formula,
 * and the formula in statistic.c.
 */
#pragma once

#include "fold/column.h"
#include "fold/texts.h"
#include "fold/keys.h"
#include "fold/pair.h"
#include "number/logarithm.h"
#include "number/ratio.h"
#include "query/options.h"

#define STATISTIC_TEXT_NBYTES RATIO_TEXT_NBYTES

struct ranks; /* quantile.h */

/* The moments of a column, in the form that formulas take. */
struct column_moments {
	enum operation operation; /* that is computed: statistic_format sets it */
	uint64_t npresent;        /* values that are not missing, text where text is allowed */
	struct number_sums numbers; /* count, sum, extremes, and the largest scale */
	const struct ranks *ranks;     /* all that its quantiles need; NULL: none */
	struct percentile percentile;  /* of --pNN */
#define CELL(id, type, ops, name) const struct type *name; /* NULL where it is not asked for, or has no value */
	MOMENT_CELLS(CELL)
#undef CELL
};

/* A formula: writes the statistic, nothing where it has no value, and returns the text's end. */
typedef char *statistic_formula(const struct column_moments *m, char text[STATISTIC_TEXT_NBYTES]);

/* Like that, for the kind TEXT: finds one of the column's texts; returns false for a column without texts. */
typedef bool statistic_text_formula(const struct column_moments *m, struct key_found *out);

/* Reads a column's moments out of its fold, without ranks. npresent: as above. has_texts: values that
 * are no numbers are among them. */
void statistic_moments(const struct column_partial *column, uint64_t npresent, bool has_texts,
		       struct column_moments *out);

/* The first or last value of a column, one of text or not, as it is spelled, NUL-terminated; NULL if it has no value. The
 * number is statistic_format's. */
const char *statistic_end_text(enum operation operation, const struct column_moments *m, bool is_text);

/* Writes the result of an operation of kind REDUCE, NUL-terminated. Returns the text's end. */
char *statistic_format(enum operation operation, struct column_moments *m, char text[STATISTIC_TEXT_NBYTES]);

/* The counts of distinct values on their way to an entropy. Zeroed: of none. */
struct entropy {
	struct logarithm_sum sum;
	uint64_t count;
};

/* Adds a value, as a visitor of keys; and writes the entropy, nothing of no values, and returns its end. */
void entropy_add(void *entropy, const struct key_found *key);
char *entropy_write(const struct entropy *e, char *to);

/* Finds the result of an operation of kind TEXT. It belongs to the moments. Returns false if the column has no text. */
bool statistic_text(enum operation operation, struct column_moments *m, struct key_found *out);

/* Writes the result of an operation of kind PAIR, NUL-terminated; "" where it has no value. Returns the text's end. sides: the moments
 * of x and y, of all their values. */
char *pair_statistic_format(enum operation operation, const struct column_moments sides[PAIR_NSIDES], const struct pair *pair,
			    char text[STATISTIC_TEXT_NBYTES]);

/* The same for the pair p of a plan. total: the fold of all records. */
char *pair_statistic_format_total(enum operation operation, const struct plan *plan, const struct partial *total, size_t p,
				  char text[STATISTIC_TEXT_NBYTES]);
