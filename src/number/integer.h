/* SPDX-License-Identifier: MIT
 *
 * integer.h - integers of any size that a statistic needs, with a sign, and the exact text of decimals
 * that they are significands of.
 */
#ifndef GPUSTAT_INTEGER_H
#define GPUSTAT_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

#include "number/natural.h"
#include "number/wide.h"

/* 0 may have either sign. */
struct integer {
	bool negative;
	struct natural magnitude;
};

/* A column's scale, rounded up to whole limbs of a wide number; with numbers that were rounded, all limbs. */
static inline int integer_limb_scale(int scale)
{
	if (wide_scale_is_rounded(scale))
		return WIDE_POINT * WIDE_LIMB_DIGITS;
	return (scale + WIDE_LIMB_DIGITS - 1) / WIDE_LIMB_DIGITS * WIDE_LIMB_DIGITS;
}

/* *out = x factor 10^limb_scale, which is a limb scale, and at least x's scale. */
void integer_set_product(struct integer *out, const struct wide *x, uint64_t factor, int limb_scale);

/* *to += x, or -= x if negative. x may be to's magnitude. The sum must fit likewise. */
void integer_add_natural(struct integer *to, const struct natural *x, bool negative);

/* *to += x, or -= x. The result must fit into NATURAL_NLIMBS limbs. */
void integer_add(struct integer *to, const struct integer *x, bool subtract);

/* n %= divisor, which is not 0. Returns the quotient, modulo 2^64. Cost: 10 subtractions for each digit
 * of the quotient. */
uint64_t integer_divide(struct natural *n, const struct natural *divisor);

/* Writes x 10^-scale in plain decimal, NUL-terminated, -0 as 0: with at least `least` digits after the
 * point, 0 <= least <= scale, and more where they are not 0. text: scale bytes, NATURAL_LIMB_DIGITS
 * for each limb, and 4. */
void integer_format(const struct integer *x, int scale, int least, char *text);

#endif
