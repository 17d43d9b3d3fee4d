/* SPDX-License-Identifier: MIT
 *
 * quotient.c - see quotient.h.
 *
 * Long division, many digits a step: what remains of a step is less than the divisor, of 64 bits, so that 19 more digits of the
 * quotient, which 64 bits hold as well, come of one division of 128 bits by 64.
 */
#include "number/quotient.h"

#include <gmp.h>
#include <string.h>

#include "number/decimal_text.h"
#include "number/ratio.h"
#include "number/shown.h"

#define STEP_NDIGITS DECIMAL_POWER_MAX

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

/* The next n digits of a quotient by y, of which *rest is less than y. */
static inline uint64_t next_digits(int n, uint64_t y, uint64_t *rest)
{
	return decimal_divide_step((uint128)*rest * decimal_powers[n], y, rest);
}

static void divide(struct exact *q, struct decimal a, struct decimal b)
{
	const bool negative = (a.significand ^ b.significand) < 0;
	const uint64_t x = a.significand < 0 ? -(uint64_t)a.significand : (uint64_t)a.significand;
	const uint64_t y = b.significand < 0 ? -(uint64_t)b.significand : (uint64_t)b.significand;
	const uint128 most = decimal_power(QUOTIENT_NDIGITS);
	uint64_t rest = x % y, digits = x / y;
	int scale = a.scale - b.scale, n;
	uint128 magnitude;

	for (; __builtin_expect(digits == 0 && rest, 0); scale += STEP_NDIGITS)
		digits = next_digits(STEP_NDIGITS, y, &rest);
	magnitude = digits;
	if (rest) {
		n = QUOTIENT_NDIGITS - STEP_NDIGITS - decimal_ndigits_64(digits);
		magnitude = magnitude * decimal_powers[STEP_NDIGITS];
		magnitude += next_digits(STEP_NDIGITS, y, &rest);
		magnitude = magnitude * decimal_powers[n] + next_digits(n, y, &rest);
		scale += STEP_NDIGITS + n;
	}
	if (rest == 0) {
		*q = quotient_from_digits(negative, magnitude, scale, false);
		return;
	}
	magnitude += (rest > y - rest) | ((rest == y - rest) & (uint64_t)magnitude); /* no branch: nothing could foretell it */
	if (__builtin_expect(magnitude >> 64 == most >> 64, 0) && magnitude == most) {
		magnitude /= 10;
		scale--;
	}
	*q = (struct exact){.value = negative ? -(int128)magnitude : (int128)magnitude, .scale = scale, .is_rounded = true};
}

uint64_t quotient_divide_rows(struct exact *q, const int64_t *a, const uint8_t *a_scale, const int64_t *b, const uint8_t *b_scale, uint64_t rows)
{
	uint64_t rounded = 0;

	for (; rows; rows &= rows - 1) {
		const int row = __builtin_ctzll(rows);
		divide(&q[row], (struct decimal){a[row], a_scale[row]}, (struct decimal){b[row], b_scale[row]});
		rounded |= q[row].is_rounded ? rows & -rows : 0;
	}
	return rounded;
}

/* ---- text ---- */

size_t quotient_write(const struct exact *q, char text[QUOTIENT_TEXT_NBYTES])
{
	char *p = text;

	*p++ = QUOTIENT_MARK;
	*p = '-';
	p = decimal_write_u128(p + (q->value < 0), exact_small_magnitude(q));
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
		for (n = 0; n < DECIMAL_NDIGITS && ndigits + n < QUOTIENT_NDIGITS && p < end && decimal_is_digit(*p); n++)
			x = x * 10 + (uint64_t)(*p++ - '0');
		magnitude = magnitude * decimal_powers[n] + x;
		ndigits += n;
	} while (n == DECIMAL_NDIGITS);
	if (ndigits == 0 || p == end || *p != 'e' || decimal_exponent(p, end, &exponent) != end ||
	    exponent < -EXACT_SCALE_MAX || exponent > EXACT_SCALE_MAX)
		return false;
	*q = (struct exact){.value = negative ? -(int128)magnitude : (int128)magnitude, .scale = (int)-exponent, .is_rounded = true};
	return decimal_ndigits(magnitude) - q->scale <= EXACT_MAGNITUDE_MAX;
}

size_t quotient_format(const struct exact *q, char *text)
{
	const uint128 magnitude = exact_small_magnitude(q);
	int surplus = QUOTIENT_NDIGITS - RATIO_NDIGITS;
	uint64_t high, low, s;

	if (number_style_nkept(number_shown) >= 0) /* all that are right */
		return ratio_write_digits(q->value < 0,
					  decimal_round_off(magnitude, EXACT_NDOUBTFUL, false),
					  q->scale - EXACT_NDOUBTFUL, text);
	if (magnitude >= decimal_power(QUOTIENT_NDIGITS - 1)) { /* usual, and faster in two steps of 64 bits: surplus is 2 + STEP_NDIGITS */
		high = decimal_divide_step(magnitude, decimal_powers[STEP_NDIGITS], &low);
		s = high / 100;
		high %= 100;
		s += high > 50 || (high == 50 && (low || s % 2 == 1));
	} else {
		surplus = decimal_ndigits(magnitude) - RATIO_NDIGITS;
		surplus = surplus < EXACT_NDOUBTFUL ? EXACT_NDOUBTFUL : surplus;
		s = (uint64_t)decimal_round_off(magnitude, surplus, false);
	}
	return ratio_format_short(q->value < 0, s, 1, q->scale - surplus, text);
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

static bool is_negative(const unsigned long words[QUOTIENT_NWORDS])
{
	return words[QUOTIENT_NWORDS - 1] >> 63;
}

/* Gives the numbers a scale that is not smaller than theirs; false where that does not fit. */
static bool set_scale(struct quotient_fold *f, int scale)
{
	const int nzeros = scale - f->scale;
	struct integer x;

	f->scale = scale;
	if (nzeros > 0 && nzeros <= STEP_NDIGITS) {
		for (int i = 0; i < QUOTIENT_NSUMS; i++) {
			const bool negative = is_negative(f->sums[i]);
			unsigned long carry;
			if (negative)
				mpn_neg(f->sums[i], f->sums[i], QUOTIENT_NWORDS);
			carry = mpn_mul_1(f->sums[i], f->sums[i], QUOTIENT_NWORDS, decimal_powers[nzeros]);
			if (carry || is_negative(f->sums[i]))
				return false;
			if (negative)
				mpn_neg(f->sums[i], f->sums[i], QUOTIENT_NWORDS);
		}
		return true;
	}
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

/* x x 10^nzeros, or false where that may not fit. */
static bool scale_up(unsigned long to[QUOTIENT_NWORDS], int128 x, int nzeros)
{
	const uint128 magnitude = x < 0 ? -(uint128)x : (uint128)x;
	const uint64_t power = decimal_powers[nzeros];
	const uint128 low = (uint128)(uint64_t)magnitude * power, high = (uint128)(uint64_t)(magnitude >> 64) * power + (uint64_t)(low >> 64);
	const unsigned long sign = x < 0 ? ~0ul : 0;

	if (high >> 127)
		return false;
	to[0] = (unsigned long)low ^ sign; /* a negative one: its complement, and 1 */
	to[1] = (unsigned long)high ^ sign;
	to[2] = (unsigned long)(high >> 64) ^ sign;
	if (sign && ++to[0] == 0 && ++to[1] == 0)
		to[2]++;
	return true;
}

bool quotient_fold_add_one(struct quotient_fold *f, const struct exact *q)
{
	const int nzeros = f->scale - q->scale;
	unsigned long x[QUOTIENT_NWORDS], sum[QUOTIENT_NWORDS];
	struct quotient_fold one;

	if (f->count == 0 || nzeros < 0 || nzeros > DECIMAL_NDIGITS || !scale_up(x, q->value, nzeros)) {
		one = quotient_fold_of(q);
		return quotient_fold_add(f, &one);
	}
	memcpy(sum, f->sums[QUOTIENT_SUM], sizeof sum);
	mpn_add_n(sum, sum, x, QUOTIENT_NWORDS);
	if (is_negative(f->sums[QUOTIENT_SUM]) == is_negative(x) && is_negative(x) != is_negative(sum))
		return false;
	memcpy(f->sums[QUOTIENT_SUM], sum, sizeof sum);
	if (is_less(x, f->sums[QUOTIENT_MIN]))
		memcpy(f->sums[QUOTIENT_MIN], x, sizeof x);
	if (is_less(f->sums[QUOTIENT_MAX], x))
		memcpy(f->sums[QUOTIENT_MAX], x, sizeof x);
	f->count++;
	f->least_scale = q->scale < f->least_scale ? q->scale : f->least_scale;
	return true;
}

/* The bin of a scale, which has an extreme. */
static inline struct quotient_bin *need_bin(struct quotient_bins *bins, int scale, int128 extreme)
{
	struct quotient_bin *bin = &bins->bin[scale];

	if (!(bins->scales >> scale & 1))
		*bin = (struct quotient_bin){.least = extreme, .greatest = extreme};
	bins->scales |= UINT64_C(1) << scale;
	return bin;
}

uint64_t quotient_bins_add(struct quotient_bins *bins, const struct exact *q, uint64_t rows)
{
	uint64_t left = 0;

	for (; rows; rows &= rows - 1) {
		const struct exact *x = &q[__builtin_ctzll(rows)];
		const int128 value = x->value;
		const unsigned scale = (unsigned)x->scale;
		struct quotient_bin *bin = &bins->bin[scale];
		if (__builtin_expect(scale >= 64 || !(bins->rounded >> scale & 1), 0)) {
			if (scale >= 64) {
				left |= rows & -rows;
				continue;
			}
			need_bin(bins, (int)scale, value);
			bins->rounded |= UINT64_C(1) << scale;
		}
		bins->count++;
		bin->low += (uint64_t)value;
		bin->high += (int64_t)(value >> 64);
		if (__builtin_expect(value < bin->least, 0))
			bin->least = value;
		if (__builtin_expect(bin->greatest < value, 0))
			bin->greatest = value;
	}
	return left;
}

void quotient_bins_add_plain(struct quotient_bins *bins, const struct decimal_fold *plain)
{
	bins->count += plain->count;
	for (uint32_t scales = plain->scales; scales; scales &= scales - 1) {
		const struct decimal_bin *x = &plain->bin[__builtin_ctz(scales)];
		struct quotient_bin *bin = need_bin(bins, __builtin_ctz(scales), x->min);
		bin->low += (uint64_t)x->sum;
		bin->high += (int64_t)(x->sum >> 64);
		bin->least = x->min < bin->least ? x->min : bin->least;
		bin->greatest = x->max > bin->greatest ? x->max : bin->greatest;
	}
}

struct quotient_fold quotient_bins_fold(const struct quotient_bins *bins, int scale)
{
	const uint128 low = bins->bin[scale].low;
	const int128 high = bins->bin[scale].high + (int128)(low >> 64);
	struct quotient_fold fold = {.scale = scale, .least_scale = bins->rounded >> scale & 1 ? scale : QUOTIENT_SCALE_NONE,
				     .sums[QUOTIENT_SUM] = {(unsigned long)low, (unsigned long)high, (unsigned long)(high >> 64)}};

	words_set(fold.sums[QUOTIENT_MIN], bins->bin[scale].least);
	words_set(fold.sums[QUOTIENT_MAX], bins->bin[scale].greatest);
	return fold;
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
