/* SPDX-License-Identifier: MIT
 *
 * integer.c - see integer.h.
 */
#include "number/integer.h"

#include <gmp.h>

#include "number/decimal_text.h"

#define STEP_NDIGITS 19 /* 10^19 < 2^64 */

_Static_assert(GMP_NUMB_BITS == 64 && sizeof(mp_limb_t) == sizeof(unsigned long), "a limb is a long of 64 bits");

/* The length without zero limbs at the top. */
static int significant(const unsigned long *limb, int nlimbs)
{
	while (nlimbs > 0 && limb[nlimbs - 1] == 0)
		nlimbs--;
	return nlimbs;
}

/* |x| = |x| factor + more, factor > 0 */
static void multiply_add(struct integer *x, uint64_t factor, uint64_t more)
{
	for (int i = 0; i < x->nlimbs; i++) {
		uint128 limb = (uint128)x->limb[i] * factor + more;
		x->limb[i] = (mp_limb_t)limb;
		more = (uint64_t)(limb >> 64);
	}
	if (more)
		x->limb[x->nlimbs++] = more;
}

void integer_set(struct integer *x, uint128 value)
{
	x->negative = false;
	x->limb[0] = (mp_limb_t)value;
	x->limb[1] = (mp_limb_t)(value >> 64);
	x->nlimbs = x->limb[1] ? 2 : x->limb[0] != 0;
}

void integer_set_signed(struct integer *x, int128 value)
{
	integer_set(x, value < 0 ? -(uint128)value : (uint128)value);
	x->negative = value < 0;
}

void integer_set_digits(struct integer *x, const char *digits, size_t n)
{
	integer_set(x, 0);
	for (size_t i = 0, k; i < n; i += k) {
		uint64_t value = 0;
		for (k = 0; k < STEP_NDIGITS && i + k < n; k++)
			value = value * 10 + (uint64_t)(digits[i + k] - '0');
		multiply_add(x, decimal_powers[k], value);
	}
}

void integer_set_words(struct integer *x, const unsigned long *word, int nwords)
{
	x->negative = word[nwords - 1] >> 63;
	if (x->negative)
		mpn_neg(x->limb, word, nwords);
	else
		mpn_copyi(x->limb, word, nwords);
	x->nlimbs = significant(x->limb, nwords);
}

bool integer_to_words(const struct integer *x, unsigned long *word, int nwords)
{
	const bool negative = x->negative && x->nlimbs > 0;

	if (x->nlimbs > nwords)
		return false;
	memset(word, 0, (size_t)nwords * sizeof *word);
	memcpy(word, x->limb, (size_t)x->nlimbs * sizeof *word);
	if (negative)
		mpn_neg(word, word, nwords);
	return word[nwords - 1] >> 63 == negative;
}

static int compare_limbs(const unsigned long *a, int na, const unsigned long *b, int nb)
{
	if (na != nb)
		return na < nb ? -1 : 1;
	return na == 0 ? 0 : mpn_cmp(a, b, na);
}

static int compare_magnitudes(const struct integer *a, const struct integer *b)
{
	return compare_limbs(a->limb, a->nlimbs, b->limb, b->nlimbs);
}

int integer_compare(const struct integer *a, const struct integer *b)
{
	bool a_negative = a->negative && a->nlimbs, b_negative = b->negative && b->nlimbs;
	int order;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	order = a_negative ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
	return (order > 0) - (order < 0);
}

int integer_add_limbs(unsigned long *to, int nto, bool *to_negative, const unsigned long *x, int nx, bool negative)
{
	const bool is_shorter = compare_limbs(to, nto, x, nx) < 0;
	const unsigned long *longer = is_shorter ? x : to, *other = is_shorter ? to : x;
	int n = is_shorter ? nx : nto, nother = is_shorter ? nto : nx;

	if (nx == 0)
		return nto;
	if (n == 1 && nother == 1 && *to_negative != negative) { /* as in most columns */
		to[0] = longer[0] - other[0];
		*to_negative = *to_negative != is_shorter;
		return to[0] != 0;
	}
	if (*to_negative == negative) {
		to[n] = mpn_add(to, longer, n, other, nother);
		return n + (to[n] != 0);
	}
	mpn_sub(to, longer, n, other, nother);
	*to_negative = *to_negative != is_shorter;
	return significant(to, n);
}

void integer_add(struct integer *to, const struct integer *x, bool subtract)
{
	to->nlimbs = integer_add_limbs(to->limb, to->nlimbs, &to->negative, x->limb, x->nlimbs, x->negative != subtract);
}

void integer_multiply(struct integer *product, const struct integer *a, const struct integer *b)
{
	const struct integer *longer = a->nlimbs < b->nlimbs ? b : a, *other = a->nlimbs < b->nlimbs ? a : b;

	product->negative = a->negative != b->negative;
	product->nlimbs = 0;
	if (other->nlimbs == 0)
		return;
	if (longer->nlimbs == 1) {
		const bool negative = product->negative;
		integer_set(product, (uint128)a->limb[0] * b->limb[0]);
		product->negative = negative;
		return;
	}
	mpn_mul(product->limb, longer->limb, longer->nlimbs, other->limb, other->nlimbs);
	product->nlimbs = significant(product->limb, a->nlimbs + b->nlimbs);
}

void integer_multiply_short(struct integer *x, uint64_t factor)
{
	multiply_add(x, factor, 0);
}

void integer_shift(struct integer *x, int ndigits)
{
	for (int n; ndigits > 0 && x->nlimbs; ndigits -= n) {
		n = ndigits < STEP_NDIGITS ? ndigits : STEP_NDIGITS;
		multiply_add(x, decimal_powers[n], 0);
	}
}

uint64_t integer_divide_short(struct integer *x, uint64_t divisor)
{
	uint64_t rest;

	if (divisor == 1 || x->nlimbs == 0)
		return 0;
	rest = mpn_divrem_1(x->limb, 0, x->limb, x->nlimbs, divisor);
	x->nlimbs = significant(x->limb, x->nlimbs);
	return rest;
}

void integer_divide(struct integer *x, const struct integer *divisor, struct integer *quotient)
{
	quotient->negative = x->negative != divisor->negative;
	quotient->nlimbs = 0;
	if (x->nlimbs < divisor->nlimbs)
		return;
	mpn_tdiv_qr(quotient->limb, x->limb, 0, x->limb, x->nlimbs, divisor->limb, divisor->nlimbs);
	quotient->nlimbs = significant(quotient->limb, x->nlimbs - divisor->nlimbs + 1);
	x->nlimbs = significant(x->limb, divisor->nlimbs);
}

static void set_power(struct integer *x, int ndigits)
{
	integer_set(x, 1);
	integer_shift(x, ndigits);
}

void integer_round(struct integer *x, int ndigits, bool has_rest)
{
	const bool negative = x->negative;
	struct integer power, quotient;
	int order;

	if (ndigits <= 0)
		return;
	if (x->nlimbs <= 2) {
		integer_set(x, ndigits > 38 ? 0 : decimal_round_off(integer_low(x), ndigits, has_rest));
		x->negative = negative;
		return;
	}
	set_power(&power, ndigits);
	integer_divide(x, &power, &quotient);
	multiply_add(x, 2, 0);
	order = compare_magnitudes(x, &power);
	if (order > 0 || (order == 0 && (has_rest || (quotient.nlimbs && quotient.limb[0] % 2 == 1))))
		multiply_add(&quotient, 1, 1);
	integer_copy(x, &quotient);
}

/* ---- text ---- */

int integer_digits(const struct integer *x, char *text)
{
	unsigned char digits[INTEGER_NDIGITS + 1];
	mp_limb_t limb[INTEGER_NLIMBS]; /* which are used up */
	int n, nzeros = 0;

	if (x->nlimbs == 0)
		return 0;
	mpn_copyi(limb, x->limb, x->nlimbs);
	n = (int)mpn_get_str(digits, 10, limb, x->nlimbs);
	while (digits[nzeros] == 0)
		nzeros++;
	for (int i = nzeros; i < n; i++)
		text[i - nzeros] = (char)('0' + digits[i]);
	return n - nzeros;
}

int integer_ndigits(const struct integer *x)
{
	struct integer power;
	int n;

	if (x->nlimbs <= 2)
		return decimal_ndigits(integer_low(x));
	n = integer_digits_of_bits(integer_nbits(x) - 1) + 1;
	if (n == integer_digits_of_bits(integer_nbits(x)) + 1)
		return n;
	set_power(&power, n);
	return n + (compare_magnitudes(x, &power) >= 0);
}

size_t integer_format(const struct integer *x, int scale, int least, char *text)
{
	char digits[INTEGER_NDIGITS], *to = text;
	int ndigits = integer_digits(x, digits), nwhole;

	for (; scale > least && (ndigits == 0 || digits[ndigits - 1] == '0'); scale--)
		ndigits -= ndigits > 0;
	nwhole = ndigits - scale; /* of the digits, those before the point */
	if (x->negative && x->nlimbs > 0)
		*to++ = '-';
	if (nwhole <= 0)
		*to++ = '0';
	for (int i = 0; i < nwhole; i++)
		*to++ = digits[i];
	if (scale > 0)
		*to++ = '.';
	for (int i = nwhole; i < ndigits; i++)
		*to++ = i < 0 ? '0' : digits[i];
	*to = '\0';
	return (size_t)(to - text);
}
