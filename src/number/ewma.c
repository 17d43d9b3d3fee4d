/* SPDX-License-Identifier: MIT
 *
 * ewma.c - see ewma.h. A weight of up to four digits and values of up to 18 leave the exact step in 128 bits as
 * a rule; what does not fit is computed with integers of any length, to the same digits.
 */
#include "number/ewma.h"

#include <string.h>

#include "number/ratio.h"
#include "number/shown.h"

bool ewma_weight_parse(const char *text, size_t nbytes, struct ewma_weight *w)
{
	struct decimal a;
	int64_t one;

	if (decimal_parse(text, nbytes, &a) != DECIMAL_NUMBER || a.scale > DECIMAL_NDIGITS)
		return false;
	one = (int64_t)decimal_powers[a.scale];
	*w = (struct ewma_weight){.now = a.significand, .before = one - a.significand, .scale = a.scale};
	for (int n = 0; n < 39; n++)
		if (decimal_nbits((uint64_t)a.significand) + decimal_nbits(decimal_power(n)) <= 126)
			w->now_by[n] = (uint64_t)a.significand * decimal_power(n);
	return a.significand > 0 && a.significand <= one;
}

/* Sets y to x 10^-scale, rounded. Returns false where that is not for 128 bits. */
static inline bool set_short(struct ewma *y, int128 x, int scale)
{
	uint128 magnitude = (uint128)(x < 0 ? -x : x);
	const int surplus = decimal_ndigits(magnitude) - EWMA_NDIGITS;

	if (scale > EXACT_SCALE_MAX)
		return false;
	if (surplus > 0) {
		magnitude = decimal_round_off(magnitude, surplus, false);
		scale -= surplus;
	}
	y->magnitude = magnitude;
	y->scale = scale;
	y->negative = x < 0;
	return true;
}

#define STEP_WEIGHT_SCALE_MAX 4 /* the mean has 34 digits: times the weight, and one more, it is below 2^127 */

/* *x *= by, unless that has more than 126 bits, or may have: then returns false. */
static inline bool multiply_short(uint128 *x, uint128 by)
{
	bool fits = decimal_nbits(*x) + decimal_nbits(by) <= 126;

	*x *= by;
	return fits;
}

/* A step in 128 bits; returns false, and changes nothing, where it does not fit. */
static inline bool step_short(struct ewma *y, const struct ewma_weight *w, struct decimal x)
{
	const int scale = y->scale > x.scale ? y->scale : x.scale;
	const int nzeros_before = scale - y->scale, nzeros_now = scale - x.scale;
	uint128 before = y->magnitude * (uint64_t)w->before;
	uint128 now = x.significand < 0 ? -(uint64_t)x.significand : (uint64_t)x.significand;

	if (w->scale > STEP_WEIGHT_SCALE_MAX || nzeros_before > 38 || nzeros_now > 38 || !w->now_by[nzeros_now] ||
	    !multiply_short(&now, w->now_by[nzeros_now]) ||
	    (nzeros_before && !multiply_short(&before, decimal_power(nzeros_before))))
		return false;
	return set_short(y, (y->negative ? -(int128)before : (int128)before) +
				    (x.significand < 0 ? -(int128)now : (int128)now), scale + w->scale);
}

/* ---- the errors of rounded numbers ---- */

/* digits x 10^-scale, which is not 0, rounded up. */
static struct ewma_reach reach_of(uint128 digits, int scale)
{
	const uint64_t limit = decimal_powers[EWMA_REACH_NDIGITS];

	for (; digits < limit / 10; scale++)
		digits *= 10;
	for (; digits >= limit; scale--)
		digits = (digits + 9) / 10;
	if (scale > EWMA_REACH_SCALE_MAX)
		return (struct ewma_reach){(uint32_t)(limit / 10), EWMA_REACH_SCALE_MAX};
	return (struct ewma_reach){(uint32_t)digits, scale};
}

static void weigh_reach(struct ewma_reach *r, int64_t weight, int scale)
{
	*r = r->digits && weight ? reach_of((uint128)r->digits * (uint128)weight, r->scale + scale) : (struct ewma_reach){0, 0};
}

/* a += b */
static void add_reach(struct ewma_reach *a, struct ewma_reach b)
{
	struct ewma_reach coarse = a->scale < b.scale ? *a : b, fine = a->scale < b.scale ? b : *a;

	if (a->digits == 0 || b.digits == 0) {
		*a = a->digits ? *a : b;
		return;
	}
	for (; fine.scale > coarse.scale && fine.digits > 1; fine.scale--)
		fine.digits = (fine.digits + 9) / 10;
	*a = reach_of((uint128)coarse.digits + fine.digits, coarse.scale);
}

/* How many digits after the point are right. */
static int count_places(struct ewma_reach r)
{
	return r.scale - EWMA_REACH_NDIGITS + (r.digits == decimal_powers[EWMA_REACH_NDIGITS - 1]);
}

/* ---- steps of any length ---- */

/* Sets y to x, rounded; of rounded numbers that is an error, too. */
static void set_long(struct ewma *y, const struct exact *x)
{
	int surplus = exact_magnitude(x) + x->scale - EWMA_NDIGITS, beyond = x->scale - EXACT_SCALE_MAX;
	struct integer room;
	struct exact mean;

	surplus = surplus > beyond ? surplus : beyond;
	mean = exact_round(x, surplus > 0 ? x->scale - surplus : x->scale, &room);
	if (surplus > 0 && y->reach.digits)
		add_reach(&y->reach, reach_of(1, mean.scale - 1)); /* half a unit, 20 times */
	y->negative = mean.value < 0;
	y->magnitude = (uint128)(y->negative ? -mean.value : mean.value);
	y->scale = mean.scale;
}

/* A step of any length. */
static __attribute__((noinline)) void step_long(struct ewma *y, const struct ewma_weight *w, const struct exact *x)
{
	const struct exact zero = {.scale = 0}; /* y's scale may be negative */
	const struct exact mean = {.value = y->negative ? -(int128)y->magnitude : (int128)y->magnitude, .scale = y->scale};
	struct integer rooms[4];
	struct exact before = exact_sum(&mean, &zero, &rooms[0]), now;

	before = exact_product(&before, &(struct exact){.value = w->before, .scale = w->scale}, &rooms[1]);
	now = exact_product(x, &(struct exact){.value = w->now, .scale = w->scale}, &rooms[2]);
	now = exact_sum(&now, &before, &rooms[3]);
	set_long(y, &now);
}

void ewma_add(struct ewma *y, const struct ewma_weight *w, struct decimal number, const char *text,
	      size_t nbytes)
{
	struct ewma_reach of_x = {0, 0};
	struct integer room;
	struct exact x = {.value = number.significand, .scale = number.scale};

	if (!text && !y->reach.digits && (y->is_set ? step_short(y, w, number)
				: set_short(y, number.significand, number.scale))) {
		y->is_set = true;
		return;
	}
	if (text && exact_parse(text, nbytes, &room, &x) != STATUS_OK)
		return;
	if (x.is_rounded) /* its last digits are doubtful */
		of_x = reach_of(1, x.scale - EXACT_NDOUBTFUL - 1);
	x.is_rounded = false; /* the mean has a rule of its own */
	if (y->is_set) {
		weigh_reach(&of_x, w->now, w->scale);
		weigh_reach(&y->reach, w->before, w->scale);
	}
	add_reach(&y->reach, of_x);
	if (y->is_set)
		step_long(y, w, &x);
	else
		set_long(y, &x);
	y->is_set = true;
}

/* ---- means after numbers, whatever came before ---- */

uint64_t ewma_memory(const struct ewma_weight *w)
{
	return 150 * decimal_powers[w->scale] / (uint64_t)w->now;
}

void ewma_bounds_begin(struct ewma_bounds *b)
{
	b->high = (struct ewma){.is_set = true, .magnitude = decimal_powers[DECIMAL_NDIGITS]};
	b->low = b->high;
	b->low.negative = true;
}

bool ewma_bounds_meet(const struct ewma_bounds *b)
{
	const struct ewma *x = &b->low, *y = &b->high;

	/* one of all 34 digits has no other scale */
	return x->magnitude == y->magnitude && x->scale == y->scale && x->negative == y->negative &&
	       decimal_ndigits(x->magnitude) == EWMA_NDIGITS && x->magnitude % 10 != 0;
}

bool ewma_is_bounded(const struct ewma *before)
{
	return before->is_set && !before->reach.digits &&
	       decimal_ndigits(before->magnitude) <= DECIMAL_NDIGITS + before->scale;
}

char *ewma_write(const struct ewma *y, struct decimal_writer *d, char to[EWMA_TEXT_NBYTES])
{
	const int places = y->scale - (EWMA_NDIGITS - RATIO_NDIGITS);
	const uint64_t unit = decimal_powers[RATIO_NDIGITS];
	uint128 magnitude = y->magnitude;
	uint64_t s, integer, rest;
	int surplus, doubtful;

	if (!y->is_set)
		return to;
	doubtful = y->reach.digits ? y->scale - count_places(y->reach) : 0;
	if (number_style_nkept(number_shown) >= 0 && doubtful <= 0)
		return to + ratio_write_digits(y->negative, magnitude, y->scale, to);
	if (y->reach.digits || places < 0 || places > 16 || magnitude < unit * (uint128)(unit / 10)) {
		surplus = decimal_ndigits(magnitude) - RATIO_NDIGITS;
		surplus = surplus > doubtful ? surplus : doubtful;
		if (surplus > 0)
			magnitude = surplus > 2 * DECIMAL_NDIGITS ? 0 : decimal_round_off(magnitude, surplus, false);
		return to + ratio_format_short(y->negative, magnitude, 1, y->scale - surplus, to);
	}
	s = decimal_divide_step(magnitude, unit, &rest); /* all 34 digits, as usual */
	s += (rest > unit / 2) | ((rest == unit / 2) & (s & 1));
	if (d->scale != places)
		decimal_writer_set(d, places, 1);
	integer = decimal_writer_integer(d, s);
	*to = '-';
	to = decimal_writer_u64(d, to + y->negative, integer);
	return decimal_write_fraction(to, (s - integer * decimal_powers[places]) * decimal_powers[16 - places]);
}
