/* SPDX-License-Identifier: MIT
 *
 * decimal.h - exact decimals: one field's number, and the fold of a column.
 *
 * A number is significand x 10^-scale, exactly as written: 1.50 is 150 x 10^-2,
 * 1.5e-2 is 15 x 10^-3, 1e3 is 1000 x 10^0. Nothing here is floating point.
 *
 * The fast path holds up to 18 significant digits at scale 0 to 31. Adding such
 * numbers at a common scale would need rescaling and overflow checks at every
 * addition. Instead a column keeps one bin for each scale: a 128-bit sum, a minimum
 * and a maximum of the significands written with that scale. 10^18 < 2^60, so a bin
 * holds 2^67 values before its sum could overflow, more than any column has: the
 * inner loop is one add, exact by construction, and combining two folds is plain
 * addition of bins. The bins are added up only once a fold, in numbers.h. Numbers that do not
 * fit here are added as struct exact (exact.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/hd.h"

#define DECIMAL_NDIGITS 18 /* significant digits the fast path holds: fits int64 */
#define DECIMAL_NSCALES 32 /* scales 0 to 31 have a bin */

enum decimal_kind {
	DECIMAL_NUMBER,  /* parsed: *out is set */
	DECIMAL_MISSING, /* empty, or blanks only */
	DECIMAL_WIDE,    /* a number the fast path cannot hold: see exact.h */
	DECIMAL_INVALID, /* not a number */
};

struct decimal {
	int64_t significand;
	int32_t scale; /* 0 .. DECIMAL_NSCALES - 1 */
};

HD int decimal_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

HD int decimal_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Drops the blanks around text[0 .. *nbytes); returns where the rest begins. */
HD const char *decimal_trim(const char *text, size_t *nbytes)
{
	const char *end = text + *nbytes;
	while (text < end && decimal_is_blank(*text))
		text++;
	while (text < end && decimal_is_blank(end[-1]))
		end--;
	*nbytes = (size_t)(end - text);
	return text;
}

/* The parts of a number's text, before it is decided whether the fast path holds it. */
struct decimal_syntax {
	uint64_t significand; /* of the leading DECIMAL_NDIGITS significant digits */
	int64_t ndigits;      /* significant digits: from the first that is not 0 */
	int64_t nfraction;    /* digits after the point */
	int64_t exponent;     /* as written, held within +-DECIMAL_EXPONENT_LIMIT */
	int negative;
};
#define DECIMAL_EXPONENT_LIMIT ((int64_t)1 << 40)

/* Reads a run of digits into syntax; returns where it ends. */
HD const char *decimal_digits(const char *p, const char *end, struct decimal_syntax *s)
{
	for (; p < end && decimal_is_digit(*p); p++) {
		unsigned digit = (unsigned)(*p - '0');
		if (s->ndigits == 0 && digit == 0)
			continue; /* a leading zero carries no information */
		if (s->ndigits < DECIMAL_NDIGITS)
			s->significand = s->significand * 10 + digit;
		s->ndigits++;
	}
	return p;
}

/* Reads e[+-]digits at p; returns its end, or NULL where it is malformed. */
HD const char *decimal_exponent(const char *p, const char *end, int64_t *exponent)
{
	int negative = 0;
	p++;
	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p == end || !decimal_is_digit(*p))
		return NULL;
	for (; p < end && decimal_is_digit(*p); p++)
		if (*exponent < DECIMAL_EXPONENT_LIMIT)
			*exponent = *exponent * 10 + (*p - '0');
	if (negative)
		*exponent = -*exponent;
	return p;
}

/* Checks text[0 .. nbytes), without blanks around it, against
 * [+-]digits[.digits][e[+-]digits], where one side of the point may be empty.
 * Returns 1 and fills s, or 0 where it is no number. */
HD int decimal_tokenize(const char *text, size_t nbytes, struct decimal_syntax *s)
{
	const char *p = text, *end = text + nbytes, *begin;
	int64_t ninteger;

	s->significand = 0;
	s->ndigits = s->nfraction = s->exponent = 0;
	s->negative = 0;
	if (p < end && (*p == '+' || *p == '-'))
		s->negative = *p++ == '-';
	begin = p;
	p = decimal_digits(p, end, s);
	ninteger = p - begin;
	if (p < end && *p == '.') {
		begin = ++p;
		p = decimal_digits(p, end, s);
		s->nfraction = p - begin;
	}
	if (ninteger + s->nfraction == 0)
		return 0;
	if (p < end && (*p == 'e' || *p == 'E'))
		p = decimal_exponent(p, end, &s->exponent);
	return p == end;
}

/* Multiplies the significand by 10^nzeros, for a number written with an exponent. */
HD int64_t decimal_shift(int64_t significand, int64_t nzeros)
{
	for (; nzeros > 0; nzeros--)
		significand *= 10;
	return significand;
}

/* Parses one field's text, quotes already removed.
 * text: nbytes bytes, no terminator needed; blanks around the number are trimmed.
 * Returns DECIMAL_NUMBER and sets *out, or another kind and leaves *out unchanged. */
HD enum decimal_kind decimal_parse(const char *text, size_t nbytes, struct decimal *out)
{
	struct decimal_syntax s;
	int64_t scale, nzeros;

	text = decimal_trim(text, &nbytes);
	if (nbytes == 0)
		return DECIMAL_MISSING;
	if (!decimal_tokenize(text, nbytes, &s))
		return DECIMAL_INVALID;
	scale = s.nfraction - s.exponent;
	nzeros = scale < 0 && s.ndigits > 0 ? -scale : 0;
	scale = scale < 0 ? 0 : scale;
	if (s.ndigits + nzeros > DECIMAL_NDIGITS || scale >= DECIMAL_NSCALES)
		return DECIMAL_WIDE;
	out->significand = decimal_shift((int64_t)s.significand, nzeros);
	if (s.negative)
		out->significand = -out->significand;
	out->scale = (int32_t)scale;
	return DECIMAL_NUMBER;
}

/* ---- one number at a column's scale: what running totals are made of ---- */

#define DECIMAL_INT128_MAX ((int128)(~(uint128)0 >> 1))

/* Multiplies *x by 10^nzeros, nzeros >= 0. Returns 0 where that does not fit, *x then
 * being undefined. */
HD int decimal_rescale(int128 *x, int nzeros)
{
	for (; nzeros > 0 && *x != 0; nzeros--) {
		if (*x > DECIMAL_INT128_MAX / 10 || *x < -(DECIMAL_INT128_MAX / 10))
			return 0;
		*x *= 10;
	}
	return 1;
}

/* Longest text of decimal_format: sign, 39 digits or a 0 and 399 more, point. */
#define DECIMAL_TEXT_NBYTES 448

/* Writes significand x 10^-scale in plain decimal with just `scale` digits after the point,
 * 0 <= scale <= 400, as exact_write does. No terminator. Returns the length. */
HD size_t decimal_format(int128 significand, int scale, char *text)
{
	uint128 left = significand < 0 ? -(uint128)significand : (uint128)significand;
	char reversed[DECIMAL_TEXT_NBYTES];
	size_t n = 0, length = 0;
	int ndigits = 0;

	while (left != 0 || ndigits <= scale) {
		uint64_t low = (uint64_t)(left % 1000000000000000000u);
		int i;
		left /= 1000000000000000000u;
		for (i = 0; i < 18 && (left != 0 || low != 0 || ndigits <= scale); i++) {
			if (ndigits == scale && scale > 0)
				reversed[n++] = '.';
			reversed[n++] = (char)('0' + low % 10);
			low /= 10;
			ndigits++;
		}
	}
	if (significand < 0)
		text[length++] = '-';
	while (n > 0)
		text[length++] = reversed[--n];
	return length;
}

/* All significands written with one scale. */
struct decimal_bin {
	int128 sum;
	int64_t min, max;
};

/* A fold of fast-path numbers. Bin s is defined only where bit s of scales is set, so that
 * clearing and combining cost what is used, not 1 KiB. Inner loops fold into it; columns keep
 * struct numbers (numbers.h). */
struct decimal_fold {
	uint64_t count;
	uint32_t scales;
	struct decimal_bin bin[DECIMAL_NSCALES];
};

/* The identity of decimal_fold_combine. */
HD void decimal_fold_clear(struct decimal_fold *f)
{
	f->count = 0;
	f->scales = 0;
}

/* bin becomes the fold of bin's significands followed by later's. */
HD void decimal_bin_combine(struct decimal_bin *bin, const struct decimal_bin *later)
{
	bin->sum += later->sum;
	bin->min = later->min < bin->min ? later->min : bin->min;
	bin->max = later->max > bin->max ? later->max : bin->max;
}

/* Folds bin `later` of scale s into f. */
HD void decimal_fold_add_bin(struct decimal_fold *f, int s, const struct decimal_bin *later)
{
	struct decimal_bin *bin = &f->bin[s];
	if (!(f->scales >> s & 1)) {
		f->scales |= (uint32_t)1 << s;
		*bin = *later;
		return;
	}
	decimal_bin_combine(bin, later);
}

/* Folds one number into f. */
HD void decimal_fold_add(struct decimal_fold *f, struct decimal x)
{
	struct decimal_bin one;
	one.sum = x.significand;
	one.min = one.max = x.significand;
	decimal_fold_add_bin(f, x.scale, &one);
	f->count++;
}

/* f becomes the fold of f's numbers followed by `later`'s. Associative; and, the
 * sums being exact, the order of operands does not show. */
HD void decimal_fold_combine(struct decimal_fold *f, const struct decimal_fold *later)
{
	int s;
	for (s = 0; s < DECIMAL_NSCALES; s++)
		if (later->scales >> s & 1)
			decimal_fold_add_bin(f, s, &later->bin[s]);
	f->count += later->count;
}
