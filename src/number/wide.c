/* SPDX-License-Identifier: MIT
 *
 * wide.c - the decimal superaccumulator. See wide.h.
 */
#include "number/wide.h"

#include <string.h>

#include "number/exact.h"
#include "number/ratio.h"

#define POINT_DIGITS (WIDE_POINT * WIDE_LIMB_DIGITS)
#define TOTAL_DIGITS (WIDE_NLIMBS * WIDE_LIMB_DIGITS)

static const int32_t power_of_ten[WIDE_LIMB_DIGITS] = {1,      10,      100,      1000,     10000,
						       100000, 1000000, 10000000, 100000000};

void wide_clear(struct wide *x)
{
	memset(x, 0, sizeof *x);
}

/* Carries until every limb is in -999999999 ... 999999999; returns the sign of the
 * highest limb that is not 0. Limbs may hold up to 2^62 on entry. */
static int carry(struct wide *x)
{
	int64_t over = 0;
	int sign = 0;

	for (int i = 0; i < WIDE_NLIMBS; i++) {
		int64_t limb = x->limb[i] + over;
		over = limb / WIDE_LIMB_BASE;
		x->limb[i] = limb - over * WIDE_LIMB_BASE;
		if (x->limb[i])
			sign = x->limb[i] < 0 ? -1 : 1;
	}
	return sign;
}

/* Makes x canonical: carries, then gives every limb the sign of the number by borrowing
 * from the next one, which exists because the highest limb already has that sign. */
static void normalize(struct wide *x)
{
	int64_t sign = carry(x), borrow = 0;

	for (int i = 0; i < WIDE_NLIMBS; i++) {
		int64_t limb = x->limb[i] - borrow;
		borrow = 0;
		if (limb * sign < 0) {
			limb += sign * WIDE_LIMB_BASE;
			borrow = sign;
		}
		x->limb[i] = limb;
	}
}

/* Adds piece x 10^digit, 0 <= digit: |piece| < 10^9. The limb may leave its range. */
static void add_piece(struct wide *x, int64_t piece, int digit)
{
	x->limb[digit / WIDE_LIMB_DIGITS] += piece * power_of_ten[digit % WIDE_LIMB_DIGITS];
}

void wide_set_decimal(struct wide *x, int128 significand, int scale)
{
	int digit = POINT_DIGITS - scale, limb = digit / WIDE_LIMB_DIGITS;
	int32_t unit;

	wide_clear(x);
	if (significand == 0)
		return;
	unit = power_of_ten[digit % WIDE_LIMB_DIGITS]; /* 1 in the lowest limb */
	for (; significand != (int64_t)significand; unit = 1) { /* a long division */
		int32_t base = WIDE_LIMB_BASE / unit;
		int128 quotient = significand / base;
		x->limb[limb++] = (int64_t)(significand - quotient * base) * unit;
		significand = quotient;
	}
	for (int64_t rest = (int64_t)significand; rest; unit = 1) {
		int32_t base = WIDE_LIMB_BASE / unit;
		x->limb[limb++] = rest % base * unit;
		rest /= base;
	}
}

/* x += y, where both have the same sign: usually few limbs. Returns false, and changes nothing, where they have not. */
static bool add_alike(struct wide *x, const struct wide *y)
{
	int low = 0, high = WIDE_NLIMBS - 1, top = WIDE_NLIMBS - 1;
	int64_t sign, over = 0;

	while (high > 0 && y->limb[high] == 0)
		high--;
	while (top > 0 && x->limb[top] == 0)
		top--;
	sign = y->limb[high] < 0 ? -1 : 1;
	if (x->limb[top] * sign < 0)
		return false;
	while (low < high && y->limb[low] == 0)
		low++;
	for (; low < WIDE_NLIMBS && (low <= high || over); low++) {
		int64_t limb = x->limb[low] + y->limb[low] + over;
		over = limb * sign >= WIDE_LIMB_BASE ? sign : 0;
		x->limb[low] = limb - over * WIDE_LIMB_BASE;
	}
	return true;
}

void wide_add(struct wide *x, const struct wide *y)
{
	if (add_alike(x, y))
		return;
	for (int i = 0; i < WIDE_NLIMBS; i++)
		x->limb[i] += y->limb[i];
	normalize(x);
}

/* The digits of x from limb `from` up, as an integer; false where it does not fit. */
static bool upper_limbs(const struct wide *x, int from, int128 *out)
{
	int128 value = 0;
	int i = WIDE_NLIMBS - 1;

	while (i >= from && x->limb[i] == 0)
		i--;
	for (; i >= from; i--) {
		if (value > DECIMAL_INT128_MAX / WIDE_LIMB_BASE - 1 ||
		    value < -(DECIMAL_INT128_MAX / WIDE_LIMB_BASE - 1))
			return false;
		value = value * WIDE_LIMB_BASE + x->limb[i];
	}
	*out = value;
	return true;
}

bool wide_to_int128(const struct wide *x, int scale, int128 *out)
{
	int lowest = POINT_DIGITS - scale; /* the last digit that counts */
	int limb = lowest / WIDE_LIMB_DIGITS, unused = lowest % WIDE_LIMB_DIGITS;

	if (exact_scale_is_rounded(scale))
		return false;
	/* The limb that the last digit is in may have zeros below it: divided away. */
	if (!upper_limbs(x, limb + 1, out) || !decimal_rescale(out, WIDE_LIMB_DIGITS - unused))
		return false;
	int128 low = x->limb[limb] / power_of_ten[unused];
	return !__builtin_add_overflow(*out, low, out);
}

int wide_compare(const struct wide *x, const struct wide *y)
{
	for (int i = WIDE_NLIMBS - 1; i >= 0; i--)
		if (x->limb[i] != y->limb[i])
			return x->limb[i] < y->limb[i] ? -1 : 1;
	return 0;
}

/* Adds the digits of text, whose last one weighs 10^(digit - POINT_DIGITS), to x. Bytes
 * that are no digits (the point) are passed over. */
static void add_digits(struct wide *x, const char *text, const char *end, int digit, int sign)
{
	while (end > text && digit < TOTAL_DIGITS) {
		char c = *--end;
		if (!decimal_is_digit(c))
			continue;
		add_piece(x, sign * (c - '0'), digit++);
	}
}

void wide_set_integer(struct wide *x, const struct integer *n, int scale)
{
	char digits[INTEGER_NDIGITS];
	int ndigits = integer_digits(n, digits);

	wide_clear(x);
	add_digits(x, digits, digits + ndigits, POINT_DIGITS - scale, n->negative ? -1 : 1);
}

void wide_settle(struct wide *x, int scale)
{
	const int places = exact_sum_places(scale, 1);
	struct integer n;
	int surplus;

	if (!exact_scale_is_rounded(scale))
		return;
	wide_to_integer(x, POINT_DIGITS, &n);
	integer_round(&n, POINT_DIGITS - places, false);
	surplus = integer_ndigits(&n) - RATIO_NDIGITS;
	integer_round(&n, surplus, false);
	wide_set_integer(x, &n, surplus > 0 ? places - surplus : places);
}
