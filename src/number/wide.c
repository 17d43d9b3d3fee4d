/* SPDX-License-Identifier: MIT
 *
 * wide.c - the decimal superaccumulator. See wide.h.
 */
#include "number/wide.h"

#include <string.h>

#include "number/natural.h"

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

/* x = significand x 10^-scale */
static void set_decimal(struct wide *x, int128 significand, int scale)
{
	int digit = POINT_DIGITS - scale, limb = digit / WIDE_LIMB_DIGITS;
	int32_t unit;

	wide_clear(x);
	if (significand == 0)
		return;
	unit = power_of_ten[digit % WIDE_LIMB_DIGITS]; /* 1 in the lowest limb */
	for (; significand; unit = 1) {
		int32_t base = WIDE_LIMB_BASE / unit;
		x->limb[limb++] = (int64_t)(significand % base) * unit;
		significand /= base;
	}
}

void wide_add_decimal(struct wide *x, int128 significand, int scale)
{
	struct wide y;

	set_decimal(&y, significand, scale);
	wide_add(x, &y);
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

	if (wide_scale_is_rounded(scale))
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

int wide_magnitude(const struct wide *x)
{
	int top = WIDE_NLIMBS - 1, magnitude;
	int64_t limb;

	while (top > 0 && x->limb[top] == 0)
		top--;
	magnitude = (top - WIDE_POINT) * WIDE_LIMB_DIGITS;
	for (limb = x->limb[top]; limb != 0; limb /= 10)
		magnitude++;
	return magnitude;
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

static enum status parse_quotient(const char *text, size_t nbytes, struct wide *x, int *scale)
{
	struct quotient q;

	if (!quotient_parse(text, nbytes, &q))
		return STATUS_NOT_A_NUMBER;
	set_decimal(x, q.negative ? -(int128)q.magnitude : (int128)q.magnitude, q.scale);
	*scale = WIDE_SCALE_ROUNDED - q.scale;
	return STATUS_OK;
}

enum status wide_parse(const char *text, size_t nbytes, struct wide *x, int *scale)
{
	struct decimal_syntax s;
	const char *begin, *end;
	int64_t wanted;

	if (nbytes && *text == QUOTIENT_MARK)
		return parse_quotient(text, nbytes, x, scale);
	text = decimal_trim(text, &nbytes);
	if (!decimal_tokenize(text, nbytes, &s))
		return STATUS_NOT_A_NUMBER;
	wanted = s.nfraction - s.exponent;
	if (wanted > WIDE_SCALE_MAX || (s.ndigits && s.ndigits - wanted > WIDE_MAGNITUDE_MAX))
		return STATUS_OUT_OF_RANGE;
	wide_clear(x);
	*scale = wanted < 0 ? 0 : (int)wanted;
	if (s.ndigits == 0)
		return STATUS_OK;
	begin = end = text + (*text == '-' || *text == '+');
	while (end < text + nbytes && (decimal_is_digit(*end) || *end == '.'))
		end++;
	while (*begin == '0' || *begin == '.')
		begin++;
	add_digits(x, begin, end, (int)(POINT_DIGITS - wanted), s.negative ? -1 : 1); /* each in its place */
	return STATUS_OK;
}

/* ---- text ---- */

/* The number as its sign and its decimal digits, least significant first. */
struct digits {
	int negative;
	int ndigits; /* up to the highest that is not 0 */
	unsigned char digit[TOTAL_DIGITS];
};

static void to_digits(const struct wide *x, struct digits *d)
{
	d->negative = d->ndigits = 0;
	for (int i = 0; i < WIDE_NLIMBS; i++) {
		int64_t limb = x->limb[i];
		if (limb < 0) {
			d->negative = 1;
			limb = -limb;
		}
		for (int j = i * WIDE_LIMB_DIGITS; j < (i + 1) * WIDE_LIMB_DIGITS; j++) {
			d->digit[j] = (unsigned char)(limb % 10);
			limb /= 10;
			if (d->digit[j])
				d->ndigits = j + 1;
		}
	}
}

/* Writes the digits with the point above digit[point], fraction digits kept to scale. */
static size_t write_digits(const struct digits *d, int point, int scale, char *text)
{
	char *p = text;
	int top = d->ndigits > point ? d->ndigits - 1 : point;

	if (d->negative)
		*p++ = '-';
	for (int i = top; i >= point - scale; i--) {
		if (i == point - 1)
			*p++ = '.';
		*p++ = (char)('0' + d->digit[i]);
	}
	*p = '\0';
	return (size_t)(p - text);
}

/* Rounds to 10^(cut - POINT_DIGITS), half-even: no digit below digit[cut] is left. */
static void round_digits(struct digits *d, int cut)
{
	bool is_up = false, rest = false;
	int i;

	if (cut <= 0)
		return;
	if (cut > TOTAL_DIGITS) {
		d->ndigits = 0;
		return;
	}
	for (i = 0; i < cut - 1; i++)
		rest |= d->digit[i] != 0;
	if (d->digit[i] >= 5)
		is_up = d->digit[i] > 5 || rest || (cut < TOTAL_DIGITS && d->digit[cut] % 2 == 1);
	memset(d->digit, 0, (size_t)cut);
	for (i = cut; is_up && i < TOTAL_DIGITS; i++) {
		is_up = d->digit[i] == 9;
		d->digit[i] = is_up ? 0 : (unsigned char)(d->digit[i] + 1);
	}
	for (d->ndigits = TOTAL_DIGITS; d->ndigits > 0 && d->digit[d->ndigits - 1] == 0;)
		d->ndigits--;
}

/* Rounds half-even to places digits after the point, and then to ndigits significant ones. */
static void round_wide(struct wide *x, int places, int ndigits)
{
	struct digits d;

	to_digits(x, &d);
	round_digits(&d, POINT_DIGITS - places);
	round_digits(&d, d.ndigits - ndigits);
	wide_clear(x);
	for (int i = 0; i < d.ndigits; i++)
		add_piece(x, d.negative ? -d.digit[i] : d.digit[i], i);
}

void wide_settle(struct wide *x, int scale)
{
	if (wide_scale_is_rounded(scale))
		round_wide(x, wide_sum_places(scale, 1), RATIO_NDIGITS);
}

/* x /= n > 0, towards 0. */
static void divide(struct wide *x, uint64_t n)
{
	int128 rest = 0;

	for (int i = WIDE_NLIMBS; i-- > 0;) {
		rest = rest * WIDE_LIMB_BASE + x->limb[i];
		x->limb[i] = (int64_t)(rest / n);
		rest -= (int128)x->limb[i] * n;
	}
}

/* Writes the digits of a rounded number. */
static size_t write_rounded(struct digits *d, char *text)
{
	int low = 0;

	round_digits(d, d->ndigits - RATIO_NDIGITS);
	d->negative &= d->ndigits > 0;
	while (low < POINT_DIGITS && d->digit[low] == 0)
		low++;
	return write_digits(d, POINT_DIGITS, POINT_DIGITS - low, text);
}

size_t wide_format_sum(const struct wide *sum, int scale, uint64_t count, char text[WIDE_TEXT_NBYTES])
{
	struct wide settled;

	if (!wide_scale_is_rounded(scale))
		return wide_format(sum, scale, text);
	settled = *sum;
	round_wide(&settled, wide_sum_places(scale, count), TOTAL_DIGITS);
	return wide_format(&settled, scale, text);
}

size_t wide_format_mean(const struct wide *sum, int scale, uint64_t count, char text[WIDE_TEXT_NBYTES])
{
	struct wide mean = *sum;
	struct natural numerator, denominator;
	bool negative;

	if (!wide_scale_is_rounded(scale)) {
		negative = natural_set_limbs(&numerator, sum->limb, WIDE_NLIMBS);
		natural_set(&denominator, count);
		return ratio_format(negative, &numerator, &denominator, WIDE_POINT * WIDE_LIMB_DIGITS, text);
	}
	divide(&mean, count);
	return wide_format_sum(&mean, scale, count, text);
}

size_t wide_format(const struct wide *x, int scale, char text[WIDE_TEXT_NBYTES])
{
	struct digits d;
	int128 value;
	size_t nbytes;

	if (wide_scale_is_rounded(scale)) {
		to_digits(x, &d);
		return write_rounded(&d, text);
	}

	if (wide_to_int128(x, scale, &value)) { /* several times as fast */
		nbytes = decimal_format(value, scale, text);
		text[nbytes] = '\0';
		return nbytes;
	}
	to_digits(x, &d);
	return write_digits(&d, POINT_DIGITS, scale, text);
}

/* ---- fold ---- */

void wide_fold_add(struct wide_fold *f, const struct wide *x, int scale)
{
	if (f->count++ == 0) {
		f->scale = scale;
		f->sum = f->min = f->max = *x;
		return;
	}
	f->scale = scale > f->scale ? scale : f->scale;
	wide_add(&f->sum, x);
	if (wide_compare(x, &f->min) < 0)
		f->min = *x;
	else if (wide_compare(x, &f->max) > 0)
		f->max = *x;
}

void wide_fold_combine(struct wide_fold *f, const struct wide_fold *later)
{
	if (later->count == 0)
		return;
	if (f->count == 0) {
		*f = *later;
		return;
	}
	f->count += later->count;
	f->scale = later->scale > f->scale ? later->scale : f->scale;
	wide_add(&f->sum, &later->sum);
	if (wide_compare(&later->min, &f->min) < 0)
		f->min = later->min;
	if (wide_compare(&later->max, &f->max) > 0)
		f->max = later->max;
}

/* Makes a bin a wide fold. A bin does not know its count: 1 stands for it, and the caller sets the
 * true one. */
static void from_bin(struct wide_fold *f, const struct decimal_bin *bin, int scale)
{
	f->count = 1;
	f->scale = scale;
	set_decimal(&f->sum, bin->sum, scale);
	set_decimal(&f->min, bin->min, scale);
	set_decimal(&f->max, bin->max, scale);
}

void wide_fold_add_bins(struct wide_fold *f, const struct by_scale *fast)
{
	const union scale_value *value = by_scale_values(fast);
	uint64_t count = f->count + fast->count;
	struct wide_fold one;

	for (uint32_t left = fast->scales; left; left &= left - 1) {
		from_bin(&one, &value++->bin, __builtin_ctz(left));
		wide_fold_combine(f, &one);
	}
	f->count = count;
}
