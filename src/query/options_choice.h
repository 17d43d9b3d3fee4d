/* SPDX-License-Identifier: MIT
 *
 * options_choice.h - options that say which of the records are printed: --head, --tail, --sample and --seed.
 */
#ifndef GPUSTAT_OPTIONS_CHOICE_H
#define GPUSTAT_OPTIONS_CHOICE_H

#include <stdint.h>

#include "base/status.h"
#include "query/options.h"

/* Sets *count to the number above 0 that argument is. words: what is counted. Errors: STATUS_USAGE. */
enum status options_set_count(const char *name, const char *argument, const char *words, uint64_t *count,
			      struct fault *fault);

/* Sets *seed to the number that argument is, 0 to 2^64 - 1. Errors: STATUS_USAGE. */
enum status options_set_seed(struct record_choice *choice, const char *argument, struct fault *fault);

/* The name of the option that chooses records, or NULL. */
const char *options_choice_name(const struct options *o);

/* Checks that the options of o->choice go together, and with a result. reduce: the name of the first operation
 * that gives a result, or NULL. Errors: STATUS_USAGE. */
enum status options_check_choice(const struct options *o, const char *reduce, struct fault *fault);

#endif
