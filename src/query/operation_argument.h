/* SPDX-License-Identifier: MIT
 *
 * operation_argument.h - what the name or the argument of an operation says beside its columns: the NN of
 * --pNN, the WIDTH of --hist, the N or A of those that look back or ahead, and the order of --rank.
 */
#ifndef GPUSTAT_OPERATION_ARGUMENT_H
#define GPUSTAT_OPERATION_ARGUMENT_H

#include <stdbool.h>

#include "base/status.h"
#include "query/options.h"

/* Whether a new column of the operation looks back on some records before. */
bool operation_is_window(enum operation operation);

/* Reads what the use's operation takes beside columns, and leaves the columns in use->argument. Errors:
 * STATUS_USAGE, STATUS_NO_MEMORY. */
enum status operation_read_argument(struct operation_use *use, struct fault *fault);

#endif
