/* SPDX-License-Identifier: MIT
 *
 * merge_query.h - the query that parts answer, made again from the first part's head.
 */
#ifndef GPUSTAT_MERGE_QUERY_H
#define GPUSTAT_MERGE_QUERY_H

#include "base/status.h"
#include "cluster/part.h"

/* Makes the query that the part of m->first answers, with what the command line says of printing, and the total of
 * no records. Errors, in m->fault: STATUS_USAGE, STATUS_UNKNOWN_COLUMN, STATUS_NO_MEMORY. */
enum status merge_begin(struct merge *m);

/* Forgets the columns that no result shows, once all parts have been read. */
void merge_forget_unasked(struct merge *m);

#endif
