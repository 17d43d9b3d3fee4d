/* SPDX-License-Identifier: MIT
 *
 * decimal_arithmetic.h - sums, products and rounding of numbers of the fast path, for CPU threads and GPU lanes.
 *
 * Each function returns 1 and sets *out to the exact result, or 0 where the fast path cannot hold it
 * (number/big_decimal.h can); *out is then undefined.
 */
#ifndef GPUSTAT_DECIMAL_ARITHMETIC_H
#define GPUSTAT_DECIMAL_ARITHMETIC_H

#include "number/decimal.h"

/* No significand of DECIMAL_NDIGITS digits reaches it. */
#define DECIMAL_SIGNIFICAND_LIMIT ((int64_t)1000000000000000000)

HD int decimal_set(int128 significand, int32_t scale, struct decimal *out)
{
	out->significand = (int64_t)significand;
	out->scale = scale;
	return significand < DECIMAL_SIGNIFICAND_LIMIT && significand > -DECIMAL_SIGNIFICAND_LIMIT &&
	       scale < DECIMAL_NSCALES;
}

/* x at a scale that is not smaller than its own. */
HD int decimal_raise(struct decimal x, int32_t scale, struct decimal *out)
{
	int32_t nplaces = scale - x.scale;

	if (nplaces >= DECIMAL_NDIGITS)
		return x.significand == 0 && decimal_set(0, scale, out);
	return decimal_set((int128)x.significand * decimal_shift(1, nplaces), scale, out);
}

HD int decimal_multiply(struct decimal a, struct decimal b, struct decimal *out)
{
	return decimal_set((int128)a.significand * b.significand, a.scale + b.scale, out);
}

/* The sum has the larger of the two scales. */
HD int decimal_add(struct decimal a, struct decimal b, struct decimal *out)
{
	if (a.scale < b.scale && !decimal_raise(a, b.scale, &a))
		return 0;
	if (b.scale < a.scale && !decimal_raise(b, a.scale, &b))
		return 0;
	return decimal_set((int128)a.significand + b.significand, a.scale, out);
}

HD struct decimal decimal_negate(struct decimal x)
{
	x.significand = -x.significand;
	return x;
}

/* Rounds half to even, to at most nplaces digits after the point; nplaces >= 0. It always fits. */
HD struct decimal decimal_round(struct decimal x, int32_t nplaces)
{
	int32_t ndigits = x.scale - nplaces;
	int64_t unit, rest, rounded;

	if (ndigits <= 0)
		return x;
	x.scale = nplaces;
	if (ndigits > DECIMAL_NDIGITS) { /* less than a tenth of the last place */
		x.significand = 0;
		return x;
	}
	unit = decimal_shift(1, ndigits);
	rounded = x.significand / unit;
	rest = x.significand % unit;
	rest = rest < 0 ? -rest : rest;
	if (rest > unit - rest || (rest == unit - rest && rounded % 2 != 0))
		rounded += x.significand < 0 ? -1 : 1;
	x.significand = rounded;
	return x;
}

#endif
