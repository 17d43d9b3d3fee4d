/* SPDX-License-Identifier: MIT
 *
 * options_choice.c - see options_choice.h.
 */
#include "query/options_choice.h"

#include "query/option_table.h"

enum status options_set_count(const char *name, const char *argument, const char *words, uint64_t *count,
			      struct fault *fault)
{
	const char *end = option_digits(argument, UINT64_MAX / 10 - 1, count);

	if (!end || *end || *count == 0)
		return option_fault(fault, "--%s: '%.64s' is not a number of %s", name, argument, words);
	return STATUS_OK;
}

enum status options_set_seed(struct record_choice *choice, const char *argument, struct fault *fault)
{
	const char *end = option_digits(argument, UINT64_MAX / 10 - 1, &choice->seed);

	if (!end || *end)
		return option_fault(fault, "--seed: '%.64s' is not a whole number below 1844674407370955161",
				    argument);
	choice->has_seed = true;
	return STATUS_OK;
}

const char *options_choice_name(const struct options *o)
{
	const struct record_choice *c = &o->choice;

	return c->head > 0 ? "head" : c->tail > 0 ? "tail" : c->sample > 0 ? "sample" : NULL;
}

enum status options_check_choice(const struct options *o, const char *reduce, struct fault *fault)
{
	const struct record_choice *c = &o->choice;
	const char *name = options_choice_name(o);

	if (c->head > 0 && (c->tail > 0 || c->sample > 0))
		return option_fault(fault, "--head and --%s both choose records: give one of them, and pipe what "
				    "it prints to the other", c->tail > 0 ? "tail" : "sample");
	if (c->tail > 0 && c->sample > 0)
		return option_fault(fault, "--tail and --sample both choose records: give one of them, and pipe "
				    "what it prints to the other");
	if (c->has_seed && c->sample == 0)
		return option_fault(fault, "--seed is for --sample: nothing is drawn here");
	if (name && reduce && o->by)
		return option_fault(fault, "--%s is for printed records: --by prints groups, and --top N the first N of them",
				    name);
	if (name && reduce)
		return option_fault(fault, "--%s is for printed records, and --%s prints a result: for a result of those "
				    "records, gpustat --%s N FILE | gpustat --%s COLS", name, reduce, name, reduce);
	return STATUS_OK;
}
