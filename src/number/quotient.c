/* SPDX-License-Identifier: MIT
 *
 * quotient.c - see quotient.h.
 *
 * Long division, many digits a step: what remains of a step is less than the divisor, which has up to 18
 * digits, so that 18 more digits of the quotient come of one division of 128 bits.
 */
#include "number/quotient.h"

#include "number/by_scale.h"
#include "number/decimal_text.h"
#include "number/ratio.h"

#define STEP_NDIGITS 18
#define PLACES_MAX 400 /* of wide.h: digits before the point, and after it */

void quotient_finish(struct quotient *q, bool has_rest)
{
	int nzeros;

	if (!has_rest)
		q->scale -= decimal_trim_zeros(&q->magnitude);
	q->is_rounded = has_rest || q->magnitude >= decimal_powers[RATIO_NDIGITS];
	nzeros = QUOTIENT_NDIGITS - decimal_ndigits(q->magnitude);
	if (q->magnitude == 0)
		q->scale = nzeros = 0;
	else if (!q->is_rounded)
		nzeros = q->scale < 0 && -q->scale <= nzeros ? -q->scale : 0;
	q->magnitude *= decimal_power(nzeros);
	q->scale += nzeros;
}

/* Rounds up where the rest is more than half of the divisor, or half of it and q is odd. */
static void round_half_even(struct quotient *q, uint64_t rest, uint64_t divisor)
{
	uint64_t other = divisor - rest;

	q->magnitude += rest > other || (rest == other && q->magnitude % 2 == 1);
	if (q->magnitude < decimal_power(QUOTIENT_NDIGITS))
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
	ndigits = decimal_ndigits(q->magnitude);
	while (rest && ndigits < QUOTIENT_NDIGITS) {
		int n = QUOTIENT_NDIGITS - ndigits < STEP_NDIGITS ? QUOTIENT_NDIGITS - ndigits
								 : STEP_NDIGITS;
		uint128 t = (uint128)rest * decimal_powers[n];
		uint64_t next = (uint64_t)(t / y);
		rest = (uint64_t)(t % y);
		ndigits = ndigits ? ndigits + n : decimal_ndigits(next);
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
	return decimal_ndigits(q->magnitude) - q->scale <= PLACES_MAX;
}

size_t quotient_format(const struct quotient *q, char *text)
{
	int surplus = decimal_ndigits(q->magnitude) - RATIO_NDIGITS;

	surplus = surplus < QUOTIENT_NDOUBTFUL ? QUOTIENT_NDOUBTFUL : surplus;
	return ratio_format_short(q->negative, decimal_round_off(q->magnitude, surplus, false), 1, q->scale - surplus, text);
}

/* ---- short sums ---- */

static struct sum192 words_get(const uint64_t words[3])
{
	return (struct sum192){(uint128)words[1] << 64 | words[0], words[2]};
}

static void words_set(uint64_t words[3], struct sum192 x)
{
	words[0] = (uint64_t)x.low;
	words[1] = (uint64_t)(x.low >> 64);
	words[2] = x.high;
}

struct quotient_fold quotient_fold_of(const struct quotient *q)
{
	const struct sum192 x = sum192_of(q->negative ? -(int128)q->magnitude : (int128)q->magnitude);
	struct quotient_fold one = {.count = 1, .scale = q->scale, .least_scale = q->scale};

	words_set(one.sum, x);
	words_set(one.extremes[0], x);
	words_set(one.extremes[1], x);
	return one;
}

struct quotient_fold quotient_fold_of_plain(uint64_t count, int scale, int64_t sum, int64_t least, int64_t greatest)
{
	struct quotient_fold fold = {.count = count, .scale = scale, .least_scale = QUOTIENT_SCALE_NONE};

	words_set(fold.sum, sum192_of(sum));
	words_set(fold.extremes[0], sum192_of(least));
	words_set(fold.extremes[1], sum192_of(greatest));
	return fold;
}

/* Multiplies by 10^nzeros; false where that does not fit. */
static bool lengthen(uint64_t words[3], int nzeros)
{
	struct sum192 x = words_get(words);
	const bool negative = sum192_is_negative(x);

	x = negative ? sum192_negated(x) : x;
	if (x.low == 0 && x.high == 0)
		return true;
	for (int n; nzeros > 0; nzeros -= n) {
		uint128 low, middle, high;
		n = nzeros < STEP_NDIGITS ? nzeros : STEP_NDIGITS;
		low = (uint128)(uint64_t)x.low * decimal_powers[n];
		middle = (x.low >> 64) * decimal_powers[n] + (low >> 64);
		high = (uint128)x.high * decimal_powers[n] + (middle >> 64);
		if (high >> 63)
			return false;
		x = (struct sum192){middle << 64 | (uint64_t)low, (uint64_t)high};
	}
	words_set(words, negative ? sum192_negated(x) : x);
	return true;
}

static bool set_scale(struct quotient_fold *f, int scale)
{
	const int nzeros = scale - f->scale;

	f->scale = scale;
	return lengthen(f->sum, nzeros) && lengthen(f->extremes[0], nzeros) && lengthen(f->extremes[1], nzeros);
}

static bool is_less(const uint64_t a[3], const uint64_t b[3])
{
	struct sum192 x = words_get(a), y = words_get(b);

	return x.high != y.high ? (int64_t)x.high < (int64_t)y.high : x.low < y.low;
}

bool quotient_fold_add(struct quotient_fold *f, const struct quotient_fold *later)
{
	struct quotient_fold sum = *f, other = *later;
	struct sum192 x;
	bool negative;

	if (f->count == 0 || later->count == 0) {
		*f = f->count ? *f : *later;
		return true;
	}
	if ((sum.scale < other.scale && !set_scale(&sum, other.scale)) || (other.scale < sum.scale && !set_scale(&other, sum.scale)))
		return false;
	x = words_get(sum.sum);
	negative = sum192_is_negative(x);
	sum192_add(&x, words_get(other.sum));
	if (negative == sum192_is_negative(words_get(other.sum)) && negative != sum192_is_negative(x))
		return false;
	words_set(sum.sum, x);
	if (is_less(other.extremes[0], sum.extremes[0]))
		words_set(sum.extremes[0], words_get(other.extremes[0]));
	if (is_less(sum.extremes[1], other.extremes[1]))
		words_set(sum.extremes[1], words_get(other.extremes[1]));
	sum.count += other.count;
	sum.least_scale = other.least_scale < sum.least_scale ? other.least_scale : sum.least_scale;
	*f = sum;
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

char *quotient_fold_write(const uint64_t number[3], int scale, uint64_t divisor, int places, char *to)
{
	struct integer x;
	bool has_rest;

	integer_set_words(&x, number, 3);
	has_rest = integer_divide_short(&x, divisor) != 0;
	return to + quotient_format_sum(&x, scale, has_rest, places, to);
}
