/* SPDX-License-Identifier: MIT
 *
 * part_run.c - see part_run.h.
 */
#include "run/part_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/output.h"
#include "run/progress.h"

/* What the run's part is of: its inputs, or a range of one. */
static void run_scope(const struct part_run *r, const char *const *names, struct part_scope *scope,
		      struct part_seam seams[2])
{
	const struct file_part *part = &r->options->part;
	const struct part_seam seam = {.input = (char *)names[0], .number = part->number, .of = part->of,
				       .size = r->range->size};

	*scope = (struct part_scope){names, r->merge->ninputs + (size_t)input_nfiles(r->input), r->merge->ninputs,
				     &seams[0], &seams[1], 0};
	seams[0] = seams[1] = seam;
	seams[0].border = r->range->begin;
	seams[0].is_quoted = part->is_quoted;
	if (part->number <= 1)
		seams[0].of = 0;
	seams[1].border = r->range->end;
	seams[1].is_quoted = r->total->keeps_head || r->total->seam.nbytes > 0;
	seams[1].is_same = part->number > 1;
	seams[1].nlines = r->total->line - 1;
	if (r->range->has_blocks) /* modulo 2^64: offsets begin at the range's place */
		seams[1].offset_bytes = r->total->end_bytes - r->range->end;
	if (part->number == part->of)
		seams[1].of = 0;
}

enum status part_run_write(const struct part_run *r, struct fault *fault)
{
	size_t nbefore = r->merge->ninputs, nfiles = r->input ? (size_t)input_nfiles(r->input) : 0;
	const char **names = calloc(nbefore + nfiles + 1, sizeof *names);
	struct part_scope scope;
	struct part_seam seams[2];
	enum status status;

	progress_end();
	if (!names)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = r->input && r->options->part.of ? total_end_range(r->total, fault) : STATUS_OK;
	if (status != STATUS_OK) {
		fault->file = fault->line ? input_name(r->input, 0) : NULL;
		free(names);
		return status;
	}
	for (size_t i = 0; i < nbefore + nfiles; i++)
		names[i] = i < nbefore ? r->merge->inputs[i] : input_name(r->input, (int)(i - nbefore));
	if (r->input)
		run_scope(r, names, &scope, seams);
	else
		merge_scope(r->merge, &scope);
	status = r->options->partial
			 ? part_write(r->options, r->query, r->total, &scope, part_sink_stream(output_stream()), fault)
			 : state_save(r->options, r->query, r->total, &scope, fault);
	free(names);
	return status;
}

enum status part_run_begin_state(struct merge *merge, struct options *options, struct query *query,
				 struct total *total, struct input *input, struct fault *fault)
{
	enum status status = STATUS_OK;

	query->plan.counts_records = true;
	query->plan.guesses_texts = false;
	if (query->star)
		return option_fault(fault, "--%s: name the columns: '*' may mean others in the next input",
				    options->from_state ? "from-state" : "save-state");
	if (options->from_state)
		status = state_read(merge, options, query, total, &(struct part_source){.name = options->from_state}, fault);
	if (status == STATUS_OK && !query->plan.emits)
		input_begin_at(input, merge->offset_bytes);
	return status;
}

enum status part_run_begin_slice(struct merge *merge, struct options *options, struct query *query,
				 struct total *total, struct input *input, const struct part_source *state,
				 struct fault *fault)
{
	query->plan.counts_records = true;
	query->plan.guesses_texts = false;
	TRY(state_read(merge, options, query, total, state, fault));
	input_begin_at(input, merge->right.of ? merge->right.offset_bytes : merge->offset_bytes);
	if (merge->right.of)
		input_count_slice_from(input, merge->right.nlines);
	return STATUS_OK;
}

enum status part_run_cut_input(struct input *input, const struct options *options, const struct csv_dialect *dialect,
			       struct input_range *range, struct fault *fault)
{
	const struct file_part *part = &options->part;

	TRY(input_cut_range(input, part->number, part->of, dialect->escape, range, fault));
	if (part->is_quoted)
		input_begin_quoted(input);
	return STATUS_OK;
}

void part_run_explain(const struct options *options, const struct input *input, struct input_range *range,
		      struct fault *fault)
{
	const struct file_part *part = &options->part;
	struct fault ignored;

	if (part->number <= 1 || fault->line == 0 || !fault->file || range->begin == 0 ||
	    input_count_before(input, range, &ignored) != STATUS_OK)
		return;
	fault->line += range->nlines_before;
	if (!*fault->remedy && !part->is_quoted)
		snprintf(fault->remedy, sizeof fault->remedy, "--part %" PRIu64 "/%" PRIu64 ",quoted, if a "
			 "quoted field goes on where the part begins", part->number, part->of);
}
