/* SPDX-License-Identifier: MIT
 *
 * values_search.h - the numbers of given ranks in a column that does not fit in memory: by several
 * passes over the input, each of which counts the numbers in bins of the intervals that are left, or
 * keeps the numbers of those. Like values_select, but the caller makes the passes:
 *
 *     status = values_search_begin(&s, &extent, wanted, nwanted);
 *     while (status == STATUS_OK && values_search_focus(&s)) {
 *             ... fold the input; cell: the column's ...
 *             status = values_search_end_pass(&s, cell, nthreads);
 *     }
 *     values_search_end(&s);
 */
#ifndef GPUSTAT_VALUES_SEARCH_H
#define GPUSTAT_VALUES_SEARCH_H

#include "base/status.h"
#include "fold/values_focus.h"
#include "fold/values_select.h"

struct values_search {
	struct values_extent extent;
	struct values_focus focus;
	struct interval *intervals, *next; /* room for as many as wanted numbers; owned */
	struct ranked *kept;               /* the same; owned */
	size_t nintervals;
	uint64_t nkept_most; /* more numbers are not kept */
};

/* Arguments and errors: as of values_select. extent's numbers must stay. */
enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted);

/* Sets the focus of the next pass; returns false where none is needed, and there is no focus. */
bool values_search_focus(struct values_search *s);

/* Narrows the search. cell: of all numbers of the pass. Errors: STATUS_NO_MEMORY; STATUS_CHANGED: the
 * numbers are not those of the passes before. */
enum status values_search_end_pass(struct values_search *s, struct values *cell, int nthreads);
void values_search_end(struct values_search *s);

#endif
