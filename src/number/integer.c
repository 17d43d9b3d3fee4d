/* SPDX-License-Identifier: MIT
 *
 * integer.c - see integer.h.
 */
#include "number/integer.h"

#include <inttypes.h>
#include <stdio.h>

#define LIMB_TEXT "%09" PRIu32

void integer_set_product(struct integer *out, const struct wide *x, uint64_t factor, int limb_scale)
{
	int from = WIDE_POINT - limb_scale / WIDE_LIMB_DIGITS; /* limbs below it are 0 */
	struct natural a, b;

	out->negative = natural_set_limbs(&a, x->limb + from, WIDE_NLIMBS - from);
	natural_set(&b, factor);
	natural_multiply(&out->magnitude, &a, &b);
}

void integer_add_natural(struct integer *to, const struct natural *x, bool negative)
{
	struct natural larger;

	if (to->negative == negative) {
		natural_add(&to->magnitude, x);
	} else if (natural_compare(&to->magnitude, x) >= 0) {
		natural_subtract(&to->magnitude, x);
	} else {
		natural_copy(&larger, x);
		natural_subtract(&larger, &to->magnitude);
		natural_copy(&to->magnitude, &larger);
		to->negative = negative;
	}
}

void integer_add(struct integer *to, const struct integer *x, bool subtract)
{
	integer_add_natural(to, &x->magnitude, x->negative != subtract);
}

/* The number of decimal digits, or up to 8 more. */
static int count_digits(const struct natural *n)
{
	return n->nlimbs * NATURAL_LIMB_DIGITS;
}

uint64_t integer_divide(struct natural *n, const struct natural *divisor)
{
	int shift = count_digits(n) - count_digits(divisor) + NATURAL_LIMB_DIGITS;
	struct natural shifted;
	uint64_t quotient = 0;

	for (; shift >= 0; shift--) {
		quotient *= 10;
		shifted = *divisor;
		natural_shift(&shifted, shift);
		for (; natural_compare(n, &shifted) >= 0; quotient++)
			natural_subtract(n, &shifted);
	}
	return quotient;
}

void integer_format(const struct integer *x, int scale, int least, char *text)
{
	char digits[NATURAL_NLIMBS * NATURAL_LIMB_DIGITS + 1];
	const struct natural *n = &x->magnitude;
	int ndigits = 0, nwhole, skipped = 0;

	for (int i = n->nlimbs; i-- > 0; ndigits += NATURAL_LIMB_DIGITS)
		snprintf(digits + ndigits, NATURAL_LIMB_DIGITS + 1, LIMB_TEXT, n->limb[i]);
	while (skipped < ndigits && digits[skipped] == '0')
		skipped++;
	for (nwhole = ndigits - scale; scale > least; scale--, ndigits--)
		if (nwhole + scale > 0 && digits[nwhole + scale - 1] != '0')
			break;
	if (x->negative && n->nlimbs > 0)
		*text++ = '-';
	if (nwhole <= skipped)
		*text++ = '0';
	for (int i = skipped; i < nwhole; i++)
		*text++ = digits[i];
	if (scale > 0)
		*text++ = '.';
	for (int i = nwhole; i < nwhole + scale; i++)
		*text++ = i < skipped ? '0' : digits[i];
	*text = '\0';
}
