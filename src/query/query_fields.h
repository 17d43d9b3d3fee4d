/* SPDX-License-Identifier: MIT
 *
 * query_fields.h - which columns of the records are printed: --select and --drop.
 */
#ifndef GPUSTAT_QUERY_FIELDS_H
#define GPUSTAT_QUERY_FIELDS_H

#include "query/query_making.h"

/* Demands, and prints, the columns of --select; notes those of --drop. Errors, in m->fault: STATUS_USAGE for
 * '*', STATUS_NO_MEMORY. */
enum status query_demand_fields(struct making *m, enum operation operation, struct field_range range);

/* If use i of the options is the last --drop, prints what none of them names. Errors: STATUS_NO_MEMORY. */
enum status query_demand_left(struct making *m, size_t i);

#endif
