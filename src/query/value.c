/* SPDX-License-Identifier: MIT
 *
 * value.c - see value.h.
 */
#include "query/value.h"

#include <string.h>

bool value_is_missing(const struct plan *plan, const char *text, size_t nbytes)
{
	text = decimal_trim(text, &nbytes);
	if (nbytes == 0)
		return true;
	for (size_t i = 0; i < plan->nmissing; i++)
		if (strlen(plan->missing[i]) == nbytes && !memcmp(plan->missing[i], text, nbytes))
			return true;
	return false;
}

bool missing_is_number(const struct plan *plan)
{
	struct decimal ignored;

	for (size_t i = 0; i < plan->nmissing; i++)
		if (decimal_parse(plan->missing[i], strlen(plan->missing[i]), &ignored) !=
		    DECIMAL_INVALID)
			return true;
	return false;
}

enum status value_read(const struct plan *plan, bool parses, const char *field, size_t nbytes,
		       struct scratch *scratch, struct value *out)
{
	out->text = field_value(&plan->dialect, field, nbytes, scratch, &out->nbytes);
	if (!out->text)
		return STATUS_NO_MEMORY;
	if (value_is_missing(plan, out->text, out->nbytes))
		out->kind = DECIMAL_MISSING;
	else if (!parses)
		out->kind = DECIMAL_INVALID;
	else
		out->kind = decimal_parse(out->text, out->nbytes, &out->number);
	return STATUS_OK;
}
