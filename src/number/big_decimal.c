/* SPDX-License-Identifier: MIT
 *
 * big_decimal.c - see big_decimal.h.
 */
#include "number/big_decimal.h"

#include "number/decimal_text.h"
#include "number/exact.h"
#include "number/ratio.h"

void big_decimal_set(struct big_decimal *x, struct decimal d)
{
	x->is_rounded = false;
	x->scale = d.scale;
	integer_set_signed(&x->n, d.significand);
}

enum status big_decimal_parse(const char *text, size_t nbytes, struct big_decimal *x)
{
	struct quotient quotient;
	struct decimal d;
	struct exact number;
	int scale;

	if (quotient_parse(text, nbytes, &quotient)) {
		big_decimal_set_quotient(x, &quotient);
		return STATUS_OK;
	}
	if (decimal_parse(text, nbytes, &d) == DECIMAL_NUMBER) {
		big_decimal_set(x, d);
		return STATUS_OK;
	}
	TRY(exact_parse(text, nbytes, &x->n, &number, &scale));
	x->is_rounded = false;
	x->scale = scale;
	return STATUS_OK;
}

bool big_decimal_is_in_range(const struct big_decimal *x)
{
	return x->scale <= WIDE_SCALE_MAX && integer_ndigits(&x->n) - x->scale <= WIDE_MAGNITUDE_MAX;
}

/* Gives both the larger scale. */
static void align(struct big_decimal *a, struct big_decimal *b)
{
	struct big_decimal *coarse = a->scale < b->scale ? a : b;
	int scale = a->scale < b->scale ? b->scale : a->scale;

	integer_shift(&coarse->n, scale - coarse->scale);
	coarse->scale = scale;
}

void big_decimal_round(struct big_decimal *x, int nplaces)
{
	if (nplaces >= x->scale)
		return;
	integer_round(&x->n, x->scale - nplaces, false);
	x->scale = nplaces;
}

/* ---- rounded numbers ---- */

void big_decimal_set_quotient(struct big_decimal *x, const struct quotient *q)
{
	integer_set(&x->n, q->magnitude);
	x->n.negative = q->negative;
	x->is_rounded = q->is_rounded;
	x->scale = q->scale;
	if (!x->is_rounded && x->scale < 0) {
		integer_shift(&x->n, -x->scale);
		x->scale = 0;
	}
}

void big_decimal_to_quotient(const struct big_decimal *x, struct quotient *q)
{
	*q = (struct quotient){x->n.negative, x->is_rounded, x->scale, integer_low(&x->n)};
}

void big_decimal_settle(struct big_decimal *x)
{
	int ndigits = integer_ndigits(&x->n), surplus = ndigits - QUOTIENT_NDIGITS, beyond = x->scale - WIDE_SCALE_MAX;
	struct quotient trusted;
	int nzeros;

	if (beyond > surplus && ndigits - beyond >= RATIO_NDIGITS)
		surplus = beyond;
	big_decimal_round(x, surplus > 0 ? x->scale - surplus : x->scale);
	x->is_rounded = true;
	big_decimal_to_quotient(x, &trusted);
	trusted.magnitude = decimal_round_off(trusted.magnitude, QUOTIENT_NDOUBTFUL, false);
	if (trusted.magnitude % decimal_powers[QUOTIENT_NZEROS] != 0)
		return;
	nzeros = decimal_trim_zeros(&trusted.magnitude);
	if (trusted.magnitude >= decimal_powers[RATIO_NDIGITS])
		return;
	trusted.is_rounded = false;
	trusted.scale = trusted.magnitude ? x->scale - QUOTIENT_NDOUBTFUL - nzeros : 0;
	big_decimal_set_quotient(x, &trusted);
}

void big_decimal_round_to(struct big_decimal *x, int nplaces, enum decimal_rounding how)
{
	struct integer unit, rest;
	bool is_odd;

	if (x->is_rounded && nplaces > x->scale - QUOTIENT_NDOUBTFUL)
		return;
	if (x->is_rounded && how != DECIMAL_HALF_EVEN) /* digits that are wrong are not to decide */
		big_decimal_round(x, x->scale - QUOTIENT_NDOUBTFUL);
	x->is_rounded = false;
	if (how == DECIMAL_HALF_EVEN || nplaces >= x->scale) {
		big_decimal_round(x, nplaces);
		return;
	}
	integer_set(&unit, 1);
	integer_shift(&unit, x->scale - nplaces);
	integer_copy(&rest, &x->n);
	integer_divide(&rest, &unit, &x->n);
	x->scale = nplaces;
	x->n.negative = rest.negative;
	if (integer_is_zero(&rest))
		return;
	rest.negative = false;
	integer_multiply_short(&rest, 2);
	is_odd = integer_low(&x->n) & 1;
	if (!decimal_rounds_up(how, x->n.negative, integer_compare(&rest, &unit), is_odd))
		return;
	integer_set(&unit, 1);
	unit.negative = x->n.negative;
	integer_add(&x->n, &unit, false);
}

/* ---- arithmetic ---- */

void big_decimal_add(struct big_decimal *a, struct big_decimal *b)
{
	bool is_rounded = a->is_rounded || b->is_rounded;
	int places = !b->is_rounded || (a->is_rounded && a->scale < b->scale) ? a->scale : b->scale;

	align(a, b);
	integer_add(&a->n, &b->n, false);
	if (!is_rounded)
		return;
	big_decimal_round(a, places);
	big_decimal_settle(a);
}

/* How many digits of what is computed of a and b are known. */
static int count_known(const struct big_decimal *a, const struct big_decimal *b)
{
	int of_a = a->is_rounded ? integer_ndigits(&a->n) : QUOTIENT_NDIGITS;
	int of_b = b->is_rounded ? integer_ndigits(&b->n) : QUOTIENT_NDIGITS;

	return of_a < of_b ? of_a : of_b;
}

void big_decimal_multiply(struct big_decimal *product, const struct big_decimal *a,
			  const struct big_decimal *b)
{
	integer_multiply(&product->n, &a->n, &b->n);
	product->scale = a->scale + b->scale;
	product->is_rounded = false;
	if (!a->is_rounded && !b->is_rounded)
		return;
	big_decimal_round(product, product->scale - (integer_ndigits(&product->n) - count_known(a, b)));
	big_decimal_settle(product);
}

int big_decimal_compare(struct big_decimal *a, struct big_decimal *b)
{
	align(a, b);
	return integer_compare(&a->n, &b->n);
}

/* a / b */
static struct ratio ratio_of(const struct big_decimal *a, const struct big_decimal *b)
{
	return (struct ratio){&a->n, &b->n, a->scale - b->scale, false};
}

size_t big_decimal_divide(const struct big_decimal *a, const struct big_decimal *b,
			  char text[BIG_DECIMAL_QUOTIENT_NBYTES])
{
	return ratio_format(ratio_of(a, b), RATIO_ALL, RATIO_ALL, text);
}

bool big_decimal_quotient(struct big_decimal *quotient, const struct big_decimal *a,
			  const struct big_decimal *b)
{
	int ndigits = count_known(a, b), exponent;
	struct quotient q = {.negative = a->n.negative != b->n.negative && !integer_is_zero(&a->n)};
	bool is_rounded = a->is_rounded || b->is_rounded, has_rest = false;

	if (!integer_is_zero(&a->n)) {
		has_rest = ratio_digits(ratio_of(a, b), ndigits, &q.magnitude, &exponent);
		q.scale = -exponent;
	}
	if (!is_rounded)
		quotient_finish(&q, has_rest);
	if (q.is_rounded && q.scale > WIDE_SCALE_MAX) { /* there is no room for digits to spare */
		ratio_digits(ratio_of(a, b), RATIO_NDIGITS, &q.magnitude, &exponent);
		q.scale = -exponent;
		quotient_finish(&q, false);
	}
	big_decimal_set_quotient(quotient, &q);
	if (is_rounded)
		big_decimal_settle(quotient);
	return big_decimal_is_in_range(quotient);
}

void big_decimal_divide_whole(struct big_decimal *a, struct big_decimal *b, enum decimal_rounding how)
{
	const bool negative = a->n.negative != b->n.negative;
	struct integer quotient, one;
	struct big_decimal rounded;

	if (a->is_rounded || b->is_rounded) {
		big_decimal_quotient(&rounded, a, b);
		big_decimal_round_to(&rounded, 0, how);
		*a = rounded;
		return;
	}
	align(a, b);
	integer_divide(&a->n, &b->n, &quotient);
	quotient.negative = negative;
	if (how == DECIMAL_DOWN && negative && !integer_is_zero(&a->n)) {
		integer_set(&one, 1);
		integer_add(&quotient, &one, true);
	}
	integer_copy(&a->n, &quotient);
	a->scale = 0;
}

void big_decimal_modulo(struct big_decimal *a, struct big_decimal *b)
{
	const bool negative = a->n.negative;
	struct big_decimal whole, product;
	struct integer quotient;

	if (a->is_rounded || b->is_rounded) {
		whole = *a;
		big_decimal_divide_whole(&whole, b, DECIMAL_TOWARDS_0);
		big_decimal_multiply(&product, &whole, b);
		product.n.negative = !product.n.negative;
		big_decimal_add(a, &product);
		return;
	}
	align(a, b);
	integer_divide(&a->n, &b->n, &quotient);
	a->n.negative = negative;
}

bool big_decimal_to_decimal(const struct big_decimal *x, struct decimal *out)
{
	const int64_t significand = (int64_t)integer_low(&x->n);

	if (x->n.nlimbs > 1 || integer_low(&x->n) >= decimal_powers[DECIMAL_NDIGITS] || x->scale >= DECIMAL_NSCALES)
		return false;
	*out = (struct decimal){x->n.negative ? -significand : significand, x->scale};
	return true;
}

size_t big_decimal_format(const struct big_decimal *x, char text[BIG_DECIMAL_TEXT_NBYTES])
{
	struct quotient quotient;

	if (!x->is_rounded)
		return integer_format(&x->n, x->scale, x->scale, text);
	big_decimal_to_quotient(x, &quotient);
	return quotient_format(&quotient, text);
}
