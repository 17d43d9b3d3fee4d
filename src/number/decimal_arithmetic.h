/* SPDX-License-Identifier: MIT
 *
 * decimal_arithmetic.h - sums, products and rounding of numbers of the fast path, for CPU threads and GPU lanes.
 *
 * Each function returns 1 and sets *out to the exact result, or 0 where the fast path cannot hold it
 * (number/exact.h can); *out is then undefined.
 */
#pragma once

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

/* How a number is rounded. */
enum decimal_rounding { DECIMAL_HALF_EVEN, DECIMAL_HALF_UP /* from 0 */, DECIMAL_TOWARDS_0, DECIMAL_DOWN, DECIMAL_UP };

/* Whether the magnitude of a number becomes the next one. order: -1, 0 or 1 as its rest, which is not 0, is less than a half, a
 * half, or more; is_odd: the magnitude. */
HD int decimal_rounds_up(enum decimal_rounding how, int negative, int order, int is_odd)
{
	switch (how) {
	case DECIMAL_HALF_EVEN:
		return order > 0 || (order == 0 && is_odd);
	case DECIMAL_HALF_UP:
		return order >= 0;
	case DECIMAL_DOWN:
		return negative;
	case DECIMAL_UP:
		return !negative;
	default:
		return 0;
	}
}

/* Rounds to at most nplaces digits after the point; nplaces >= 0. It always fits. */
HD struct decimal decimal_round_to(struct decimal x, int32_t nplaces, enum decimal_rounding how)
{
	int32_t ndigits = x.scale - nplaces;
	int64_t unit, rest, rounded;
	int order = -1;

	if (ndigits <= 0)
		return x;
	x.scale = nplaces;
	unit = ndigits > DECIMAL_NDIGITS ? 0 : decimal_shift(1, ndigits);
	rounded = unit ? x.significand / unit : 0; /* else it is less than a tenth of the last place */
	rest = unit ? x.significand % unit : x.significand;
	if (unit && rest != 0) {
		int64_t distance = rest < 0 ? -rest : rest;
		order = distance > unit - distance ? 1 : distance == unit - distance ? 0 : -1;
	}
	if (rest != 0 && decimal_rounds_up(how, rest < 0, order, (int)(rounded & 1)))
		rounded += rest < 0 ? -1 : 1;
	x.significand = rounded;
	return x;
}

/* Half to even. */
HD struct decimal decimal_round(struct decimal x, int32_t nplaces)
{
	return decimal_round_to(x, nplaces, DECIMAL_HALF_EVEN);
}

/* a's and b's significands at the larger one of their scales, which is returned; -1: 128 bits do not hold them. */
HD int32_t decimal_align(struct decimal a, struct decimal b, int128 *x, int128 *y)
{
	*x = a.significand;
	*y = b.significand;
	if (a.scale - b.scale > DECIMAL_NDIGITS || b.scale - a.scale > DECIMAL_NDIGITS)
		return -1;
	if (a.scale < b.scale)
		*x *= decimal_shift(1, b.scale - a.scale);
	else
		*y *= decimal_shift(1, a.scale - b.scale);
	return a.scale < b.scale ? b.scale : a.scale;
}

/* a / b, b not 0, rounded to an integer; towards 0 or down. */
HD int decimal_divide_whole(struct decimal a, struct decimal b, enum decimal_rounding how, struct decimal *out)
{
	int128 x, y, quotient;

	if (decimal_align(a, b, &x, &y) < 0)
		return 0;
	quotient = x / y;
	if (how == DECIMAL_DOWN && (x < 0) != (y < 0) && quotient * y != x)
		quotient--;
	return decimal_set(quotient, 0, out);
}

/* The rest of a / b, b not 0, with a's sign. */
HD int decimal_modulo(struct decimal a, struct decimal b, struct decimal *out)
{
	int128 x, y;
	int32_t scale = decimal_align(a, b, &x, &y);

	return scale >= 0 && decimal_set(x % y, scale, out);
}
