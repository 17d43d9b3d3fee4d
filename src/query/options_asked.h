/* SPDX-License-Identifier: MIT
 *
 * options_asked.h - what the command line asks of the records, as a list of options that can be compared, saved
 * and parsed again: operations in their order, then the other options that change what a result is,
 * sorted. Options that say how it is printed, or where it runs, are not among them.
 */
#ifndef GPUSTAT_OPTIONS_ASKED_H
#define GPUSTAT_OPTIONS_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "query/options.h"

/* Adds "--name" or, unless argument is NULL, "--name=argument". An option that is no operation takes the place
 * of an earlier one of that name, unless it adds to it. Errors: STATUS_NO_MEMORY. */
enum status asked_add(struct asked *a, const char *name, size_t name_nbytes, const char *argument,
		      bool is_operation, bool adds);
void asked_free(struct asked *a);

bool asked_equal(const struct asked *a, const struct asked *b);

/* Parses what was asked as if it were a command line; o points into a. Errors: options_parse's; STATUS_PART_DAMAGED: it is
 * not what asked_add made, such as an option that writes a file, or a file's name. */
enum status asked_parse(const struct asked *a, struct options *o, struct fault *fault);

#endif
