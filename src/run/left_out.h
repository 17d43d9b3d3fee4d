/* SPDX-License-Identifier: MIT
 *
 * left_out.h - what a run has left out: the warnings, and when it is too much.
 */
#ifndef GPUSTAT_LEFT_OUT_H
#define GPUSTAT_LEFT_OUT_H

#include "base/status.h"
#include "engine/total.h"
#include "io/input.h"
#include "query/options.h"
#include "query/query.h"

/* A run that has ended. Nothing is owned. */
struct left_out {
	const struct options *options;
	const struct query *query;
	const struct input *input; /* NULL: parts were merged */
	const char *const *names;  /* of the inputs of parts, or of a state */
	const struct total *total;
	const bool *padded; /* of each input, whether another rank has found it padded; NULL without other ranks */
	size_t npadded;
};

/* Fails if --invalid skip has left out every value of a column, every record, or more of them than
 * --max-invalid allows: fault is then the first value or record that was left out. */
enum status left_out_check(const struct left_out *l, struct fault *fault);

/* Warns of values and records that were left out, and of ragged records that the summary took. */
void left_out_report(const struct left_out *l);

#endif
