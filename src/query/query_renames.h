/* SPDX-License-Identifier: MIT
 *
 * query_renames.h - the columns that --rename names.
 */
#ifndef GPUSTAT_QUERY_RENAMES_H
#define GPUSTAT_QUERY_RENAMES_H

#include "query/query_making.h"

/* Parses every OLD=NEW, before the input is read: its columns are the last of m->selections. Errors, in
 * m->fault: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status query_parse_renames(struct making *m);

/* Finds the columns of every --rename, once the header is known. Errors, in m->fault: those of
 * selector_resolve; STATUS_USAGE where there is no header, or no one column. */
enum status query_find_renames(struct making *m);

#endif
