/* SPDX-License-Identifier: MIT
 *
 * options_ahead.c - see options_ahead.h.
 */
#include "query/options_ahead.h"

#include <string.h>

bool operation_looks_ahead(enum operation operation)
{
	return operation == OPERATION_LEAD || operation == OPERATION_RANK;
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

enum status options_check_ahead(const struct options *o, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < o->nuses; i++) {
		enum operation operation = o->uses[i].operation;
		if (!operation_looks_ahead(operation))
			continue;
		if (operation == OPERATION_LEAD && picture_is_asked(&o->picture))
			return option_fault(fault, "--%s draws numbers: --lead prints fields as they are",
					    o->picture.plots ? "plot" : "svg");
		status = check_others(o, operation_name(operation), fault);
	}
	return status;
}
