/* SPDX-License-Identifier: MIT
 *
 * lane_run.h - a program run for one record: by a lane of a GPU, and by tests on a CPU.
 *
 * Only numbers of the fast path are computed. Where one does not fit, or a value is no number, or the program has no answer, the
 * CPU does the work (fold/program_block.h).
 */
#pragma once

#include "lang/lane.h"

struct lane_source;

/* Sets *out to the value that a STEP_LOAD pushes. Returns 0 where the CPU must. Whoever includes this and calls lane_run defines
 * both. */
HD int lane_load(const struct lane_source *source, const struct step *step, struct lane_value *out);

/* Runs a program. *out is its value, or *truth its truth. Returns 0 where the CPU must do it. */
HD int lane_run(const struct step *steps, uint32_t nsteps, const char *literals, const struct lane_source *source,
		struct lane_value *out, unsigned *truth)
{
	struct lane_value stack[LANE_NVALUES_MAX], *a;
	const struct lane_value *b;
	uint64_t truths = 0; /* two bits each, the last one the lowest */
	uint32_t i;
	unsigned t;
	int top = -1;

	for (i = 0; i < nsteps; i++) {
		const struct step *step = &steps[i];
		switch (step->code) {
		case STEP_LOAD:
			if (!lane_load(source, step, &stack[++top]))
				return 0;
			break;
		case STEP_NUMBER:
			stack[++top].kind = LANE_NUMBER;
			stack[top].number = step->number;
			stack[top].text = NULL;
			break;
		case STEP_COALESCE:
			top--;
			if (stack[top].kind == LANE_MISSING)
				stack[top] = stack[top + 1];
			break;
		case STEP_IF:
			top--;
			t = (unsigned)(truths & 3);
			truths >>= 2;
			if (t == LANE_MAYBE)
				return 0;
			if (t == LANE_FALSE)
				stack[top] = stack[top + 1];
			break;
		case STEP_ORDER_NUMBERS:
			top--;
			truths = truths << 2 | lane_test_numbers(step, &stack[top], &stack[top + 1]);
			top -= !step->keeps;
			break;
		case STEP_ORDER_NUMBER:
		case STEP_ORDER_TEXT:
		case STEP_IS_MISSING:
		case STEP_IS_NUMBER:
		case STEP_STARTS:
		case STEP_ENDS:
		case STEP_CONTAINS:
			truths = truths << 2 | lane_test_value(step, literals, &stack[top]);
			top -= !step->keeps;
			break;
		case STEP_AND_THEN:
			i += (truths & 3) == LANE_FALSE ? step->index - 1 : 0;
			break;
		case STEP_OR_THEN:
			i += (truths & 3) == LANE_TRUE ? step->index - 1 : 0;
			break;
		case STEP_AND:
			truths = (truths >> 2 & ~(uint64_t)3) | (truths >> 2 & truths & 3);
			break;
		case STEP_OR:
			truths = truths >> 2 | (truths & 3);
			break;
		case STEP_DROP:
			top--;
			break;
		default: /* of one number, or of two */
			b = &stack[top];
			top -= step->nvalues - 1;
			a = &stack[top];
			a->text = NULL;
			if (b->kind == LANE_MISSING)
				a->kind = LANE_MISSING;
			if (a->kind != LANE_MISSING &&
			    !lane_calculate(step->code, step->index, a->number, b->number, &a->number))
				return 0;
		}
	}
	if (top >= 0)
		*out = stack[0];
	*truth = (unsigned)(truths & 3);
	return 1;
}
