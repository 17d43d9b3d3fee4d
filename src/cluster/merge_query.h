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

/* Sets the header of a plan's file, line[0 .. nbytes), which the caller owns. is_sought: records are compared with it. */
void merge_use_header(struct plan *plan, const char *line, size_t nbytes, bool is_sought);

/* Forgets the columns that no result shows, once all parts have been read. */
void merge_forget_unasked(struct merge *m);

/* Whether something was left out of which no part has a note: the parts are damaged. */
bool merge_lacks_note(const struct merge *m);

#endif
