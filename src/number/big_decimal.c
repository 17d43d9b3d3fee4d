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
	x->is_rounded = false;
	x->negative = d.significand < 0;
	x->scale = d.scale;
	natural_set(&x->n, (uint128)(x->negative ? -(int128)d.significand : d.significand));
}

enum status big_decimal_parse(const char *text, size_t nbytes, struct big_decimal *x)
{
	const int scale_of_limbs = WIDE_POINT * WIDE_LIMB_DIGITS;
	struct quotient quotient;
	struct decimal d;
	struct wide wide;
	enum status status;

	if (quotient_parse(text, nbytes, &quotient)) {
		big_decimal_set_quotient(x, &quotient);
		return STATUS_OK;
	}
	if (decimal_parse(text, nbytes, &d) == DECIMAL_NUMBER) {
		big_decimal_set(x, d);
		return STATUS_OK;
	}
	status = wide_parse(text, nbytes, &wide, &x->scale);
	if (status != STATUS_OK)
		return status;
	x->is_rounded = false;
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

/* ---- rounded numbers ---- */

void big_decimal_set_quotient(struct big_decimal *x, const struct quotient *q)
{
	natural_set(&x->n, q->magnitude);
	x->negative = q->negative;
	x->is_rounded = q->is_rounded;
	x->scale = q->scale;
	if (!x->is_rounded && x->scale < 0) {
		natural_shift(&x->n, -x->scale);
		x->scale = 0;
	}
}

void big_decimal_to_quotient(const struct big_decimal *x, struct quotient *q)
{
	*q = (struct quotient){x->negative, x->is_rounded, x->scale, 0};
	for (int i = x->n.nlimbs; i-- > 0;)
		q->magnitude = q->magnitude * NATURAL_LIMB_BASE + x->n.limb[i];
}

/* Zeros at n's end. */
static int count_zeros(const struct natural *n)
{
	int nzeros = 0;

	if (n->nlimbs == 0)
		return 0;
	while (n->limb[nzeros / NATURAL_LIMB_DIGITS] / powers[nzeros % NATURAL_LIMB_DIGITS] % 10 == 0)
		nzeros++;
	return nzeros;
}

/* Makes x exact, without zeros at the end of its fraction. */
static void make_exact(struct big_decimal *x)
{
	int nzeros = count_zeros(&x->n);

	x->is_rounded = false;
	big_decimal_round(x, x->scale - nzeros > 0 ? x->scale - nzeros : 0);
	if (x->scale < 0)
		natural_shift(&x->n, -x->scale);
	if (x->scale < 0 || x->n.nlimbs == 0)
		x->scale = 0;
}

/* Makes x, which was computed of rounded numbers and is known to its last place, what it says it is. */
static void settle(struct big_decimal *x)
{
	int surplus = count_digits(&x->n) - QUOTIENT_NDIGITS, beyond = x->scale - WIDE_SCALE_MAX;
	struct big_decimal trusted;
	int nzeros;

	if (beyond > surplus && count_digits(&x->n) - beyond >= RATIO_NDIGITS)
		surplus = beyond;
	if (surplus > 0)
		big_decimal_round(x, x->scale - surplus);
	x->is_rounded = true;
	trusted = *x;
	big_decimal_round(&trusted, x->scale - QUOTIENT_NDOUBTFUL);
	nzeros = count_zeros(&trusted.n);
	if (trusted.n.nlimbs > 0 &&
	    (nzeros < QUOTIENT_NZEROS || count_digits(&trusted.n) - nzeros > RATIO_NDIGITS))
		return;
	*x = trusted;
	make_exact(x);
}

void big_decimal_trust(struct big_decimal *x, int nplaces)
{
	if (x->is_rounded && nplaces <= x->scale - QUOTIENT_NDOUBTFUL) {
		big_decimal_round(x, nplaces);
		x->is_rounded = false;
	}
}

/* ---- arithmetic ---- */

static void add_exact(struct big_decimal *a, struct big_decimal *b)
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

void big_decimal_add(struct big_decimal *a, struct big_decimal *b)
{
	bool is_rounded = a->is_rounded || b->is_rounded;
	int places = !b->is_rounded || (a->is_rounded && a->scale < b->scale) ? a->scale : b->scale;

	add_exact(a, b);
	if (!is_rounded)
		return;
	big_decimal_round(a, places);
	settle(a);
}

/* How many digits of what is computed of a and b are known. */
static int count_known(const struct big_decimal *a, const struct big_decimal *b)
{
	int of_a = a->is_rounded ? count_digits(&a->n) : QUOTIENT_NDIGITS;
	int of_b = b->is_rounded ? count_digits(&b->n) : QUOTIENT_NDIGITS;

	return of_a < of_b ? of_a : of_b;
}

void big_decimal_multiply(struct big_decimal *product, const struct big_decimal *a,
			  const struct big_decimal *b)
{
	int surplus;

	natural_multiply(&product->n, &a->n, &b->n);
	product->scale = a->scale + b->scale;
	product->negative = a->negative != b->negative;
	product->is_rounded = false;
	if (!a->is_rounded && !b->is_rounded)
		return;
	surplus = count_digits(&product->n) - count_known(a, b);
	if (surplus > 0)
		big_decimal_round(product, product->scale - surplus);
	settle(product);
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

bool big_decimal_quotient(struct big_decimal *quotient, const struct big_decimal *a,
			  const struct big_decimal *b)
{
	int ndigits = count_known(a, b), exponent;
	struct quotient q = {.negative = a->negative != b->negative && a->n.nlimbs > 0};
	bool is_rounded = a->is_rounded || b->is_rounded, has_rest = false;

	if (a->n.nlimbs > 0) {
		has_rest = ratio_digits(&a->n, &b->n, a->scale - b->scale, ndigits, &q.magnitude, &exponent);
		q.scale = -exponent;
	}
	if (!is_rounded)
		quotient_finish(&q, has_rest);
	if (q.is_rounded && q.scale > WIDE_SCALE_MAX) { /* there is no room for digits to spare */
		ratio_digits(&a->n, &b->n, a->scale - b->scale, RATIO_NDIGITS, &q.magnitude, &exponent);
		q.scale = -exponent;
		quotient_finish(&q, false);
	}
	big_decimal_set_quotient(quotient, &q);
	if (is_rounded)
		settle(quotient);
	return big_decimal_is_in_range(quotient);
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
	struct quotient quotient;

	if (x->is_rounded) {
		big_decimal_to_quotient(x, &quotient);
		return quotient_format(&quotient, text);
	}
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
