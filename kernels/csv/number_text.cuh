/* SPDX-License-Identifier: MIT
 *
 * number_text.cuh - the length of a number's text, before it is written.
 *
 * Rows of output must be placed before all of them can be written at once. decimal_format() of
 * decimal.h then writes the numbers, as on the CPU.
 */
#pragma once

extern "C" {
#include "number/decimal.h"
}

#define NUMBER_TEXT_STEP ((uint64_t)1000000000000000000) /* 10^18: one 128-bit division
							  * for 18 digits */

/* Digits of x, none for 0. */
HD unsigned number_ndigits(uint128 x)
{
	unsigned ndigits = 0;

	for (; x >= NUMBER_TEXT_STEP; ndigits += 18)
		x /= NUMBER_TEXT_STEP;
	for (uint64_t low = (uint64_t)x; low > 0; low /= 10)
		ndigits++;
	return ndigits;
}

/* What decimal_format(significand, scale, text) returns. */
HD unsigned number_text_nbytes(int128 significand, int scale)
{
	unsigned ndigits = number_ndigits(significand < 0 ? -(uint128)significand
							  : (uint128)significand);

	if (ndigits <= (unsigned)scale)
		ndigits = (unsigned)scale + 1;
	return (significand < 0) + ndigits + (scale > 0);
}
