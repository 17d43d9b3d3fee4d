/* SPDX-License-Identifier: MIT
 *
 * options_ahead.h - the options of new columns that look at later records: --lead and --rank.
 */
#ifndef GPUSTAT_OPTIONS_AHEAD_H
#define GPUSTAT_OPTIONS_AHEAD_H

#include <stdbool.h>

#include "base/status.h"
#include "query/options.h"

/* Whether a new column of the operation shows something of later records. */
bool operation_looks_ahead(enum operation operation);

/* Reads what these operations' arguments say beside columns, leaves the columns there, and checks that the
 * other options go together with them. Before o->emits is known. Errors: STATUS_USAGE, STATUS_NO_MEMORY. */
enum status options_check_ahead(struct options *o, struct fault *fault);

#endif
