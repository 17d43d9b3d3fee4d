/* SPDX-License-Identifier: MIT
 *
 * big_decimal.c - see big_decimal.h.
 */
#include "number/big_decimal.h"

#include <string.h>

static const uint32_t powers[NATURAL_LIMB_DIGITS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

/* n /= 10^ndigits, ndigits <= 9; returns the remainder. */
static uint32_t divide_short(struct natural *n, int ndigits)
{
	uint64_t remainder = 0;

	for (int i = n->nlimbs; i-- > 0;) {
		uint64_t x = remainder * NATURAL_LIMB_BASE + n->limb[i];
		n->limb[i] = (uint32_t)(x / powers[ndigits]);
		remainder = x % powers[ndigits];
	}
	while (n->nlimbs > 0 && n->limb[n->nlimbs - 1] == 0)
		n->nlimbs--;
	return (uint32_t)remainder;
}

/* Drops the lowest nlimbs limbs; returns whether one was not 0. */
static bool drop_limbs(struct natural *n, int nlimbs)
{
	bool lost = false;

	if (nlimbs > n->nlimbs)
		nlimbs = n->nlimbs;
	for (int i = 0; i < nlimbs; i++)
		lost |= n->limb[i] != 0;
	n->nlimbs -= nlimbs;
	memmove(n->limb, n->limb + nlimbs, (size_t)n->nlimbs * sizeof *n->limb);
	return lost;
}

static int count_digits(const struct natural *n)
{
	int ndigits = 0;

	if (n->nlimbs == 0)
		return 0;
	while (ndigits < NATURAL_LIMB_DIGITS && n->limb[n->nlimbs - 1] >= powers[ndigits])
		ndigits++;
	return (n->nlimbs - 1) * NATURAL_LIMB_DIGITS + ndigits;
}

int big_decimal_ndigits(const struct big_decimal *x)
{
	return count_digits(&x->n);
}

void big_decimal_set(struct big_decimal *x, struct decimal d)
{
	x->negative = d.significand < 0;
	x->scale = d.scale;
	natural_set(&x->n, (uint128)(x->negative ? -(int128)d.significand : d.significand));
}

enum status big_decimal_parse(const char *text, size_t nbytes, struct big_decimal *x)
{
	const int scale_of_limbs = WIDE_POINT * WIDE_LIMB_DIGITS;
	struct decimal d;
	struct wide wide;
	enum status status;

	if (decimal_parse(text, nbytes, &d) == DECIMAL_NUMBER) {
		big_decimal_set(x, d);
		return STATUS_OK;
	}
	status = wide_parse(text, nbytes, &wide, &x->scale);
	if (status != STATUS_OK)
		return status;
	x->negative = natural_set_limbs(&x->n, wide.limb, WIDE_NLIMBS);
	drop_limbs(&x->n, (scale_of_limbs - x->scale) / NATURAL_LIMB_DIGITS);
	divide_short(&x->n, (scale_of_limbs - x->scale) % NATURAL_LIMB_DIGITS);
	return STATUS_OK;
}

bool big_decimal_is_in_range(const struct big_decimal *x)
{
	return x->scale <= WIDE_SCALE_MAX && count_digits(&x->n) - x->scale <= WIDE_MAGNITUDE_MAX;
}

/* Gives both the larger scale. */
static void align(struct big_decimal *a, struct big_decimal *b)
{
	struct big_decimal *coarse = a->scale < b->scale ? a : b;
	int scale = a->scale < b->scale ? b->scale : a->scale;

	natural_shift(&coarse->n, scale - coarse->scale);
	coarse->scale = scale;
}

void big_decimal_add(struct big_decimal *a, struct big_decimal *b)
{
	align(a, b);
	if (a->negative == b->negative) {
		natural_add(&a->n, &b->n);
	} else if (natural_compare(&a->n, &b->n) >= 0) {
		natural_subtract(&a->n, &b->n);
	} else {
		struct natural n = b->n;
		natural_subtract(&n, &a->n);
		a->n = n;
		a->negative = b->negative;
	}
}

void big_decimal_multiply(struct big_decimal *product, const struct big_decimal *a,
			  const struct big_decimal *b)
{
	natural_multiply(&product->n, &a->n, &b->n);
	product->scale = a->scale + b->scale;
	product->negative = a->negative != b->negative;
}

int big_decimal_compare(struct big_decimal *a, struct big_decimal *b)
{
	bool a_negative = a->negative && a->n.nlimbs, b_negative = b->negative && b->n.nlimbs;
	int order;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	align(a, b);
	order = natural_compare(&a->n, &b->n);
	return a_negative ? -order : order;
}

void big_decimal_round(struct big_decimal *x, int nplaces)
{
	int ndigits = x->scale - nplaces;
	struct natural one;
	uint32_t rest, half;
	bool lost;

	if (ndigits <= 0)
		return;
	x->scale = nplaces;
	/* Leave one to nine digits to the short division, which tells which half they are. */
	lost = drop_limbs(&x->n, (ndigits - 1) / NATURAL_LIMB_DIGITS);
	ndigits = (ndigits - 1) % NATURAL_LIMB_DIGITS + 1;
	rest = divide_short(&x->n, ndigits);
	half = powers[ndigits] / 2;
	if (rest < half || (rest == half && !lost && (x->n.nlimbs == 0 || x->n.limb[0] % 2 == 0)))
		return;
	natural_set(&one, 1);
	natural_add(&x->n, &one);
}

size_t big_decimal_divide(const struct big_decimal *a, const struct big_decimal *b,
			  char text[BIG_DECIMAL_QUOTIENT_NBYTES])
{
	return ratio_format(a->negative != b->negative, &a->n, &b->n, a->scale - b->scale, text);
}

bool big_decimal_to_decimal(const struct big_decimal *x, struct decimal *out)
{
	int64_t significand = 0;

	if (count_digits(&x->n) > DECIMAL_NDIGITS || x->scale >= DECIMAL_NSCALES)
		return false;
	for (int i = x->n.nlimbs; i-- > 0;)
		significand = significand * NATURAL_LIMB_BASE + x->n.limb[i];
	out->significand = x->negative ? -significand : significand;
	out->scale = x->scale;
	return true;
}

/* Writes the digits of n, at least `least` of them. Returns their end. */
static char *write_digits(const struct natural *n, int least, char *to)
{
	int ndigits = count_digits(n);

	for (; least > ndigits; least--)
		*to++ = '0';
	for (int i = ndigits; i-- > 0;)
		*to++ = (char)('0' + n->limb[i / NATURAL_LIMB_DIGITS] /
					     powers[i % NATURAL_LIMB_DIGITS] % 10);
	return to;
}

size_t big_decimal_format(const struct big_decimal *x, char text[BIG_DECIMAL_TEXT_NBYTES])
{
	char *to = text, *point;

	if (x->negative && x->n.nlimbs > 0)
		*to++ = '-';
	to = write_digits(&x->n, x->scale + 1, to);
	if (x->scale > 0) {
		point = to - x->scale;
		memmove(point + 1, point, (size_t)x->scale);
		*point = '.';
		to++;
	}
	*to = '\0';
	return (size_t)(to - text);
}
