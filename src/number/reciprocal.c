/* SPDX-License-Identifier: MIT
 *
 * reciprocal.c - see reciprocal.h.
 */
#include "number/reciprocal.h"

#include <gmp.h>

#include "number/decimal_text.h"
#include "number/ratio.h"

/* A result of up to this many digits is exact, ties too: the error is in later digits. */
#define NDIGITS_RIGHT 26

void reciprocal_add(struct reciprocal_sum *sum, struct decimal number)
{
	/* 10^scale in units, less 128 zeros */
	const uint128 top = decimal_power(number.scale) << (RECIPROCAL_NBITS - 128);
	const uint64_t x = (uint64_t)number.significand;
	struct reciprocal_sum one = {{0}};
	uint128 rest = top >> 64;

	if (number.significand <= 0)
		return;
	for (int i = 3; i >= 0; i--) {
		one.word[i] = (uint64_t)(rest / x);
		rest = rest % x << 64 | (i == 3 ? (uint64_t)top : 0);
	}
	reciprocal_combine(sum, &one);
}

void reciprocal_combine(struct reciprocal_sum *sum, const struct reciprocal_sum *later)
{
	mpn_add_n(sum->word, sum->word, later->word, RECIPROCAL_NWORDS);
}

bool reciprocal_is_zero(const struct reciprocal_sum *sum)
{
	return mpn_zero_p(sum->word, RECIPROCAL_NWORDS);
}

struct exact reciprocal_of(const struct exact *x, struct integer *room)
{
	struct integer one, n;
	int ndigits, nplaces;

	exact_to_integer(x, x->scale, &n);
	ndigits = integer_ndigits(&n) + RECIPROCAL_NDIGITS;
	nplaces = ndigits - x->scale;
	integer_set(&one, 1);
	integer_shift(&one, ndigits);
	integer_divide(&one, &n, room);
	integer_shift(room, -nplaces);
	return exact_view(room, nplaces < 0 ? 0 : nplaces);
}

size_t reciprocal_format_mean(const struct reciprocal_sum *sum, const struct exact *wide, uint64_t count, int ndigits,
			      char *text)
{
	const int places = wide ? wide->scale : 0;
	struct integer unit, total, words;
	uint128 digits;
	int exponent;

	integer_set(&unit, (uint128)1 << 127);
	integer_multiply_short(&unit, (uint64_t)1 << (RECIPROCAL_NBITS - 127));
	exact_to_integer(wide, places, &words);
	integer_multiply(&total, &words, &unit);
	integer_set_words(&words, sum->word, RECIPROCAL_NWORDS);
	integer_shift(&words, places);
	integer_add(&total, &words, false);
	*text = '\0';
	if (count == 0 || total.negative || integer_is_zero(&total))
		return 0;
	integer_multiply_short(&unit, count);
	ratio_digits((struct ratio){&unit, &total, -places, false}, NDIGITS_RIGHT, &digits, &exponent);
	integer_set(&total, digits);
	integer_set(&unit, 1);
	return ratio_format((struct ratio){&total, &unit, -exponent, false}, ndigits < RATIO_NDIGITS ? ndigits : RATIO_NDIGITS, RATIO_ALL,
			    text); /* no more is known */
}
