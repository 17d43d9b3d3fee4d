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

/* Checks that the other options go together with these operations. Before o->emits is known. Errors: STATUS_USAGE. */
enum status options_check_ahead(const struct options *o, struct fault *fault);

#endif
