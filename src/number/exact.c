/* SPDX-License-Identifier: MIT
 *
 * exact.c - see exact.h. The limbs of a long number are added to by GMP (integer.h), in place.
 */
#include "number/exact.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

#include "number/quotient.h"
#include "number/ratio.h"

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
	char digits[WIDE_MAGNITUDE_MAX + WIDE_SCALE_MAX];
	struct decimal_syntax s;
	int64_t wanted;
	size_t n = 0;

	text = decimal_trim(text, &nbytes);
	if (!decimal_tokenize(text, nbytes, &s))
		return STATUS_NOT_A_NUMBER;
	wanted = s.nfraction - s.exponent;
	if (wanted > WIDE_SCALE_MAX || (s.ndigits && s.ndigits - wanted > WIDE_MAGNITUDE_MAX))
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

enum status exact_parse(const char *text, size_t nbytes, struct integer *room, struct exact *x, int *scale)
{
	struct quotient q;
	int places;

	if (nbytes && *text == QUOTIENT_MARK) {
		if (!quotient_parse(text, nbytes, &q))
			return STATUS_NOT_A_NUMBER;
		integer_set(room, q.magnitude);
		room->negative = q.negative;
		places = q.scale;
		*scale = WIDE_SCALE_ROUNDED - q.scale;
	} else {
		TRY(read_decimal(text, nbytes, room, &places));
		*scale = places < 0 ? 0 : places;
	}
	integer_shift(room, -places);
	*x = exact_view(room, places < 0 ? 0 : places);
	return STATUS_OK;
}

bool exact_is_number(const char *text, size_t nbytes)
{
	struct integer room;
	struct exact x;
	int scale;

	return exact_parse(text, nbytes, &room, &x, &scale) == STATUS_OK;
}

bool exact_is_zero(const struct exact *x)
{
	return x->is_long ? x->nlimbs == 0 : x->value == 0;
}

/* Multiplies by 10^n, n >= 0. Returns false where that does not fit. */
static bool lengthen(int128 *x, int n)
{
	if (*x == 0)
		return true;
	for (; n > DECIMAL_NDIGITS; n -= DECIMAL_NDIGITS)
		if (__builtin_mul_overflow(*x, (int128)decimal_powers[DECIMAL_NDIGITS], x))
			return false;
	return !__builtin_mul_overflow(*x, (int128)decimal_powers[n], x);
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
		if (lengthen(&value, nplaces)) {
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
	uint128 low, high;

	TRY(exact_raise(x, scale));
	if (!x->is_long && lengthen(&term, x->scale - scale) && !__builtin_add_overflow(x->value, term, &sum)) {
		x->value = sum;
		return STATUS_OK;
	}
	if (x->scale - scale > DECIMAL_POWER_MAX)
		return exact_add_limbs(x, (unsigned long[]){(unsigned long)magnitude, (unsigned long)(magnitude >> 64)}, 2, significand < 0, scale);
	low = (uint128)(uint64_t)magnitude * decimal_powers[x->scale - scale];
	high = (magnitude >> 64) * decimal_powers[x->scale - scale] + (low >> 64);
	return add_limbs(x, (unsigned long[]){(unsigned long)low, (unsigned long)high, (unsigned long)(high >> 64)}, 3, significand < 0);
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
		memcpy(out->limb, x->limb, (size_t)x->nlimbs * sizeof *x->limb);
	}
	integer_shift(out, x ? places - x->scale : 0);
	integer_round(out, x ? x->scale - places : 0, false); /* which drops zeros */
}

bool exact_to_int128(const struct exact *x, int places, int128 *out)
{
	struct integer n;

	*out = 0;
	if (!x || wide_scale_is_rounded(places))
		return !x;
	if (!x->is_long && places >= x->scale) {
		*out = x->value;
		return lengthen(out, places - x->scale);
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

void exact_to_wide(const struct exact *x, struct wide *out)
{
	struct integer n;

	if (!x->is_long) {
		wide_set_decimal(out, x->value, x->scale);
		return;
	}
	exact_to_integer(x, x->scale, &n);
	wide_set_integer(out, &n, x->scale);
}

int exact_compare(const struct exact *x, const struct exact *y)
{
	const int scale = x->scale > y->scale ? x->scale : y->scale;
	struct integer a, b;
	int128 p = x->value, q = y->value;

	if (!x->is_long && !y->is_long && lengthen(&p, scale - x->scale) && lengthen(&q, scale - y->scale))
		return (p > q) - (p < q);
	exact_to_integer(x, scale, &a);
	exact_to_integer(y, scale, &b);
	return integer_compare(&a, &b);
}

int exact_magnitude(const struct exact *x)
{
	struct integer n;

	exact_to_integer(x, x->scale, &n);
	return integer_is_zero(&n) ? EXACT_MAGNITUDE_OF_0 : integer_ndigits(&n) - x->scale;
}

/* ---- text ---- */

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

	if (wide_scale_is_rounded(scale))
		return write_rounded(x, 1, EXACT_NPLACES_MAX, to);
	if (exact_to_int128(x, scale, &value)) /* several times as fast */
		return decimal_write(to, value, scale);
	exact_to_integer(x, scale, &n);
	return to + integer_format(&n, scale, scale, to);
}

char *exact_write_sum_any(const struct exact *x, int scale, uint64_t count, char *to)
{
	if (wide_scale_is_rounded(scale))
		return write_rounded(x, 1, wide_sum_places(scale, count), to);
	return exact_write_any(x, scale, to);
}

char *exact_write_mean(const struct exact *x, int scale, uint64_t count, char *to)
{
	const bool negative = !x->is_long && x->value < 0;
	struct integer numerator, denominator;

	if (count == 0)
		return to;
	if (wide_scale_is_rounded(scale))
		return write_rounded(x, count, wide_sum_places(scale, count), to);
	if (!x->is_long)
		return to + ratio_format_short(negative, negative ? -(uint128)x->value : (uint128)x->value, count, x->scale, to);
	exact_to_integer(x, x->scale, &numerator);
	integer_set(&denominator, count);
	return to + ratio_format((struct ratio){&numerator, &denominator, x->scale, false}, RATIO_ALL, RATIO_ALL, to);
}
