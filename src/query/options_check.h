/* SPDX-License-Identifier: MIT
 *
 * options_check.h - which options go together.
 */
#ifndef GPUSTAT_OPTIONS_CHECK_H
#define GPUSTAT_OPTIONS_CHECK_H

#include "query/options.h"

/* Checks options that were read one by one, and sets o->emits and, with --whitespace, the dialect.
 * Errors: STATUS_USAGE. */
enum status options_check(struct options *o, struct fault *fault);

/* Reads the environment into o. Errors: STATUS_USAGE. */
enum status options_read_environment(struct options *o, struct fault *fault);

#endif
