/* SPDX-License-Identifier: MIT
 *
 * group_result.h - results, of groups or of all records: one by one, and printed, the key columns and a row for each group.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/group_order.h"
#include "fold/result.h"
#include "io/picture.h"
#include "number/decimal.h"
#include "number/ratio.h"
#include "query/query.h"

struct ranks; /* quantile.h */

#define GROUP_RESULT_NBYTES (DECIMAL_TEXT_NBYTES + RATIO_TEXT_NBYTES)

/* What makes rows: of groups, or the one of all records. All but q, total and ranks owned. */
struct group_rows {
	const struct query *q;
	const struct partial *total;
	const struct ranks *ranks;     /* of the total; NULL where it needs none */
	const struct result **results; /* those of q that are shown, and not dropped */
	size_t nresults;
	int nthreads;         /* that may list, sort and print groups, or look for the quantiles of one */
	bool as_spelled;      /* a first or last value is printed as it is spelled, whatever it is */
	struct partial blank; /* of the group whose results its states do not hold as they are printed */
	struct text_buffer shown; /* a number in the style that is shown */
	struct finisher *finisher; /* of the rows that are printed; NULL: no result is computed of others. Not owned */
	char room[GROUP_RESULT_NBYTES];
};

/* nthreads: ranks_nthreads(q), which is asked for once a run. Errors: STATUS_NO_MEMORY; rows can then be freed. */
enum status group_rows_init(struct group_rows *rows, const struct query *q, const struct partial *total, int nthreads);
void group_rows_free(struct group_rows *rows);

/* A row, while its results are made. */
struct group_row {
	struct group *group;           /* NULL: of all records */
	size_t number;                 /* of the finisher's rows */
	const struct partial *partial; /* NULL: it was not needed yet */
	struct ranks *ranks;
};

/* Finds a result of a row that is not computed of others. A number is written to to[0 .. GROUP_RESULT_NBYTES), NULL: of rows, unless
 * it is shown in a style; what is found is valid up to the next one. Any thread, with rows of its own. Errors: STATUS_NO_MEMORY. */
enum status group_row_find(struct group_rows *rows, struct group_row *row, const struct result *r, char *to, struct result_value *out);
void group_row_end(struct group_rows *rows, struct group_row *row);

/* The value of the group's key i. It belongs to the group; not NUL-terminated. */
const char *group_key_value(const struct group *g, size_t i, size_t *nbytes);

/* How results are printed. */
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

/* Prints the results of the run, whose total is given. ranks: what quantiles of all records need; NULL where none do. Errors:
 * STATUS_NO_NUMERIC_COLUMN, STATUS_NO_MEMORY, STATUS_MANY_GROUPS, STATUS_MANY_BINS, STATUS_WRITE; of a picture, STATUS_OPEN; of a device
 * that has the groups, STATUS_GPU. */
enum status group_result_print(const struct query *q, struct partial *total, const struct ranks *ranks,
			       const struct group_printing *how, struct fault *fault);
