/* SPDX-License-Identifier: MIT
 *
 * options_ahead.c - see options_ahead.h.
 */
#include "query/options_ahead.h"

#include <string.h>

#define NAHEAD_MAX UINT64_C(1000000000000)

bool operation_looks_ahead(enum operation operation)
{
	return operation == OPERATION_LEAD || operation == OPERATION_RANK;
}

/* Returns the last colon that has a column before it: not that of a position, as in "a,:3", nor one in
 * quotes. NULL: there is none. */
static const char *find_suffix(const char *argument)
{
	const char *colon = strrchr(argument, ':');

	if (!colon || colon == argument || colon[-1] == ',' || strchr(colon, ',') || strchr(colon, '"'))
		return NULL;
	return colon;
}

/* Reads COLS:N, or COLS alone: then a colon is one of a name. */
static enum status read_lead(struct operation_use *use, struct fault *fault)
{
	const char *suffix = find_suffix(use->argument);
	const char *end = suffix ? option_digits(suffix + 1, NAHEAD_MAX, &use->nrows) : NULL;

	if (!end || *end) {
		use->nrows = 1;
		return STATUS_OK;
	}
	if (use->nrows == 0)
		return option_fault(fault, "--lead: '%.64s' is not COLS:N, N a number of records above 0, such as "
				    "%.*s:1", use->argument, (int)(suffix - use->argument), use->argument);
	use->column = strndup(use->argument, (size_t)(suffix - use->argument));
	use->suffix = suffix;
	use->argument = use->column;
	return use->column ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Reads [-]COLS. */
static void read_rank(struct operation_use *use)
{
	use->is_descending = *use->argument == '-';
	use->argument += use->is_descending;
}

/* Checks that the other options go with an operation that needs later records. */
static enum status check_others(const struct options *o, const char *name, struct fault *fault)
{
	if (o->exclusive)
		return option_fault(fault, "--exclusive is for running totals: --%s looks at later records", name);
	if (o->save_state || o->from_state)
		return option_fault(fault, "--%s: --%s needs records that are yet to come: leave it out",
				    o->save_state ? "save-state" : "from-state", name);
	if (!strcmp(name, "lead") && (o->choice.tail || o->choice.sample))
		return option_fault(fault, "--%s with --lead: records wait for later ones: pipe what --lead prints to a second "
				    "gpustat", o->choice.tail ? "tail" : "sample");
	return STATUS_OK;
}

enum status options_check_ahead(struct options *o, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++) {
		struct operation_use *use = &o->uses[i];
		if (!operation_looks_ahead(use->operation))
			continue;
		if (use->operation == OPERATION_RANK)
			read_rank(use);
		else
			status = read_lead(use, fault);
		if (status == STATUS_OK && use->operation == OPERATION_LEAD && picture_is_asked(&o->picture))
			status = option_fault(fault, "--%s draws numbers: --lead prints fields as they are",
					      o->picture.plots ? "plot" : "svg");
		if (status == STATUS_OK)
			status = check_others(o, operation_name(use->operation), fault);
	}
	return status;
}
