/* SPDX-License-Identifier: MIT
 *
 * value.h - what a raw field holds, as the plan has it.
 */
#pragma once

#include "base/status.h"
#include "csv/field.h"
#include "number/decimal.h"
#include "query/plan.h"

struct value {
	enum decimal_kind kind; /* DECIMAL_WIDE: not for the fast path; exact_parse tells whether it is a number in range */
	struct decimal number;  /* of kind DECIMAL_NUMBER */
	const char *text;       /* unquoted, blanks and all; of a number: in decimal.h's syntax, as
				 * value_to_plain leaves it, or quotient.h's. In the field or the scratch */
	size_t nbytes;
};

/* Whether it is a number within the range. */
bool value_has_number(const struct value *v);

/* How a field is read: a set. */
enum value_how {
	VALUE_AS_NUMBER = 1, /* a number is looked for; else kind is DECIMAL_MISSING or DECIMAL_INVALID */
	VALUE_COMPUTED = 2,  /* no field of the input has it: plan->missing is for those that are in the input */
};

/* A raw field, and what its bytes do not say. */
struct raw_field {
	const char *text;
	size_t nbytes;
	unsigned how;        /* of enum value_how: VALUE_COMPUTED or 0 */
	const char *rounded; /* of a computed number that was rounded what quotient_write wrote, else NULL */
};

/* Reads a raw field. how: a set of enum value_how. Errors: STATUS_NO_MEMORY. */
enum status value_read(const struct plan *plan, unsigned how, const char *field, size_t nbytes,
		       struct scratch *scratch, struct value *out);

/* Makes v, which was read from the field of a computed number, that number, unless it is missing. text: what
 * quotient_write wrote; NULL: the number was not rounded. */
void value_set_rounded(struct value *v, const char *text);

/* Whether the value text[0 .. nbytes) counts as missing: blank, or, unless how has VALUE_COMPUTED, a
 * spelling of plan->missing once blanks are trimmed, or the number that one of them is. */
bool value_is_missing(const struct plan *plan, unsigned how, const char *text, size_t nbytes);

/* Whether a spelling of plan->missing could pass for a number. */
bool missing_is_number(const struct plan *plan);

/* Whether the value text[0 .. nbytes) is a number in the plan's notation, in range or not. */
bool value_is_number(const struct plan *plan, const char *text, size_t nbytes);

/* Replaces the value *text, *nbytes by the number's text in decimal.h's syntax. The value may lie in
 * the scratch, and the result does. Sets *is_number to false, and keeps the value, where it is no
 * number in the plan's notation. If that is decimal.h's syntax, nothing is checked or changed.
 * Errors: STATUS_NO_MEMORY. */
enum status value_to_plain(const struct plan *plan, const char **text, size_t *nbytes,
			   struct scratch *scratch, bool *is_number);
