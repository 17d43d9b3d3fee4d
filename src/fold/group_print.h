/* SPDX-License-Identifier: MIT
 *
 * group_print.h - groups as rows of CSV or TSV, of which there may be millions: several threads write them.
 */
#ifndef GPUSTAT_GROUP_PRINT_H
#define GPUSTAT_GROUP_PRINT_H

#include <stddef.h>

#include "base/status.h"
#include "fold/group_list.h"
#include "fold/group_order.h"
#include "query/query.h"

/* Prints the names of the columns, and a row for each group of the list; NULL: for each that the source of the plan's
 * store has, up to nmost. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_WRITE; of a source, STATUS_GPU. */
enum status group_print_text(struct group_rows *rows, const struct group_list *list, uint64_t nmost,
			     enum format format, struct fault *fault);

#endif
