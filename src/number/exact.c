/* SPDX-License-Identifier: MIT
 *
 * exact.c - see exact.h. The limbs of a sum are added to by GMP (integer.h), in place.
 */
#include "number/exact.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

#include "number/quotient.h"
#include "number/ratio.h"
#include "number/shown.h"

#define NLIMBS_MIN 4

void exact_free(struct exact *x)
{
	if (x->is_long)
		free(x->limb);
	memset(x, 0, sizeof *x);
}

struct exact exact_view(struct integer *n, int scale)
{
	const uint128 low = integer_low(n);

	if (n->nlimbs > 2 || low > (uint128)DECIMAL_INT128_MAX)
		return (struct exact){.limb = n->limb, .nlimbs = n->nlimbs, .scale = scale, .is_long = true, .negative = n->negative};
	return (struct exact){.value = n->negative ? -(int128)low : (int128)low, .scale = scale};
}

/* Reads a decimal's digits into the room: *scale becomes their places, which may be negative. */
static enum status read_decimal(const char *text, size_t nbytes, struct integer *room, int *scale)
{
	char digits[EXACT_MAGNITUDE_MAX + EXACT_SCALE_MAX];
	struct decimal_syntax s;
	int64_t wanted;
	size_t n = 0;

	text = decimal_trim(text, &nbytes);
	if (!decimal_tokenize(text, nbytes, &s))
		return STATUS_NOT_A_NUMBER;
	wanted = s.nfraction - s.exponent;
	if (wanted > EXACT_SCALE_MAX || (s.ndigits && s.ndigits - wanted > EXACT_MAGNITUDE_MAX))
		return STATUS_OUT_OF_RANGE;
	digits[0] = '0'; /* for GCC 13, which takes it to be read where n is 0 */
	for (; n < (size_t)s.ndigits; text++)
		if (decimal_is_digit(*text) && (n > 0 || *text != '0'))
			digits[n++] = *text;
	integer_set_digits(room, digits, n);
	room->negative = s.negative;
	*scale = n == 0 && wanted < 0 ? 0 : (int)wanted;
	return STATUS_OK;
}

enum status exact_parse(const char *text, size_t nbytes, struct integer *room, struct exact *x)
{
	int scale;

	if (nbytes && *text == QUOTIENT_MARK)
		return quotient_parse(text, nbytes, x) ? STATUS_OK : STATUS_NOT_A_NUMBER;
	TRY(read_decimal(text, nbytes, room, &scale));
	integer_shift(room, -scale);
	*x = exact_view(room, scale < 0 ? 0 : scale);
	return STATUS_OK;
}

bool exact_is_number(const char *text, size_t nbytes)
{
	struct integer room;
	struct exact x;

	return exact_parse(text, nbytes, &room, &x) == STATUS_OK;
}

bool exact_is_zero(const struct exact *x)
{
	return x->is_long ? x->nlimbs == 0 : x->value == 0;
}

/* Gives a long number room for nlimbs. */
static enum status need_limbs(struct exact *x, int nlimbs)
{
	int capacity = nlimbs > 2 * x->capacity ? nlimbs : 2 * x->capacity;
	unsigned long *grown;

	if (nlimbs <= x->capacity)
		return STATUS_OK;
	grown = realloc(x->limb, (size_t)capacity * sizeof *grown);
	NEED(grown);
	x->limb = grown;
	x->capacity = capacity;
	return STATUS_OK;
}

/* Makes x long. */
static enum status widen(struct exact *x)
{
	struct exact grown = {.scale = x->scale, .is_long = true, .negative = x->value < 0};
	struct integer n;

	if (x->is_long)
		return STATUS_OK;
	TRY(need_limbs(&grown, NLIMBS_MIN));
	integer_set_signed(&n, x->value);
	grown.nlimbs = n.nlimbs;
	memcpy(grown.limb, n.limb, sizeof(unsigned long[2]));
	*x = grown;
	return STATUS_OK;
}

enum status exact_raise(struct exact *x, int scale)
{
	int nplaces = scale - x->scale;
	int128 value;

	if (nplaces <= 0)
		return STATUS_OK;
	if (!x->is_long) {
		value = x->value;
		if (decimal_lengthen(&value, nplaces)) {
			x->value = value;
			x->scale = scale;
			return STATUS_OK;
		}
		TRY(widen(x));
	}
	TRY(need_limbs(x, x->nlimbs + nplaces / DECIMAL_POWER_MAX + 1));
	for (int n; nplaces > 0 && x->nlimbs > 0; nplaces -= n) {
		unsigned long top;
		n = nplaces < DECIMAL_POWER_MAX ? nplaces : DECIMAL_POWER_MAX;
		top = mpn_mul_1(x->limb, x->limb, x->nlimbs, decimal_powers[n]);
		if (top)
			x->limb[x->nlimbs++] = top;
	}
	x->scale = scale;
	return STATUS_OK;
}

/* Adds limbs at x's scale. */
static enum status add_limbs(struct exact *x, const unsigned long *limb, int nlimbs, bool negative)
{
	while (nlimbs > 0 && limb[nlimbs - 1] == 0)
		nlimbs--;
	if (nlimbs == 0)
		return STATUS_OK;
	TRY(widen(x));
	TRY(need_limbs(x, (nlimbs > x->nlimbs ? nlimbs : x->nlimbs) + 1));
	x->nlimbs = integer_add_limbs(x->limb, x->nlimbs, &x->negative, limb, nlimbs, negative);
	return STATUS_OK;
}

enum status exact_add_limbs(struct exact *x, const unsigned long *limb, int nlimbs, bool negative, int scale)
{
	struct integer shifted;

	TRY(exact_raise(x, scale));
	if (scale == x->scale)
		return add_limbs(x, limb, nlimbs, negative);
	while (nlimbs > 0 && limb[nlimbs - 1] == 0)
		nlimbs--;
	memcpy(shifted.limb, limb, (size_t)nlimbs * sizeof *limb);
	shifted.nlimbs = nlimbs;
	integer_shift(&shifted, x->scale - scale);
	return add_limbs(x, shifted.limb, shifted.nlimbs, negative);
}

enum status exact_add_scaled(struct exact *x, int128 significand, int scale)
{
	const uint128 magnitude = significand < 0 ? -(uint128)significand : (uint128)significand;
	int128 term = significand, sum;

	TRY(exact_raise(x, scale));
	if (!x->is_long && decimal_lengthen(&term, x->scale - scale) && !__builtin_add_overflow(x->value, term, &sum)) {
		x->value = sum;
		return STATUS_OK;
	}
	return exact_add_limbs(x, (unsigned long[]){(unsigned long)magnitude, (unsigned long)(magnitude >> 64)}, 2, significand < 0, scale);
}

enum status exact_add(struct exact *x, const struct exact *y)
{
	if (y->is_long)
		return exact_add_limbs(x, y->limb, y->nlimbs, y->negative, y->scale);
	return exact_add_scaled(x, y->value, y->scale);
}

void exact_to_integer(const struct exact *x, int places, struct integer *out)
{
	if (!x || !x->is_long) {
		integer_set_signed(out, x ? x->value : 0);
		if (!x || places == x->scale)
			return;
	} else {
		out->nlimbs = x->nlimbs;
		out->negative = x->negative;
		memmove(out->limb, x->limb, (size_t)x->nlimbs * sizeof *x->limb); /* which may be there already */
	}
	integer_shift(out, x ? places - x->scale : 0);
	integer_round(out, x ? x->scale - places : 0, false); /* which drops zeros */
}

bool exact_to_int128(const struct exact *x, int places, int128 *out)
{
	struct integer n;

	*out = 0;
	if (!x || exact_scale_is_rounded(places))
		return !x;
	if (!x->is_long && places >= x->scale) {
		*out = x->value;
		return decimal_lengthen(out, places - x->scale);
	}
	exact_to_integer(x, places, &n);
	*out = (int128)(n.negative ? -integer_low(&n) : integer_low(&n));
	return n.nlimbs <= 2 && integer_low(&n) <= (uint128)DECIMAL_INT128_MAX;
}

enum status exact_copy(struct exact *x, const struct exact *y)
{
	struct exact copy = *y;

	if (y->is_long) {
		copy.limb = malloc((size_t)(y->nlimbs + 1) * sizeof *y->limb);
		NEED(copy.limb);
		copy.capacity = y->nlimbs + 1;
		memcpy(copy.limb, y->limb, (size_t)y->nlimbs * sizeof *y->limb);
	}
	exact_free(x);
	*x = copy;
	return STATUS_OK;
}

int exact_compare(const struct exact *x, const struct exact *y)
{
	const int scale = x->scale > y->scale ? x->scale : y->scale;
	struct integer a, b;
	int128 p = x->value, q = y->value;

	if (!x->is_long && !y->is_long && x->scale == y->scale)
		return (p > q) - (p < q);
	if (!x->is_long && !y->is_long && decimal_lengthen(&p, scale - x->scale) && decimal_lengthen(&q, scale - y->scale))
		return (p > q) - (p < q);
	exact_to_integer(x, scale, &a);
	exact_to_integer(y, scale, &b);
	return integer_compare(&a, &b);
}

int exact_order(const void *x, const void *y)
{
	return exact_compare(x, y);
}

/* How many digits the magnitude x 10^scale has; none of 0. */
static int count_digits(const struct exact *x)
{
	struct integer n;

	if (!x->is_long)
		return decimal_ndigits(exact_small_magnitude(x));
	exact_to_integer(x, x->scale, &n);
	return integer_ndigits(&n);
}

int exact_magnitude(const struct exact *x)
{
	return exact_is_zero(x) ? EXACT_MAGNITUDE_OF_0 : count_digits(x) - x->scale;
}

/* ---- computing ---- */

bool exact_is_in_range(const struct exact *x)
{
	return x->scale <= EXACT_SCALE_MAX && count_digits(x) - x->scale <= EXACT_MAGNITUDE_MAX;
}

struct exact exact_round(const struct exact *x, int nplaces, struct integer *room)
{
	const int ndigits = x->scale - nplaces;
	struct exact rounded = {.scale = nplaces, .is_rounded = x->is_rounded};

	if (ndigits <= 0)
		return *x;
	if (x->is_long) {
		exact_to_integer(x, x->scale, room);
		integer_round(room, ndigits, false);
		rounded = exact_view(room, nplaces);
		rounded.is_rounded = x->is_rounded;
	} else if (ndigits <= 2 * DECIMAL_POWER_MAX) {
		rounded.value = (int128)decimal_round_off(exact_small_magnitude(x), ndigits, false);
		rounded.value = x->value < 0 ? -rounded.value : rounded.value;
	}
	return rounded;
}

/* A number whose scale is negative, with one of 0, unless it was rounded. */
static struct exact with_zeros(const struct exact *x, struct integer *room)
{
	return x->is_rounded || x->scale >= 0 ? *x : exact_sum(x, &(struct exact){.scale = 0}, room);
}

struct exact exact_accept(const struct exact *x, struct integer *room)
{
	const int ndigits = count_digits(x), beyond = x->scale - EXACT_SCALE_MAX;
	int surplus = ndigits - QUOTIENT_NDIGITS, nzeros;
	struct exact known;
	uint128 magnitude;

	if (beyond > surplus && ndigits - beyond >= RATIO_NDIGITS)
		surplus = beyond;
	known = exact_round(x, surplus > 0 ? x->scale - surplus : x->scale, room);
	known.is_rounded = true;
	magnitude = decimal_round_off(exact_small_magnitude(&known), EXACT_NDOUBTFUL, false);
	if (magnitude % decimal_powers[QUOTIENT_NZEROS] != 0)
		return known;
	nzeros = decimal_trim_zeros(&magnitude);
	if (magnitude >= decimal_powers[RATIO_NDIGITS])
		return known;
	known.value = known.value < 0 ? -(int128)magnitude : (int128)magnitude;
	known.scale = magnitude ? known.scale - EXACT_NDOUBTFUL - nzeros : 0;
	known.is_rounded = false;
	return with_zeros(&known, room);
}

struct exact exact_sum(const struct exact *a, const struct exact *b, struct integer *room)
{
	const int scale = a->scale > b->scale ? a->scale : b->scale;
	const int known = !b->is_rounded || (a->is_rounded && a->scale < b->scale) ? a->scale : b->scale;
	struct integer other;
	struct exact sum = {.value = a->value, .scale = scale};
	int128 term = b->value;

	if (a->is_long || b->is_long || !decimal_lengthen(&sum.value, scale - a->scale) || !decimal_lengthen(&term, scale - b->scale) ||
	    __builtin_add_overflow(sum.value, term, &sum.value)) {
		exact_to_integer(a, scale, room);
		exact_to_integer(b, scale, &other);
		integer_add(room, &other, false);
		sum = exact_view(room, scale);
	}
	if (!a->is_rounded && !b->is_rounded)
		return sum;
	sum = exact_round(&sum, known, room);
	return exact_accept(&sum, room);
}

/* How many digits of what is computed of a and b are known. */
static int count_known(const struct exact *a, const struct exact *b)
{
	int of_a = a->is_rounded ? count_digits(a) : QUOTIENT_NDIGITS;
	int of_b = b->is_rounded ? count_digits(b) : QUOTIENT_NDIGITS;

	return of_a < of_b ? of_a : of_b;
}

struct exact exact_product(const struct exact *a, const struct exact *b, struct integer *room)
{
	struct exact product = {.scale = a->scale + b->scale};
	struct integer x, y;

	if (a->is_long || b->is_long || __builtin_mul_overflow(a->value, b->value, &product.value)) {
		exact_to_integer(a, a->scale, &x);
		exact_to_integer(b, b->scale, &y);
		integer_multiply(room, &x, &y);
		product = exact_view(room, product.scale);
	}
	if (!a->is_rounded && !b->is_rounded)
		return product;
	product = exact_round(&product, product.scale - (count_digits(&product) - count_known(a, b)), room);
	return exact_accept(&product, room);
}

bool exact_divide(const struct exact *a, const struct exact *b, struct integer *room, struct exact *quotient)
{
	struct integer numerator, denominator;
	const struct ratio ratio = {&numerator, &denominator, a->scale - b->scale, false};
	const bool is_rounded = a->is_rounded || b->is_rounded;
	bool has_rest = false, negative;
	int exponent = 0;
	uint128 digits = 0;

	exact_to_integer(a, a->scale, &numerator);
	exact_to_integer(b, b->scale, &denominator);
	negative = numerator.negative != denominator.negative;
	if (!integer_is_zero(&numerator))
		has_rest = ratio_digits(ratio, count_known(a, b), &digits, &exponent);
	if (is_rounded)
		*quotient = (struct exact){.value = negative ? -(int128)digits : (int128)digits, .scale = -exponent};
	else
		*quotient = quotient_from_digits(negative, digits, -exponent, has_rest);
	if (quotient->is_rounded && quotient->scale > EXACT_SCALE_MAX) { /* there is no room for digits to spare */
		ratio_digits(ratio, RATIO_NDIGITS, &digits, &exponent);
		*quotient = quotient_from_digits(negative, digits, -exponent, false);
	}
	*quotient = with_zeros(quotient, room);
	if (is_rounded)
		*quotient = exact_accept(quotient, room);
	return exact_is_in_range(quotient);
}

struct exact exact_round_to(const struct exact *x, int nplaces, enum decimal_rounding how, struct integer *room)
{
	struct exact rounded = *x;
	struct integer unit, rest;
	int order;

	if (x->is_rounded && nplaces > x->scale - EXACT_NDOUBTFUL)
		return *x;
	if (x->is_rounded && how != DECIMAL_HALF_EVEN) /* digits that are wrong are not to decide */
		rounded = exact_round(x, x->scale - EXACT_NDOUBTFUL, room);
	rounded.is_rounded = false;
	if (how == DECIMAL_HALF_EVEN || nplaces >= rounded.scale)
		return exact_round(&rounded, nplaces, room);
	exact_to_integer(&rounded, rounded.scale, &rest);
	integer_set(&unit, 1);
	integer_shift(&unit, rounded.scale - nplaces);
	integer_divide(&rest, &unit, room);
	if (!integer_is_zero(&rest)) {
		rest.negative = false;
		integer_multiply_short(&rest, 2);
		order = integer_compare(&rest, &unit);
		integer_set(&unit, decimal_rounds_up(how, room->negative, order, integer_low(room) & 1) != 0);
		integer_add(room, &unit, room->negative);
	}
	return exact_view(room, nplaces);
}

struct exact exact_divide_whole(const struct exact *a, const struct exact *b, enum decimal_rounding how, struct integer *room)
{
	const int scale = a->scale > b->scale ? a->scale : b->scale;
	struct integer rest, divisor, one;
	struct exact quotient;

	if (a->is_rounded || b->is_rounded) {
		exact_divide(a, b, room, &quotient);
		return exact_round_to(&quotient, 0, how, room);
	}
	exact_to_integer(a, scale, &rest);
	exact_to_integer(b, scale, &divisor);
	integer_divide(&rest, &divisor, room);
	integer_set(&one, how == DECIMAL_DOWN && rest.negative != divisor.negative && !integer_is_zero(&rest));
	room->negative = rest.negative != divisor.negative;
	integer_add(room, &one, true);
	return exact_view(room, 0);
}

struct exact exact_modulo(const struct exact *a, const struct exact *b, struct integer *room)
{
	const int scale = a->scale > b->scale ? a->scale : b->scale;
	struct integer other, quotient;
	struct exact product;

	if (a->is_rounded || b->is_rounded) {
		product = exact_divide_whole(a, b, DECIMAL_TOWARDS_0, &quotient);
		product = exact_product(&product, b, &other);
		exact_negate(&product);
		return exact_sum(a, &product, room);
	}
	exact_to_integer(a, scale, room);
	exact_to_integer(b, scale, &other);
	integer_divide(room, &other, &quotient);
	return exact_view(room, scale);
}

struct exact exact_settle(const struct exact *x, struct integer *room)
{
	struct exact settled;

	if (!x->is_rounded)
		return *x;
	settled = exact_round(x, exact_sum_places(exact_kept_scale(x), 1), room);
	settled = exact_round(&settled, settled.scale - (count_digits(&settled) - RATIO_NDIGITS), room);
	settled.is_rounded = false;
	return settled;
}

/* ---- text ---- */

char *exact_write_computed(const struct exact *x, char *to)
{
	return x->is_rounded ? to + quotient_format(x, to) : exact_write(x, x->scale, to);
}

char *exact_write_quotient(const struct exact *a, const struct exact *b, char *to)
{
	struct integer numerator, denominator;

	exact_to_integer(a, a->scale, &numerator);
	exact_to_integer(b, b->scale, &denominator);
	return to + ratio_format((struct ratio){&numerator, &denominator, a->scale - b->scale, false}, RATIO_ALL, RATIO_ALL, to);
}

/* Writes x / divisor, of numbers of which one was rounded, in `places` digits after the point. */
static char *write_rounded(const struct exact *x, uint64_t divisor, int places, char *to)
{
	struct integer n;

	exact_to_integer(x, EXACT_NPLACES_MAX, &n);
	integer_divide_short(&n, divisor);
	return to + quotient_format_sum(&n, EXACT_NPLACES_MAX, false, places, to);
}

char *exact_write_any(const struct exact *x, int scale, char *to)
{
	struct integer n;
	int128 value;

	if (exact_scale_is_rounded(scale))
		return write_rounded(x, 1, EXACT_NPLACES_MAX, to);
	if (exact_to_int128(x, scale, &value)) /* several times as fast */
		return decimal_write(to, value, scale);
	exact_to_integer(x, scale, &n);
	return to + integer_format(&n, scale, scale, to);
}

char *exact_write_sum_any(const struct exact *x, int scale, uint64_t count, char *to)
{
	if (exact_scale_is_rounded(scale))
		return write_rounded(x, 1, exact_sum_places(scale, count), to);
	return exact_write_any(x, scale, to);
}

char *exact_write_mean(const struct exact *x, int scale, uint64_t count, char *to)
{
	struct integer numerator, denominator;

	if (count == 0)
		return to;
	if (exact_scale_is_rounded(scale))
		return write_rounded(x, count, exact_sum_places(scale, count), to);
	if (!x->is_long && !number_shown)
		return to + ratio_format_short(x->value < 0, exact_small_magnitude(x), count, x->scale, to);
	exact_to_integer(x, x->scale, &numerator);
	integer_set(&denominator, count);
	return to + ratio_format((struct ratio){&numerator, &denominator, x->scale, false}, RATIO_ALL, RATIO_ALL, to);
}
