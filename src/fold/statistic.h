/* SPDX-License-Identifier: MIT
 *
 * statistic.h - statistics: formulas over the moments of a column (moment.h), exact and rounded
 * once where a result has no end.
 *
 * A statistic is a row of query/options.def, which names the moments it needs and its formula,
 * and the formula in statistic.c.
 */
#ifndef GPUSTAT_STATISTIC_H
#define GPUSTAT_STATISTIC_H

#include <stdint.h>

#include "fold/column.h"
#include "fold/texts.h"
#include "number/natural.h"
#include "number/wide.h"
#include "query/options.h"

#define STATISTIC_TEXT_NBYTES RATIO_TEXT_NBYTES

/* The moments of a column, in the form that formulas take. */
struct column_moments {
	uint64_t npresent;        /* values that are not missing, text where text is allowed */
	struct wide_fold numbers; /* count, sum, extremes, and the largest scale */
	const struct squares *squares; /* NULL: not asked for */
	const struct texts *texts;     /* NULL: there are none */
};

/* A formula: writes the statistic, NUL-terminated; "" where it has no value. */
typedef void statistic_formula(const struct column_moments *m, char text[STATISTIC_TEXT_NBYTES]);

/* Reads a column's moments out of its fold. npresent: as above. */
void statistic_moments(const struct column_partial *column, uint64_t npresent,
		       struct column_moments *out);

/* The result of an operation of kind TEXT. NULL: there is none. */
const struct kept_text *statistic_kept_text(enum operation operation,
					    const struct column_moments *m);

/* Writes the result of an operation of kind REDUCE. */
void statistic_format(enum operation operation, const struct column_moments *m,
		      char text[STATISTIC_TEXT_NBYTES]);

#endif
