/* SPDX-License-Identifier: MIT
 *
 * value.c - see value.h.
 */
#include "query/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "number/decimal_compare.h"

#define SAME_NBYTES_MAX 512 /* of two numbers in a notation of their own that are compared */

/* Whether a text is the number that a spelling of "missing" is. */
static bool is_same_number(const struct plan *plan, const char *spelling, size_t spelling_nbytes, const char *text,
			   size_t nbytes)
{
	char a[SAME_NBYTES_MAX + NOTATION_ROOM], b[SAME_NBYTES_MAX + NOTATION_ROOM];

	if (notation_is_plain(&plan->notation))
		return decimal_texts_are_same(spelling, spelling_nbytes, text, nbytes);
	if (spelling_nbytes > SAME_NBYTES_MAX || nbytes > SAME_NBYTES_MAX)
		return false;
	spelling_nbytes = notation_to_plain(&plan->notation, spelling, spelling_nbytes, a);
	nbytes = notation_to_plain(&plan->notation, text, nbytes, b);
	return spelling_nbytes > 0 && nbytes > 0 && decimal_texts_are_same(a, spelling_nbytes, b, nbytes);
}

bool value_is_missing(const struct plan *plan, unsigned how, const char *text, size_t nbytes)
{
	text = decimal_trim(text, &nbytes);
	if (nbytes == 0)
		return true;
	for (size_t i = 0; i < plan->nmissing && !(how & VALUE_COMPUTED); i++) {
		size_t spelling_nbytes = strlen(plan->missing[i]);
		if ((spelling_nbytes == nbytes && !memcmp(plan->missing[i], text, nbytes)) ||
		    is_same_number(plan, plan->missing[i], spelling_nbytes, text, nbytes))
			return true;
	}
	return false;
}

void value_set_rounded(struct value *v, const char *text)
{
	if (!text || v->kind == DECIMAL_MISSING)
		return;
	v->kind = DECIMAL_WIDE;
	v->text = text;
	v->nbytes = strlen(text);
}

bool missing_is_number(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nmissing; i++)
		if (value_is_number(plan, plan->missing[i], strlen(plan->missing[i])))
			return true;
	return false;
}

bool value_is_number(const struct plan *plan, const char *text, size_t nbytes)
{
	return notation_to_plain(&plan->notation, text, nbytes, NULL) > 0;
}

/* Returns room for nbytes after the value *text, which may lie in the scratch and then moves with
 * it. NULL where memory ran out. */
static char *scratch_behind(struct scratch *scratch, const char **text, size_t text_nbytes,
			    size_t nbytes)
{
	size_t begin = (size_t)((uintptr_t)*text - (uintptr_t)scratch->data);
	bool is_inside = scratch->data && begin < scratch->nbytes;
	size_t used = is_inside ? begin + text_nbytes : 0;

	if (ARRAY_GROW(scratch->data, scratch->nbytes, used + nbytes) != STATUS_OK)
		return NULL;
	if (is_inside)
		*text = scratch->data + begin;
	return scratch->data + used;
}

enum status value_to_plain(const struct plan *plan, const char **text, size_t *nbytes,
			   struct scratch *scratch, bool *is_number)
{
	char *to;
	size_t length;

	*is_number = true;
	if (notation_is_plain(&plan->notation))
		return STATUS_OK;
	to = scratch_behind(scratch, text, *nbytes, *nbytes + NOTATION_ROOM);
	NEED(to);
	length = notation_to_plain(&plan->notation, *text, *nbytes, to);
	*is_number = length > 0;
	if (length > 0) {
		*text = to;
		*nbytes = length;
	}
	return STATUS_OK;
}

bool value_has_number(const struct value *v)
{
	return v->kind == DECIMAL_NUMBER || (v->kind == DECIMAL_WIDE && exact_is_number(v->text, v->nbytes));
}

enum status value_read(const struct plan *plan, unsigned how, const char *field, size_t nbytes,
		       struct scratch *scratch, struct value *out)
{
	enum status status = STATUS_OK;
	bool is_number;

	out->text = field_value(&plan->dialect, field, nbytes, scratch, &out->nbytes);
	NEED(out->text);
	out->kind = DECIMAL_INVALID;
	if (value_is_missing(plan, how, out->text, out->nbytes)) {
		out->kind = DECIMAL_MISSING;
	} else if (how & VALUE_AS_NUMBER) {
		status = value_to_plain(plan, &out->text, &out->nbytes, scratch, &is_number);
		if (status == STATUS_OK && is_number)
			out->kind = decimal_parse(out->text, out->nbytes, &out->number);
	}
	return status;
}
