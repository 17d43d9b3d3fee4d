/* SPDX-License-Identifier: MIT
 *
 * part_run.h - a run whose records are some of all: --partial, --part, --save-state and --from-state.
 */
#ifndef GPUSTAT_PART_RUN_H
#define GPUSTAT_PART_RUN_H

#include "base/status.h"
#include "cluster/part.h"
#include "csv/dialect.h"
#include "io/input.h"

/* A run that has ended, or a merge. Nothing is owned. */
struct part_run {
	const struct options *options;
	const struct query *query;
	struct total *total;
	const struct input *input; /* NULL: a merge */
	const struct merge *merge; /* what was merged, or of the state that the run began with */
	const struct input_range *range; /* with --part */
};

/* Writes the part that a later merge reads to standard output, or saves the state. Errors: part_write's,
 * state_save's. */
enum status part_run_write(const struct part_run *r, struct fault *fault);

/* Before the input is folded: adds the state of earlier records to the total. merge: zeroed. Errors: STATUS_USAGE
 * for '*'; state_read's. */
enum status part_run_begin_state(struct merge *merge, struct options *options, struct query *query,
				 struct total *total, struct input *input, struct fault *fault);

/* Before a slice is printed: adds the state of the records before it, which a rank has saved. merge: zeroed. Errors:
 * state_read's. */
enum status part_run_begin_slice(struct merge *merge, struct options *options, struct query *query,
				 struct total *total, struct input *input, const struct part_source *state,
				 struct fault *fault);

/* Has only the range of the file that --part says be read. Errors: input_cut_range's. */
enum status part_run_cut_input(struct input *input, const struct options *options, const struct csv_dialect *dialect,
			       struct input_range *range, struct fault *fault);

/* Of a fault in such a range, counts the lines before the range, and says what else may be wrong. */
void part_run_explain(const struct options *options, const struct input *input, struct input_range *range,
		      struct fault *fault);

#endif
