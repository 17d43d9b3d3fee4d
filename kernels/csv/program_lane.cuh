/* SPDX-License-Identifier: MIT
 *
 * program_lane.cuh - a thread runs the plan's programs for a record: its conditions, and its computed columns.
 */
#pragma once

extern "C" {
#include "lang/lane_run.h"
}

#include "kernels/csv/field_read.cuh"

/* The fields that tests look at. Of a computed column: its number, and LET_SPAN. */
struct filter_spans {
	struct span at[FIELDS_NSPANS_MAX];
};
#define LET_SPAN SIZE_MAX

/* What the steps of a program load from. */
struct lane_source {
	const struct fields_plan &plan;
	const struct field_table &table;
	const struct row &row;
	const struct filter_spans &spans;
};

/* The value of column c, which may be a computed one. Returns 0 where it is neither a number of the fast
 * path nor missing. */
static __device__ inline int lane_load_number(const struct lane_source *source, uint32_t c, struct lane_value *out)
{
	size_t at = field_at(source->table, c, source->row.number);
	unsigned code = source->table.code[at];

	out->text = NULL;
	out->kind = code == FIELD_MISSING ? LANE_MISSING : LANE_NUMBER;
	out->number = {source->table.significand[at], (int32_t)code};
	return code <= FIELD_MISSING;
}

/* A value that is tested is read as in fold/program_block.c; not if its quotes are irregular. */
__host__ __device__ static inline int lane_load(const struct lane_source *source, const struct step *step, struct lane_value *out)
{
#ifdef __CUDA_ARCH__
	if (step->load == LOAD_CALCULATE)
		return lane_load_number(source, step->index, out);
	struct span field = source->spans.at[step->index];
	if (field.end == LET_SPAN)
		return lane_load_number(source, (uint32_t)field.begin, out);
	if (!field_unquote(source->row.text, source->plan.quote, &field))
		return 0;
	out->text = source->row.text + field.begin;
	out->nbytes = field.end - field.begin;
	out->kind = field_is_missing(source->plan, out->text, out->nbytes) ? LANE_MISSING : LANE_UNREAD;
	return 1;
#else
	(void)source, (void)step, (void)out;
	return 0;
#endif
}

/* Runs program i. *out is its value, or *truth its truth. Returns 0 where the CPU must. */
static __device__ inline int program_run(const struct lane_source &source, uint32_t i, struct lane_value *out, unsigned *truth)
{
	const struct fields_programs &programs = source.plan.programs;
	uint32_t begin = i ? programs.end[i - 1] : 0;

	return lane_run(programs.steps + begin, programs.end[i] - begin, programs.literals, &source, out, truth);
}
