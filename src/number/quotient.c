/* SPDX-License-Identifier: MIT
 *
 * quotient.c - see quotient.h.
 *
 * Long division, many digits a step: what remains of a step is less than the divisor, which has up to 18
 * digits, so that 18 more digits of the quotient come of one division of 128 bits.
 */
#include "number/quotient.h"

#include <gmp.h>
#include <string.h>

#include "number/decimal_text.h"
#include "number/ratio.h"

#define STEP_NDIGITS 18

struct exact quotient_from_digits(bool negative, uint128 magnitude, int scale, bool has_rest)
{
	struct exact q = {.scale = scale};
	int nzeros;

	if (!has_rest)
		q.scale -= decimal_trim_zeros(&magnitude);
	q.is_rounded = has_rest || magnitude >= decimal_powers[RATIO_NDIGITS];
	nzeros = QUOTIENT_NDIGITS - decimal_ndigits(magnitude);
	if (magnitude == 0)
		q.scale = nzeros = 0;
	else if (!q.is_rounded)
		nzeros = q.scale < 0 && -q.scale <= nzeros ? -q.scale : 0;
	magnitude *= decimal_power(nzeros);
	q.value = negative ? -(int128)magnitude : (int128)magnitude;
	q.scale += nzeros;
	return q;
}

void quotient_divide(struct exact *q, struct decimal a, struct decimal b)
{
	uint64_t x = a.significand < 0 ? -(uint64_t)a.significand : (uint64_t)a.significand;
	uint64_t y = b.significand < 0 ? -(uint64_t)b.significand : (uint64_t)b.significand;
	uint64_t rest = x % y;
	uint128 magnitude = x / y;
	int scale = a.scale - b.scale, ndigits = decimal_ndigits(magnitude);

	while (rest && ndigits < QUOTIENT_NDIGITS) {
		int n = QUOTIENT_NDIGITS - ndigits < STEP_NDIGITS ? QUOTIENT_NDIGITS - ndigits
								 : STEP_NDIGITS;
		uint128 t = (uint128)rest * decimal_powers[n];
		uint64_t next = (uint64_t)(t / y);
		rest = (uint64_t)(t % y);
		ndigits = ndigits ? ndigits + n : decimal_ndigits(next);
		magnitude = magnitude * decimal_powers[n] + next;
		scale += n;
	}
	magnitude += rest > y - rest || (rest == y - rest && magnitude % 2 == 1);
	if (magnitude >= decimal_power(QUOTIENT_NDIGITS)) {
		magnitude /= 10;
		scale--;
	}
	*q = quotient_from_digits((a.significand < 0) != (b.significand < 0), magnitude, scale, rest != 0);
}

/* ---- text ---- */

static uint128 magnitude_of(const struct exact *q)
{
	return q->value < 0 ? -(uint128)q->value : (uint128)q->value;
}

size_t quotient_write(const struct exact *q, char text[QUOTIENT_TEXT_NBYTES])
{
	char *p = text;

	*p++ = QUOTIENT_MARK;
	*p = '-';
	p = decimal_write_u128(p + (q->value < 0), magnitude_of(q));
	*p++ = 'e';
	*p = '-';
	p = decimal_write_u64(p + (q->scale > 0), (uint64_t)(q->scale > 0 ? q->scale : -q->scale));
	*p = '\0';
	return (size_t)(p - text);
}

bool quotient_parse(const char *text, size_t nbytes, struct exact *q)
{
	const char *p = text + 1, *end = text + nbytes;
	const bool negative = nbytes > 1 && *p == '-';
	uint128 magnitude = 0;
	int64_t exponent = 0;
	int ndigits = 0, n;

	if (nbytes < 2 || *text != QUOTIENT_MARK)
		return false;
	p += negative;
	do { /* as many digits as 64 bits hold */
		uint64_t x = 0;
		for (n = 0; n < STEP_NDIGITS && ndigits + n < QUOTIENT_NDIGITS && p < end && decimal_is_digit(*p); n++)
			x = x * 10 + (uint64_t)(*p++ - '0');
		magnitude = magnitude * decimal_powers[n] + x;
		ndigits += n;
	} while (n == STEP_NDIGITS);
	if (ndigits == 0 || p == end || *p != 'e' || decimal_exponent(p, end, &exponent) != end ||
	    exponent < -EXACT_SCALE_MAX || exponent > EXACT_SCALE_MAX)
		return false;
	*q = (struct exact){.value = negative ? -(int128)magnitude : (int128)magnitude, .scale = (int)-exponent, .is_rounded = true};
	return decimal_ndigits(magnitude) - q->scale <= EXACT_MAGNITUDE_MAX;
}

size_t quotient_format(const struct exact *q, char *text)
{
	int surplus = decimal_ndigits(magnitude_of(q)) - RATIO_NDIGITS;

	surplus = surplus < EXACT_NDOUBTFUL ? EXACT_NDOUBTFUL : surplus;
	return ratio_format_short(q->value < 0, decimal_round_off(magnitude_of(q), surplus, false), 1, q->scale - surplus, text);
}

/* ---- short sums ---- */

static void words_set(unsigned long words[QUOTIENT_NWORDS], int128 x)
{
	words[0] = (unsigned long)x;
	words[1] = (unsigned long)(x >> 64);
	words[2] = x < 0 ? ~0ul : 0;
}

struct quotient_fold quotient_fold_of(const struct exact *q)
{
	struct quotient_fold one = {.count = 1, .scale = q->scale, .least_scale = q->scale};

	for (int i = 0; i < QUOTIENT_NSUMS; i++)
		words_set(one.sums[i], q->value);
	return one;
}

struct quotient_fold quotient_fold_of_plain(uint64_t count, int scale, int64_t sum, int64_t least, int64_t greatest)
{
	struct quotient_fold fold = {.count = count, .scale = scale, .least_scale = QUOTIENT_SCALE_NONE};

	words_set(fold.sums[QUOTIENT_SUM], sum);
	words_set(fold.sums[QUOTIENT_MIN], least);
	words_set(fold.sums[QUOTIENT_MAX], greatest);
	return fold;
}

/* Gives the numbers a scale that is not smaller than theirs; false where that does not fit. */
static bool set_scale(struct quotient_fold *f, int scale)
{
	const int nzeros = scale - f->scale;
	struct integer x;

	f->scale = scale;
	for (int i = 0; nzeros > 0 && i < QUOTIENT_NSUMS; i++) {
		integer_set_words(&x, f->sums[i], QUOTIENT_NWORDS);
		if (x.nlimbs && nzeros > QUOTIENT_NWORDS * DECIMAL_POWER_MAX)
			return false;
		integer_shift(&x, nzeros);
		if (!integer_to_words(&x, f->sums[i], QUOTIENT_NWORDS))
			return false;
	}
	return true;
}

static bool is_negative(const unsigned long words[QUOTIENT_NWORDS])
{
	return words[QUOTIENT_NWORDS - 1] >> 63;
}

static bool is_less(const unsigned long a[QUOTIENT_NWORDS], const unsigned long b[QUOTIENT_NWORDS])
{
	return is_negative(a) != is_negative(b) ? is_negative(a) : mpn_cmp(a, b, QUOTIENT_NWORDS) < 0;
}

bool quotient_fold_add(struct quotient_fold *f, const struct quotient_fold *later)
{
	const int scale = f->scale > later->scale ? f->scale : later->scale;
	struct quotient_fold all = *f, other = *later;
	unsigned long *sum = all.sums[QUOTIENT_SUM];
	bool negative;

	if (f->count == 0 || later->count == 0) {
		*f = f->count ? *f : *later;
		return true;
	}
	if (!set_scale(&all, scale) || !set_scale(&other, scale))
		return false;
	negative = is_negative(sum);
	mpn_add_n(sum, sum, other.sums[QUOTIENT_SUM], QUOTIENT_NWORDS);
	if (negative == is_negative(other.sums[QUOTIENT_SUM]) && negative != is_negative(sum))
		return false;
	if (is_less(other.sums[QUOTIENT_MIN], all.sums[QUOTIENT_MIN]))
		memcpy(all.sums[QUOTIENT_MIN], other.sums[QUOTIENT_MIN], sizeof *all.sums);
	if (is_less(all.sums[QUOTIENT_MAX], other.sums[QUOTIENT_MAX]))
		memcpy(all.sums[QUOTIENT_MAX], other.sums[QUOTIENT_MAX], sizeof *all.sums);
	all.count += other.count;
	all.least_scale = other.least_scale < all.least_scale ? other.least_scale : all.least_scale;
	*f = all;
	return true;
}

size_t quotient_format_sum(struct integer *x, int scale, bool has_rest, int places, char *text)
{
	int surplus;

	if (scale > places) {
		integer_round(x, scale - places, has_rest);
		scale = places;
		has_rest = false;
	}
	surplus = integer_ndigits(x) - RATIO_NDIGITS;
	if (surplus > 0) {
		integer_round(x, surplus, has_rest);
		scale -= surplus;
	}
	return ratio_format_short(x->negative, integer_low(x), 1, scale, text);
}

char *quotient_fold_write(const unsigned long number[QUOTIENT_NWORDS], int scale, uint64_t divisor, int places, char *to)
{
	struct integer x;
	bool has_rest;

	integer_set_words(&x, number, QUOTIENT_NWORDS);
	has_rest = integer_divide_short(&x, divisor) != 0;
	return to + quotient_format_sum(&x, scale, has_rest, places, to);
}
