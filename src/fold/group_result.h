/* SPDX-License-Identifier: MIT
 *
 * group_result.h - the results of groups: one by one, and printed, the key columns and a row for each group.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/group_order.h"
#include "io/picture.h"
#include "io/table.h"
#include "number/decimal.h"
#include "number/ratio.h"
#include "query/query.h"

struct ranks; /* quantile.h */

/* What makes rows of groups. All but q and total owned. */
struct group_rows {
	const struct query *q;
	const struct partial *total;
	const struct result **results; /* those of q that are shown, and not dropped */
	size_t nresults;
	int nthreads;         /* that may list, sort and print groups, or look for the quantiles of one */
	struct partial blank; /* of the group whose results its states do not hold as they are printed */
	struct finisher *finisher; /* of the rows that are printed; NULL: no result is computed of others. Not owned */
};

/* nthreads: ranks_nthreads(q), which is asked for once a run. Errors: STATUS_NO_MEMORY; rows can then be freed. */
enum status group_rows_init(struct group_rows *rows, const struct query *q, const struct partial *total, int nthreads);
void group_rows_free(struct group_rows *rows);

/* The row of one group, while its results are made. Zeroed: nothing is made yet. */
struct group_row {
	struct partial *partial;
	struct ranks *ranks;
	size_t number; /* of the finisher's rows */
};

/* Writes a result that the group's states hold, up to GROUP_RESULT_NBYTES; returns its end, or NULL if they do not hold it.
 * total: the run's. Any thread may call it. */
#define GROUP_RESULT_NBYTES (DECIMAL_TEXT_NBYTES + RATIO_TEXT_NBYTES)
char *group_write_quickly(struct group *g, const struct query *q, const struct partial *total, const struct result *r, char *to);

/* Sets *out to a result of the group. Errors: STATUS_NO_MEMORY; of one that is computed of others, those of finisher_cell, with
 * fault, which may be NULL for any other. */
enum status group_row_result(struct group_rows *rows, struct group_row *row, struct group *g,
			     const struct result *r, struct cell *out, struct fault *fault);
void group_row_end(struct group_rows *rows, struct group_row *row);

/* The value of the group's key i. It belongs to the group; not NUL-terminated. */
const char *group_key_value(const struct group *g, size_t i, size_t *nbytes);

/* How groups are printed. */
struct group_printing {
	struct group_sort sort; /* owned */
	uint64_t top; /* so many, the first; 0: all */
	struct style style;
	bool pivots; /* the last key's values are columns */
	struct picture picture;
};

/* Whether group_result_print then reads each group once, in the order in which they appeared: all as text, or a few of them
 * sorted. See reads_groups_once (query/plan.h). */
bool group_printing_reads_once(const struct group_printing *how, const struct query *q);

/* Prints the groups of the run, whose total is given. Errors: STATUS_NO_NUMERIC_COLUMN, STATUS_NO_MEMORY,
 * STATUS_MANY_GROUPS, STATUS_WRITE; of a picture, STATUS_OPEN; of a device that has the groups, STATUS_GPU. */
enum status group_result_print(const struct query *q, struct partial *total,
			       const struct group_printing *how, struct fault *fault);
