/* SPDX-License-Identifier: MIT
 *
 * shown.h - numbers as people want them: rounded to so many places, with groups of digits, another
 * point, or a unit.
 *
 * A number is written as it is computed, and then once more by number_show: no formula knows of
 * styles. So that nothing is rounded twice, a result that does not end is not cut to RATIO_NDIGITS
 * digits while number_shown is set: ratio_format() writes the digits that are asked for and one
 * more, which is neither 0 nor 5 if more follow. Any later rounding then decides as it would of all
 * digits (decimal arithmetic's ROUND_05UP; M. Cowlishaw, "The General Decimal Arithmetic
 * Specification", 2009).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/status.h"
#include "number/notation.h"

#define SHOWN_NPLACES_MAX 100 /* of --digits */

/* How numbers are written. Zeroed: as they are computed. */
struct number_style {
	bool has_places; /* all have so many digits after the point: */
	int nplaces; /* ... 0 to SHOWN_NPLACES_MAX */
	int ndigits_most; /* as many significant digits at most, those before the point aside; 0:
			     all */
	enum shown_rounding { SHOWN_HALF_EVEN, SHOWN_HALF_UP } rounding;
	char point; /* 0: . */
	char group[NOTATION_THOUSANDS_NBYTES +
		   1]; /* one character of UTF-8 between groups of three digits, or "": none */
	enum size_units units; /* 1.5K, 2.0M: what --sizes reads */
};

/* The style that numbers are written in by the calling thread. NULL: as they are computed, such as
 * those that are read again. */
extern __thread const struct number_style *number_shown;

/* Whether numbers are written otherwise than computed, ndigits_most aside. */
bool number_style_is_set(const struct number_style *s);

/* Whether the text of a number may hold a byte. s: NULL: as it is computed. */
bool number_style_has(const struct number_style *s, char byte);

/* How many digits after the point number_show looks at; -1: as many as are printed without a style.
 */
static inline int number_style_nkept(const struct number_style *s)
{
	return !s || (!s->has_places && !s->ndigits_most && !s->units) ? -1
	       : s->has_places					       ? s->nplaces + 1
								       : 1;
}

/* Appends a plain decimal, text[0 .. nbytes), in the style. is_count: it counts, and is not
 * rounded. A text that is no plain decimal is appended as it is. Errors: STATUS_NO_MEMORY. */
enum status number_show(const struct number_style *s, bool is_count, const char *text,
			size_t nbytes, struct text_buffer *out);
