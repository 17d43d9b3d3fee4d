/* SPDX-License-Identifier: MIT
 *
 * real.h - roots, logarithms, exponentials and powers, whose results are seldom decimals.
 *
 * A result is rounded to QUOTIENT_NDIGITS digits, as a quotient is (quotient.h), so it is printed with RATIO_NDIGITS, and what is
 * computed of it loses none of these; where the further digits come out as 0, it is exact. It is computed from integers alone, to
 * 170 bits or more, so all digits of it are right, but for one that a tie in these bits decides.
 */
#pragma once

#include "number/exact.h"

enum real { REAL_SQRT, REAL_LN, REAL_LOG10, REAL_LOG2, REAL_EXP };

/* *result = the function of x; limbs that it has are in the room. result may be x. Returns false where it has no value, as of a logarithm of 0. A result
 * beyond the range of numbers is one that exact_is_in_range refuses. Cost: .5 to 4 us. */
bool real_compute(enum real function, const struct exact *x, struct integer *room, struct exact *result);

/* The same of x^k, but the result is neither. 0^0 is 1; no value: a negative power of 0, and a power of a negative x whose exponent is no integer. */
bool real_power(const struct exact *x, const struct exact *k, struct integer *room, struct exact *result);
