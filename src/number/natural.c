/* SPDX-License-Identifier: MIT
 *
 * natural.c - see natural.h. The rest of this comment derives the two ways to digits.
 *
 * Both first align: r/d x 10^exponent is the value, with r < d, so that all digits of the
 * result are behind the point and the first of them is not 0. Then r is multiplied up and
 * the digits are counted off by subtraction. No quotient is ever estimated: what is left
 * in r is exact, and it alone decides the rounding.
 *
 * Ratio: long division. For each digit r becomes 10 r, and the digit is the number of
 * times that d can be taken from it. r < d holds before and after. With s the 17 digits,
 * the rest of the value is r/d units of the last digit: it rounds by 2 r against d.
 *
 * Root: the sum of the first s odd numbers is s^2. With s the digits so far, r holds
 * (value x 10^2i) d - s^2 d for the first i digits, and counting s up by one takes
 * odd = (2 s + 1) d from r. For the next digit s becomes 10 s: r becomes 100 r, and 2 s d
 * becomes 10 times itself. At the end the root exceeds s + 1/2 where r > (s + 1/4) d: it
 * rounds by 4 r against 2 (2 s d) + d. They are equal where the root is exactly s + 1/2.
 * Source: F. Jarvis, "Square roots by subtraction", Mathematical Spectrum 37, 2005.
 *
 * The largest number is 100 r of the root's last digit: r < (2 s + 1) d and s < 10^16, so
 * it is below 10^19 d. d has at most 2 digits more than the longer operand: 21 digits in
 * all, which is where the 3 limbs of RATIO_NLIMBS come from.
 */
#include "number/natural.h"

#include <string.h>

#include "number/by_scale.h"
#include "number/decimal_text.h"

/* ---- integers ---- */

static void push_limb(struct natural *n, uint64_t limb)
{
	n->limb[n->nlimbs++] = (uint32_t)limb;
}

static void drop_high_zeros(struct natural *n)
{
	while (n->nlimbs > 0 && n->limb[n->nlimbs - 1] == 0)
		n->nlimbs--;
}

void natural_set(struct natural *n, uint128 value)
{
	for (n->nlimbs = 0; value; value /= NATURAL_LIMB_BASE)
		push_limb(n, (uint64_t)(value % NATURAL_LIMB_BASE));
}

bool natural_set_limbs(struct natural *n, const int64_t *limb, int nlimbs)
{
	bool negative = false;

	while (nlimbs > 0 && limb[nlimbs - 1] == 0)
		nlimbs--;
	n->nlimbs = nlimbs;
	for (int i = 0; i < nlimbs; i++) {
		negative |= limb[i] < 0;
		n->limb[i] = (uint32_t)(limb[i] < 0 ? -limb[i] : limb[i]);
	}
	return negative;
}

int natural_compare(const struct natural *a, const struct natural *b)
{
	if (a->nlimbs != b->nlimbs)
		return a->nlimbs < b->nlimbs ? -1 : 1;
	for (int i = a->nlimbs - 1; i >= 0; i--)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

void natural_add(struct natural *a, const struct natural *b)
{
	int nlimbs = b->nlimbs;
	uint32_t carry = 0;

	while (a->nlimbs < nlimbs)
		push_limb(a, 0);
	for (int i = 0; i < nlimbs || (carry && i < a->nlimbs); i++) {
		uint32_t limb = a->limb[i] + (i < nlimbs ? b->limb[i] : 0) + carry;
		carry = limb >= NATURAL_LIMB_BASE;
		a->limb[i] = limb - (carry ? NATURAL_LIMB_BASE : 0);
	}
	if (carry)
		push_limb(a, 1);
}

void natural_subtract(struct natural *a, const struct natural *b)
{
	int nlimbs = b->nlimbs;
	uint32_t borrow = 0;

	for (int i = 0; i < a->nlimbs && (i < nlimbs || borrow); i++) {
		uint32_t taken = (i < nlimbs ? b->limb[i] : 0) + borrow;
		borrow = a->limb[i] < taken;
		a->limb[i] += (borrow ? NATURAL_LIMB_BASE : 0) - taken;
	}
	drop_high_zeros(a);
}

void natural_multiply(struct natural *product, const struct natural *a, const struct natural *b)
{
	product->nlimbs = a->nlimbs + b->nlimbs;
	memset(product->limb, 0, (size_t)product->nlimbs * sizeof *product->limb);
	for (int i = 0; i < a->nlimbs; i++) {
		uint32_t *row = product->limb + i;
		uint64_t over = 0;
		if (a->limb[i] == 0)
			continue;
		for (int j = 0; j < b->nlimbs; j++) {
			over += row[j] + (uint64_t)a->limb[i] * b->limb[j];
			row[j] = (uint32_t)(over % NATURAL_LIMB_BASE);
			over /= NATURAL_LIMB_BASE;
		}
		row[b->nlimbs] = (uint32_t)over;
	}
	drop_high_zeros(product);
}

/* n *= factor, 0 < factor <= NATURAL_LIMB_BASE */
static void multiply_limb(struct natural *n, uint32_t factor)
{
	uint64_t over = 0;

	for (int i = 0; i < n->nlimbs; i++) {
		over += (uint64_t)n->limb[i] * factor;
		n->limb[i] = (uint32_t)(over % NATURAL_LIMB_BASE);
		over /= NATURAL_LIMB_BASE;
	}
	if (over)
		push_limb(n, over);
}

void natural_shift(struct natural *n, int ndigits)
{
	int nlimbs = ndigits / NATURAL_LIMB_DIGITS;
	uint32_t factor = 1;

	if (n->nlimbs == 0)
		return;
	if (nlimbs > 0) {
		memmove(n->limb + nlimbs, n->limb, (size_t)n->nlimbs * sizeof *n->limb);
		memset(n->limb, 0, (size_t)nlimbs * sizeof *n->limb);
		n->nlimbs += nlimbs;
	}
	for (ndigits %= NATURAL_LIMB_DIGITS; ndigits > 0; ndigits--)
		factor *= 10;
	if (factor > 1)
		multiply_limb(n, factor);
}

void sum192_add_to(struct natural *to, const struct sum192 *sum, int ndigits)
{
	struct natural high, two64, part;

	natural_set(&part, sum->high);
	natural_set(&two64, (uint128)1 << 64);
	natural_multiply(&high, &part, &two64);
	natural_multiply(&part, &high, &two64);
	natural_set(&high, sum->low);
	natural_add(&part, &high);
	natural_shift(&part, ndigits);
	natural_add(to, &part);
}

int natural_ndigits(const struct natural *n)
{
	int ndigits = (n->nlimbs - 1) * NATURAL_LIMB_DIGITS;

	if (n->nlimbs == 0)
		return 0;
	for (uint32_t top = n->limb[n->nlimbs - 1]; top; top /= 10)
		ndigits++;
	return ndigits;
}

/* copy = n without the zero limbs at its low end, n > 0 */
static void copy_significant(struct natural *copy, const struct natural *n)
{
	int low = 0;

	while (n->limb[low] == 0)
		low++;
	copy->nlimbs = n->nlimbs - low;
	memcpy(copy->limb, n->limb + low, (size_t)copy->nlimbs * sizeof *copy->limb);
}

/* ---- ratios ---- */

/* Sets r and d, 1/10^step <= r/d < 1, and returns an exponent, a multiple of step (1 or
 * 2), so that r/d x 10^exponent = p/q x 10^-scale. p, q > 0. */
static int align(struct natural *r, struct natural *d, const struct natural *p,
		 const struct natural *q, int scale, int step)
{
	int exponent = natural_ndigits(p) - natural_ndigits(q) - scale, longer;

	copy_significant(r, p);
	copy_significant(d, q);
	longer = natural_ndigits(r) - natural_ndigits(d);
	natural_shift(longer > 0 ? d : r, longer > 0 ? longer : -longer);
	if (exponent % step != 0) {
		natural_shift(d, 1);
		exponent++;
	}
	if (natural_compare(r, d) >= 0) {
		natural_shift(d, step);
		exponent += step;
	}
	return exponent;
}

/* s, or s + 1 where rest is more than bound, or equal to it and s is odd. */
static uint128 round_half_even(uint128 s, const struct natural *rest, const struct natural *bound)
{
	int order = natural_compare(rest, bound);

	return s + (order > 0 || (order == 0 && s % 2 == 1));
}

/* Four limbs are below 10^36 < 2^120. */
#define TOP_NLIMBS 4

/* What n has from limb `low` on. */
static uint128 top_of(const struct natural *n, int low)
{
	uint128 top = 0;

	for (int i = n->nlimbs - 1; i >= low; i--)
		top = top * NATURAL_LIMB_BASE + n->limb[i];
	return top;
}

/* The limbs of d that are not its highest. */
static int nlow_of(const struct natural *d)
{
	return d->nlimbs > TOP_NLIMBS ? d->nlimbs - TOP_NLIMBS : 0;
}

/* The first ndigits <= 17 digits of r/d as an integer, rounded, from the highest limbs of d and those of r above the others, by which
 * r/d is known to 24 digits. Returns false where these do not decide how it is rounded: seldom, if d is longer. */
static bool divide_top(const struct natural *r, const struct natural *d, int ndigits, uint64_t *s)
{
	const int low = nlow_of(d);
	const uint128 q = top_of(d, low), slack = low ? q / 100000 : 0;
	uint128 rest = top_of(r, low);

	if (rest >= q)
		return false;
	for (*s = 0; ndigits > 0; ndigits -= 2) {
		unsigned factor = ndigits > 1 ? 100 : 10;
		rest *= factor;
		*s = *s * factor + (uint64_t)(rest / q);
		rest %= q;
	}
	if (2 * rest <= q + slack && q <= 2 * rest + slack)
		return false;
	*s += 2 * rest > q;
	return true;
}

/* The first digits of r/d as an integer, rounded; r becomes twice the rest. */
static uint128 divide(struct natural *r, const struct natural *d, int ndigits)
{
	uint128 s = 0;

	for (int i = 0; i < ndigits; i++) {
		unsigned digit = 0;
		multiply_limb(r, 10);
		for (; natural_compare(r, d) >= 0; digit++)
			natural_subtract(r, d);
		s = s * 10 + digit;
	}
	natural_add(r, r);
	return round_half_even(s, r, d);
}

/* The integer part of x's root, by Newton's iteration from above. 0 < x < 2^126 */
static uint64_t integer_root(uint128 x)
{
	int nbits = x >> 64 ? 128 - __builtin_clzll((uint64_t)(x >> 64))
			    : 64 - __builtin_clzll((uint64_t)x);
	uint64_t root = UINT64_C(1) << (nbits + 1) / 2, next;

	for (;; root = next) {
		next = (uint64_t)((root + x / root) / 2);
		if (next >= root)
			return root;
	}
}

/* Does for take_root what divide_top does for divide: 10^34 r/d is known within 10^10, so that about one root of 10^6 is not
 * decided. Returns 0 for such a one. */
static uint64_t take_root_of_top(const struct natural *r, const struct natural *d)
{
	const int low = nlow_of(d);
	const uint128 slack = 10000000000, q = top_of(d, low);
	uint128 rest = top_of(r, low), whole = 0, middle;
	uint64_t s;

	if (rest >= q)
		return 0;
	for (int i = 0; i < RATIO_NDIGITS; i++) {
		rest *= 100;
		whole = whole * 100 + rest / q;
		rest %= q;
	}
	s = integer_root(whole);
	middle = (uint128)s * s + s;
	if (whole + slack > middle && middle + slack > whole)
		return 0;
	return s + (whole > middle);
}

/* The first 17 digits of the root of r/d as an integer, rounded; r is used up. */
static uint64_t take_root(struct natural *r, const struct natural *d)
{
	struct natural odd; /* (2 s + 1) d; between two digits 2 s d */
	uint64_t s = take_root_of_top(r, d);

	if (s)
		return s;
	odd.nlimbs = 0;
	for (int i = 0; i < RATIO_NDIGITS; i++) {
		multiply_limb(r, 100);
		multiply_limb(&odd, 10);
		natural_add(&odd, d);
		for (s *= 10; natural_compare(r, &odd) >= 0; s++) {
			natural_subtract(r, &odd);
			natural_add(&odd, d);
			natural_add(&odd, d);
		}
		natural_subtract(&odd, d);
	}
	multiply_limb(r, 4);
	natural_add(&odd, &odd);
	natural_add(&odd, d);
	return (uint64_t)round_half_even(s, r, &odd);
}

/* Drops zeros at the end, as many as behind the point. */
static void trim_zeros(uint64_t *significand, int *exponent)
{
	for (int n = 8; n > 0; n /= 2)
		for (; *exponent <= -n && *significand % decimal_powers[n] == 0 && *significand; *exponent += n)
			*significand /= decimal_powers[n];
}

/* Writes n zeros. Returns their end. */
static char *write_zeros(char *p, int n)
{
	if (n <= 0)
		return p;
	memset(p, '0', (size_t)n);
	return p + n;
}

/* Writes significand x 10^exponent as ratio_format() documents. 0 is never negative. */
static size_t write_plain(bool negative, uint64_t significand, int exponent, char *text)
{
	char digits[20 + DECIMAL_TEXT_SLACK], *p = text;
	int ndigits, nwhole;

	trim_zeros(&significand, &exponent);
	ndigits = (int)(decimal_write_u64(digits, significand) - digits);
	nwhole = exponent < 0 ? ndigits + exponent : ndigits; /* of the digits, those before the point */
	if (negative)
		*p++ = '-';
	if (nwhole > 0) {
		memcpy(p, digits, (size_t)nwhole);
		p = write_zeros(p + nwhole, exponent);
	} else {
		*p++ = '0';
		nwhole = 0;
	}
	if (exponent < 0) {
		*p++ = '.';
		p = write_zeros(p, -exponent - ndigits);
		memcpy(p, digits + nwhole, (size_t)(ndigits - nwhole));
		p += ndigits - nwhole;
	}
	*p = '\0';
	return (size_t)(p - text);
}

/* Writes r/d x 10^exponent, as align() sets them, in ndigits digits. */
static size_t write_ratio(bool negative, struct natural *r, const struct natural *d, int exponent, int ndigits, char *text)
{
	uint64_t s;

	if (ndigits <= 0)
		return write_plain(false, 0, 0, text);
	if (ndigits > RATIO_NDIGITS)
		ndigits = RATIO_NDIGITS;
	if (!divide_top(r, d, ndigits, &s))
		s = (uint64_t)divide(r, d, ndigits);
	return write_plain(negative, s, exponent - ndigits, text);
}

size_t ratio_format_known(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
			  int ndigits, char *text)
{
	struct natural r, d;
	int exponent;

	if (numerator->nlimbs == 0 || ndigits <= 0)
		return write_plain(false, 0, 0, text);
	exponent = align(&r, &d, numerator, denominator, scale, 1);
	return write_ratio(negative, &r, &d, exponent, ndigits, text);
}

size_t ratio_format_places(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
			   int places, char *text)
{
	struct natural r, d;
	int exponent;

	if (numerator->nlimbs == 0)
		return write_plain(false, 0, 0, text);
	exponent = align(&r, &d, numerator, denominator, scale, 1);
	return write_ratio(negative, &r, &d, exponent, places + exponent, text);
}

size_t ratio_format(bool negative, const struct natural *numerator,
		    const struct natural *denominator, int scale, char *text)
{
	return ratio_format_known(negative, numerator, denominator, scale, RATIO_NDIGITS, text);
}

bool ratio_digits(const struct natural *numerator, const struct natural *denominator, int scale,
		  int ndigits, uint128 *digits, int *exponent)
{
	struct natural r, d;
	uint128 limit = 1; /* 10^ndigits */

	for (int i = 0; i < ndigits; i++)
		limit *= 10;
	*exponent = align(&r, &d, numerator, denominator, scale, 1) - ndigits;
	*digits = divide(&r, &d, ndigits);
	if (*digits >= limit) { /* rounded up from nines */
		*digits /= 10;
		++*exponent;
	}
	return r.nlimbs > 0;
}

int ratio_magnitude(const struct natural *numerator, const struct natural *denominator, int scale)
{
	struct natural r, d;

	return align(&r, &d, numerator, denominator, scale, 1);
}

int ratio_sqrt_magnitude(const struct natural *numerator, const struct natural *denominator, int scale)
{
	struct natural r, d;

	return align(&r, &d, numerator, denominator, scale, 2) / 2;
}

/* Writes the root of r/d x 10^(2 exponent), as align() sets them, in ndigits digits. */
static size_t write_root(bool negative, struct natural *r, const struct natural *d, int exponent, int ndigits, char *text)
{
	uint64_t root, unit;

	if (ndigits <= 0)
		return write_plain(false, 0, 0, text);
	root = take_root(r, d);
	unit = ndigits < RATIO_NDIGITS ? decimal_powers[RATIO_NDIGITS - ndigits] : 1;
	return write_plain(negative, (root + unit / 2) / unit * unit, exponent - RATIO_NDIGITS, text);
}

size_t ratio_sqrt_format_known(const struct natural *numerator, const struct natural *denominator, int scale, int ndigits,
			       char *text)
{
	struct natural r, d;
	int exponent;

	if (numerator->nlimbs == 0 || ndigits <= 0)
		return write_plain(false, 0, 0, text);
	exponent = align(&r, &d, numerator, denominator, scale, 2) / 2;
	return write_root(false, &r, &d, exponent, ndigits, text);
}

size_t ratio_sqrt_format_places(bool negative, const struct natural *numerator, const struct natural *denominator, int scale,
				int places, char *text)
{
	struct natural r, d;
	int exponent;

	if (numerator->nlimbs == 0)
		return write_plain(false, 0, 0, text);
	exponent = align(&r, &d, numerator, denominator, scale, 2) / 2;
	return write_root(negative, &r, &d, exponent, places + exponent, text);
}

size_t ratio_sqrt_format(const struct natural *numerator, const struct natural *denominator,
			 int scale, char *text)
{
	return ratio_sqrt_format_known(numerator, denominator, scale, RATIO_NDIGITS, text);
}

/* ---- short ratios ---- */

static const uint128 ten16 = 10000000000000000;

/* Sets *significand and *exponent to p / q if that has up to 17 digits, which it often has where q has no other
 * factors than 2 and 5: the mean of 10 values. Returns false where it has more, or may have. */
static bool divides(uint128 p, uint64_t q, uint64_t *significand, int *exponent)
{
	int ntwos = __builtin_ctzll(q), nfives = 0;
	uint64_t factor = 1;

	if (p >= 10 * ten16 || ntwos > 16)
		return false;
	for (q >>= ntwos; q % 5 == 0; q /= 5)
		nfives++;
	if (q != 1 || nfives > 16)
		return false;
	*exponent = ntwos > nfives ? -ntwos : -nfives;
	for (int i = nfives; i < ntwos; i++)
		factor *= 5;
	for (int i = ntwos; i < nfives; i++)
		factor *= 2;
	return !__builtin_mul_overflow((uint64_t)p, factor, significand) && *significand < 10 * ten16;
}

size_t ratio_format_short(bool negative, uint128 numerator, uint64_t denominator, int scale,
			  char *text)
{
	uint128 p = numerator, q = denominator, rest;
	int exponent = -scale, places;
	uint64_t s;

	if (p == 0)
		return write_plain(false, 0, 0, text);
	if (divides(p, denominator, &s, &places))
		return write_plain(negative, s, places - scale, text);
	for (int n = 8; n > 0; n /= 2) /* q < 2^64: nothing leaves 128 bits */
		for (; p < q * decimal_powers[17 - n]; exponent -= n)
			p *= decimal_powers[n];
	if (p >= q * 10 * ten16) /* seldom: a division takes longer */
		for (; p / (10 * ten16) >= q; exponent++)
			q *= 10;
	s = (uint64_t)(p / q);
	rest = 2 * (p - s * q);
	s += rest > q || (rest == q && s % 2 == 1);
	return write_plain(negative, s, exponent, text);
}

/* whole and rest are the quotient and the remainder of 10^2k p / q, with a k that gives the root of
 * whole 17 digits before the point: s. The ratio is then compared with (s + 1/2)^2 = s^2 + s + 1/4, to
 * round s. */
size_t ratio_sqrt_format_short(bool negative, uint128 numerator, uint128 denominator, int scale, char *text)
{
	static const struct {
		int ndigits;
		uint64_t factor;
	} steps[] = {{18, 1000000000000000000}, {4, 10000}, {2, 100}};
	uint128 q = denominator, whole, rest, middle;
	int exponent = -scale / 2;
	uint64_t s;

	if (numerator == 0)
		return write_plain(false, 0, 0, text);
	for (; numerator / q >= 100 * ten16 * ten16; exponent++)
		q *= 100;
	whole = numerator / q;
	rest = numerator % q;
	for (int i = q >> 64 ? 2 : 0; i < 3; i++) {
		uint128 limit = 100 * ten16 * ten16 / steps[i].factor;
		for (; whole < limit; exponent -= steps[i].ndigits / 2) {
			rest *= steps[i].factor; /* below 2^128, as q is below 2^64, or at most 2^120 */
			whole = whole * steps[i].factor + rest / q;
			rest %= q;
		}
	}
	s = integer_root(whole);
	middle = (uint128)s * s + s;
	s += whole > middle || (whole == middle && (4 * rest > q || (4 * rest == q && s % 2 == 1)));
	return write_plain(negative, s, exponent, text);
}
