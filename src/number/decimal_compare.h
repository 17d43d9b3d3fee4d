/* SPDX-License-Identifier: MIT
 *
 * decimal_compare.h - the order of two numbers: of the fast path, or of any length, as texts. For CPU threads and GPU lanes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "number/decimal.h"

/* Compares exactly; -1, 0 or 1. A significand other than 0, shifted by DECIMAL_NDIGITS places,
 * exceeds every other one, so the product below fits. */
HD int decimal_compare(struct decimal a, struct decimal b)
{
	int32_t nplaces = b.scale - a.scale;
	int64_t coarse = nplaces < 0 ? b.significand : a.significand;
	int64_t fine = nplaces < 0 ? a.significand : b.significand;
	int sign = nplaces < 0 ? -1 : 1;
	int128 raised;

	if (nplaces < 0)
		nplaces = -nplaces;
	if (nplaces >= DECIMAL_NDIGITS && coarse != 0)
		return coarse < 0 ? -sign : sign;
	raised = coarse ? (int128)coarse * decimal_shift(1, nplaces) : 0;
	return raised < fine ? -sign : raised > fine ? sign : 0;
}

/* Returns the digit at *p and moves *p beyond it; skips the point; 0 after the last. */
HD int decimal_next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		++*p;
	return *p < end && decimal_is_digit(**p) ? *(*p)++ - '0' : 0;
}

/* Compares two numbers' texts of any length; -1, 0 or 1: by sign, then by the place of the first
 * significant digit, then digit by digit. */
HD int decimal_compare_texts(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	struct decimal_syntax x, y;
	const char *a_end, *b_end;
	int64_t x_top, y_top, ndigits;
	int x_sign, y_sign;

	a = decimal_trim(a, &a_nbytes);
	b = decimal_trim(b, &b_nbytes);
	decimal_tokenize(a, a_nbytes, &x);
	decimal_tokenize(b, b_nbytes, &y);
	x_sign = x.ndigits == 0 ? 0 : x.negative ? -1 : 1;
	y_sign = y.ndigits == 0 ? 0 : y.negative ? -1 : 1;
	if (x_sign != y_sign || x_sign == 0)
		return x_sign < y_sign ? -1 : x_sign > y_sign;
	x_top = x.ndigits - x.nfraction + x.exponent;
	y_top = y.ndigits - y.nfraction + y.exponent;
	if (x_top != y_top)
		return x_top < y_top ? -x_sign : x_sign;
	for (a_end = a + a_nbytes; *a == '+' || *a == '-' || *a == '0' || *a == '.';)
		a++;
	for (b_end = b + b_nbytes; *b == '+' || *b == '-' || *b == '0' || *b == '.';)
		b++;
	ndigits = x.ndigits > y.ndigits ? x.ndigits : y.ndigits;
	for (; ndigits > 0; ndigits--) {
		int difference = decimal_next_digit(&a, a_end) - decimal_next_digit(&b, b_end);
		if (difference)
			return difference < 0 ? -x_sign : x_sign;
	}
	return 0;
}

/* Returns the first digit that is not 0, or '0'. */
HD char decimal_first_digit(const char *text, size_t nbytes)
{
	for (; nbytes > 0; text++, nbytes--)
		if (*text > '0' && *text <= '9')
			return *text;
		else if (*text != '0' && *text != '+' && *text != '-' && *text != '.')
			break;
	return '0';
}

/* Whether both texts, without blanks around them, are numbers, and of the same value. */
HD int decimal_texts_are_same(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	struct decimal_syntax ignored;

	return decimal_first_digit(a, a_nbytes) == decimal_first_digit(b, b_nbytes) &&
	       decimal_tokenize(a, a_nbytes, &ignored) && decimal_tokenize(b, b_nbytes, &ignored) &&
	       decimal_compare_texts(a, a_nbytes, b, b_nbytes) == 0;
}
