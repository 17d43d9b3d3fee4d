/* SPDX-License-Identifier: MIT
 *
 * group_result.h - prints the results of groups: the key columns, and a row for each group.
 */
#ifndef GPUSTAT_GROUP_RESULT_H
#define GPUSTAT_GROUP_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "io/picture.h"
#include "query/query.h"

/* By which column groups are sorted. Zeroed: by first appearance. */
struct group_sort {
	bool is_given, is_descending;
	bool is_key;  /* by a key column: */
	bool is_first; /* by the first result that is printed, whatever the index says */
	size_t index; /* of the plan's keys, or of the query's results */
};

/* Finds the column that --sort names, [-]NAME: a result as it is printed or, if one result has it, the
 * operation's name or title; or a key column. NULL: with top, some groups of all, the first result, the largest
 * first; else none. Errors: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status group_sort_find(const struct query *q, const char *name, uint64_t top, struct group_sort *out,
			    struct fault *fault);

/* How groups are printed. */
struct group_printing {
	struct group_sort sort;
	uint64_t top; /* so many, the first; 0: all */
	enum format format;
	struct picture picture;
};

/* Whether group_result_print then reads each group once, in the order in which they appeared: all as text, or a few of them
 * sorted. See reads_groups_once (query/plan.h). */
bool group_printing_reads_once(const struct group_printing *how);

/* Prints the groups of the run, whose total is given. Errors: STATUS_NO_NUMERIC_COLUMN, STATUS_NO_MEMORY,
 * STATUS_MANY_GROUPS, STATUS_WRITE; of a picture, STATUS_OPEN; of a device that has the groups, STATUS_GPU. */
enum status group_result_print(const struct query *q, struct partial *total,
			       const struct group_printing *how, struct fault *fault);

#endif
