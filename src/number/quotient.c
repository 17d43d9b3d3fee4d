/* SPDX-License-Identifier: MIT
 *
 * quotient.c - see quotient.h.
 *
 * Long division, many digits a step: what remains of a step is less than the divisor, which has up to 18
 * digits, so that 18 more digits of the quotient come of one division of 128 bits.
 */
#include "number/quotient.h"

#include "number/decimal_text.h"
#include "number/natural.h"

#define STEP_NDIGITS 18
#define PLACES_MAX 400 /* of wide.h: digits before the point, and after it */

static uint128 power(int n)
{
	uint128 first = decimal_powers[n < DECIMAL_POWER_MAX ? n : DECIMAL_POWER_MAX];

	return n <= DECIMAL_POWER_MAX ? first : first * decimal_powers[n - DECIMAL_POWER_MAX];
}

/* Digits of x < 10^38; none of 0. A bit is 1233 / 4096 of a digit, a little more or less. */
static int count_digits(uint128 x)
{
	uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
	int nbits = high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
	int n = nbits * 1233 >> 12;

	return n + (x >= power(n));
}

/* Drops zeros at the end. Returns their number. */
static int trim_zeros(uint128 *x)
{
	int ndropped = 0;

	if (*x == 0)
		return 0;
	for (int n = 16; n > 0; n /= 2)
		for (; *x % decimal_powers[n] == 0; ndropped += n)
			*x /= decimal_powers[n];
	return ndropped;
}

void quotient_finish(struct quotient *q, bool has_rest)
{
	int nzeros;

	if (!has_rest)
		q->scale -= trim_zeros(&q->magnitude);
	q->is_rounded = has_rest || q->magnitude >= decimal_powers[RATIO_NDIGITS];
	nzeros = QUOTIENT_NDIGITS - count_digits(q->magnitude);
	if (q->magnitude == 0)
		q->scale = nzeros = 0;
	else if (!q->is_rounded)
		nzeros = q->scale < 0 && -q->scale <= nzeros ? -q->scale : 0;
	q->magnitude *= power(nzeros);
	q->scale += nzeros;
}

/* Rounds up where the rest is more than half of the divisor, or half of it and q is odd. */
static void round_half_even(struct quotient *q, uint64_t rest, uint64_t divisor)
{
	uint64_t other = divisor - rest;

	q->magnitude += rest > other || (rest == other && q->magnitude % 2 == 1);
	if (q->magnitude < power(QUOTIENT_NDIGITS))
		return;
	q->magnitude /= 10;
	q->scale--;
}

void quotient_divide(struct quotient *q, struct decimal a, struct decimal b)
{
	uint64_t x = a.significand < 0 ? -(uint64_t)a.significand : (uint64_t)a.significand;
	uint64_t y = b.significand < 0 ? -(uint64_t)b.significand : (uint64_t)b.significand;
	uint64_t rest = x % y;
	int ndigits;

	q->negative = (a.significand < 0) != (b.significand < 0) && x != 0;
	q->magnitude = x / y;
	q->scale = a.scale - b.scale;
	ndigits = count_digits(q->magnitude);
	while (rest && ndigits < QUOTIENT_NDIGITS) {
		int n = QUOTIENT_NDIGITS - ndigits < STEP_NDIGITS ? QUOTIENT_NDIGITS - ndigits
								 : STEP_NDIGITS;
		uint128 t = (uint128)rest * decimal_powers[n];
		uint64_t next = (uint64_t)(t / y);
		rest = (uint64_t)(t % y);
		ndigits = ndigits ? ndigits + n : count_digits(next);
		q->magnitude = q->magnitude * decimal_powers[n] + next;
		q->scale += n;
	}
	if (rest)
		round_half_even(q, rest, y);
	quotient_finish(q, rest != 0);
}

/* ---- text ---- */

size_t quotient_write(const struct quotient *q, char text[QUOTIENT_TEXT_NBYTES])
{
	char *p = text;

	*p++ = QUOTIENT_MARK;
	*p = '-';
	p = decimal_write_u128(p + q->negative, q->magnitude);
	*p++ = 'e';
	*p = '-';
	p = decimal_write_u64(p + (q->scale > 0), (uint64_t)(q->scale > 0 ? q->scale : -q->scale));
	*p = '\0';
	return (size_t)(p - text);
}

bool quotient_parse(const char *text, size_t nbytes, struct quotient *q)
{
	const char *p = text + 1, *end = text + nbytes;
	int64_t exponent = 0;
	int ndigits = 0, n;

	*q = (struct quotient){.is_rounded = true};
	if (nbytes < 2 || *text != QUOTIENT_MARK)
		return false;
	q->negative = *p == '-';
	p += q->negative;
	do { /* as many digits as 64 bits hold */
		uint64_t x = 0;
		for (n = 0; n < STEP_NDIGITS && ndigits + n < QUOTIENT_NDIGITS && p < end && decimal_is_digit(*p); n++)
			x = x * 10 + (uint64_t)(*p++ - '0');
		q->magnitude = q->magnitude * decimal_powers[n] + x;
		ndigits += n;
	} while (n == STEP_NDIGITS);
	if (ndigits == 0 || p == end || *p != 'e' || decimal_exponent(p, end, &exponent) != end ||
	    exponent < -PLACES_MAX || exponent > PLACES_MAX)
		return false;
	q->scale = (int)-exponent;
	return count_digits(q->magnitude) - q->scale <= PLACES_MAX;
}

size_t quotient_format(const struct quotient *q, char *text)
{
	int surplus = count_digits(q->magnitude) - RATIO_NDIGITS;
	uint128 divisor, s, rest;

	surplus = surplus < QUOTIENT_NDOUBTFUL ? QUOTIENT_NDOUBTFUL : surplus;
	divisor = power(surplus);
	s = q->magnitude / divisor;
	rest = 2 * (q->magnitude - s * divisor);
	s += rest > divisor || (rest == divisor && s % 2 == 1);
	return ratio_format_short(q->negative, s, 1, q->scale - surplus, text);
}
