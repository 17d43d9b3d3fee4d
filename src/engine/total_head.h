/* SPDX-License-Identifier: MIT
 *
 * total_head.h - where a run of --head ends.
 */
#ifndef GPUSTAT_TOTAL_HEAD_H
#define GPUSTAT_TOTAL_HEAD_H

#include "engine/total.h"

/* Whether with p's records, or without any (NULL), so many are printed as plan->head says. */
bool total_is_enough(const struct total *t, const struct partial *p);

/* Ends the run within the chunk, which begins on the given line: STATUS_ENOUGH, or the fault that
 * comes before. What follows the last record is not looked at. */
enum status total_end_within(struct total *t, const struct chunk *chunk, uint64_t line,
			     struct chunk_output *output, struct fault *fault);

#endif
