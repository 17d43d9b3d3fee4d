/* SPDX-License-Identifier: MIT
 *
 * exact.h - the number that grows: 128 bits while it fits, then GMP's limbs; with a scale, which is the largest of the
 * numbers that were added, so its text depends on those numbers only, not on their order. All sums are made of it: of
 * numbers, of their squares and higher powers, of products, of running totals and windows. So are the numbers that
 * expressions, changes and weighted means compute beyond the fast path of decimal.h.
 *
 * A quotient that does not end is rounded (quotient.h), and so is what is computed of it: a sum is known to the place of its
 * coarsest term, a product to as many digits as its coarsest factor. Where the digits after the 17th, without those that are
 * doubtful, come out as 0, the result is the exact number without them: x / 3 * 3 is x.
 *
 * Functions that can fail return STATUS_NO_MEMORY, and leave the number's value as it was.
 */
#pragma once

#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_arithmetic.h"
#include "number/decimal_text.h"
#include "number/integer.h"

#define EXACT_SCALE_MAX 400     /* digits a field may have after the point */
#define EXACT_MAGNITUDE_MAX 400 /* |x| < 10^400 */

/* Longest text of a sum: sign, 441 digits, point, 405 digits, NUL. */
#define EXACT_TEXT_NBYTES 864

/* Longest text of a quotient: 805 digits and 101 after the point (number/shown.h), or 17 digits and up to 800 zeros; sign, 0, point, NUL. */
#define EXACT_QUOTIENT_NBYTES 928

/* Zeroed: 0, owns nothing. */
struct exact {
	union {
		int128 value; /* x 10^scale, unless is_long */
		struct {
			unsigned long *limb; /* of the magnitude, as in struct integer; owned, but by a view */
			int32_t nlimbs, capacity;
		};
	};
	int32_t scale; /* a sum's never falls; of a rounded number that of its last digit, which may be negative */
	bool is_long;  /* stays */
	bool negative; /* a long one */
	bool is_rounded; /* then it is below 10^QUOTIENT_NDIGITS, and not 0; no sum is */
};

/* What a column keeps as the scale of its numbers is the largest of these: that of a rounded number is above every other's, and
 * the coarser the number, the larger it is. */
#define EXACT_SCALE_ROUNDED (2 * EXACT_SCALE_MAX + 1)
#define EXACT_SCALE_LAST (EXACT_SCALE_ROUNDED + EXACT_MAGNITUDE_MAX)

static inline int exact_kept_scale(const struct exact *x)
{
	return x->is_rounded ? EXACT_SCALE_ROUNDED - x->scale : x->scale;
}

static inline bool exact_scale_is_rounded(int scale)
{
	return scale > EXACT_SCALE_MAX;
}

#define EXACT_NPLACES_MAX 405 /* more digits after the point than any number has */

/* The digits after the point that numbers have at most, of which that is the kept scale. */
static inline int exact_places(int scale)
{
	return exact_scale_is_rounded(scale) ? EXACT_NPLACES_MAX : scale;
}

/* Of the digits of a number that was computed of rounded ones, the last EXACT_NDOUBTFUL may be wrong. */
#define EXACT_NDOUBTFUL 4

/* How many digits after the point are right of a sum of count numbers; scale: the largest that is kept of them, one of which
 * was rounded. Each may be wrong by half of a doubtful digit's reach, and their errors add up. May be negative. */
static inline int exact_sum_places(int scale, uint64_t count)
{
	int places = EXACT_SCALE_ROUNDED - scale - EXACT_NDOUBTFUL;

	for (; count > 0; count /= 10)
		places--;
	return places;
}

/* Makes x 0, at scale 0, and frees what it owns. */
void exact_free(struct exact *x);

bool exact_is_zero(const struct exact *x);

/* Gives x a scale of at least `scale`. */
enum status exact_raise(struct exact *x, int scale);

/* x += significand x 10^-scale, scale >= 0 */
enum status exact_add_scaled(struct exact *x, int128 significand, int scale);

/* x += a magnitude of nlimbs limbs, the least significant first, x 10^-scale, or -= one. */
enum status exact_add_limbs(struct exact *x, const unsigned long *limb, int nlimbs, bool negative, int scale);

/* The number n x 10^-scale, to be read: its limbs are n's. */
struct exact exact_view(struct integer *n, int scale);

/* Parses a number, quotes and blanks around it removed, or what quotient_write wrote, to be read: its limbs are in the room.
 * Returns STATUS_OK, STATUS_NOT_A_NUMBER, or STATUS_OUT_OF_RANGE. */
enum status exact_parse(const char *text, size_t nbytes, struct integer *room, struct exact *x);

/* Whether exact_parse parses that. */
bool exact_is_number(const char *text, size_t nbytes);

static inline bool exact_is_negative(const struct exact *x)
{
	return x->is_long ? x->negative : x->value < 0;
}

/* x = -x */
static inline void exact_negate(struct exact *x)
{
	if (x->is_long)
		x->negative = !x->negative;
	else
		x->value = -x->value;
}

/* x += y */
enum status exact_add(struct exact *x, const struct exact *y);

/* Like exact_add_scaled, with the common case inline: a sum that fits, of a number with no more digits after
 * the point than those before. */
static inline enum status exact_add_decimal(struct exact *x, struct decimal number)
{
	int nplaces = x->scale - number.scale;
	int128 sum, term = number.significand;

	if (x->is_long || nplaces < 0 || nplaces > DECIMAL_NDIGITS)
		return exact_add_scaled(x, number.significand, number.scale);
	if (nplaces > 0)
		term *= decimal_powers[nplaces];
	if (__builtin_add_overflow(x->value, term, &sum))
		return exact_add_scaled(x, number.significand, number.scale);
	x->value = sum;
	return STATUS_OK;
}

/* *out = x x 10^places, which is an integer; 0 if x is NULL. */
void exact_to_integer(const struct exact *x, int places, struct integer *out);

/* The same where it fits; else, or where `places` is the scale of a rounded number, returns false. */
bool exact_to_int128(const struct exact *x, int places, int128 *out);

/* The magnitude of one that is not long. */
static inline uint128 exact_small_magnitude(const struct exact *x)
{
	return x->value < 0 ? -(uint128)x->value : (uint128)x->value;
}

/* y's value becomes x's. */
enum status exact_copy(struct exact *x, const struct exact *y);

/* -1, 0 or 1 as x is less than, equal to or greater than y. */
int exact_compare(const struct exact *x, const struct exact *y);

/* The same, for qsort. */
int exact_order(const void *x, const void *y);

/* Returns m with 10^(m - 1) <= |x| < 10^m; if x is 0, the smallest m that can be. */
#define EXACT_MAGNITUDE_OF_0 (-EXACT_NPLACES_MAX)
int exact_magnitude(const struct exact *x);

/* ---- computing ----
 *
 * Results are numbers to be read. Limbs that they have are in the room, where an operand's must not be. a's and b's scales are those
 * of numbers in range, and a result has the scale that they give it: a sum the larger one, a product both together. */

/* Whether x is in the range of numbers. */
bool exact_is_in_range(const struct exact *x);

/* a + b, and a x b */
struct exact exact_sum(const struct exact *a, const struct exact *b, struct integer *room);
struct exact exact_product(const struct exact *a, const struct exact *b, struct integer *room);

/* *quotient = a / b, b not 0. Returns false where it is beyond the range of numbers. */
bool exact_divide(const struct exact *a, const struct exact *b, struct integer *room, struct exact *quotient);

/* x, which was computed of rounded numbers, or rounded, and is known to its last place, as what its digits say it is: rounded, or
 * exact. x may be in the room. */
struct exact exact_accept(const struct exact *x, struct integer *room);

/* x, rounded half-even to at most nplaces digits after the point; nplaces < 0: to 10^-nplaces, which is then the scale, and
 * functions that do not say so do not take it. x may be in the room. */
struct exact exact_round(const struct exact *x, int nplaces, struct integer *room);

/* x, rounded to nplaces digits after the point; one that was rounded already, if the digits that are left are right: it is exact then;
 * else it stays as it is. nplaces >= 0. x may be in the room. */
struct exact exact_round_to(const struct exact *x, int nplaces, enum decimal_rounding how, struct integer *room);

/* a / b without its fraction, or rounded down; or the rest of a / b, with the sign of a. b is not 0. */
struct exact exact_divide_whole(const struct exact *a, const struct exact *b, enum decimal_rounding how, struct integer *room);
struct exact exact_modulo(const struct exact *a, const struct exact *b, struct integer *room);

/* x, if it was rounded, rounded half-even to digits that are right, RATIO_NDIGITS at most: numbers that are printed alike become
 * equal. */
struct exact exact_settle(const struct exact *x, struct integer *room);

/* ---- text ---- */

/* Writes a computed number, which is in range, in plain decimal with just its scale's digits after the point; a rounded one as
 * quotient_format does. Text, room after it and return as of decimal_write. */
char *exact_write_computed(const struct exact *x, char *to);

/* Writes a / b, b not 0, rounded half-even to 17 significant digits, as ratio_format does, in EXACT_QUOTIENT_NBYTES. Returns the
 * text's end. */
char *exact_write_quotient(const struct exact *a, const struct exact *b, char *to);

/* Writes x in plain decimal, in at most EXACT_TEXT_NBYTES. scale: at least x's, or what is kept of a rounded number's. No
 * terminator. Returns the text's end. */
char *exact_write_any(const struct exact *x, int scale, char *to);

static inline char *exact_write(const struct exact *x, int scale, char *to)
{
	return !x->is_long && scale == x->scale ? decimal_write(to, x->value, scale) : exact_write_any(x, scale, to);
}

/* Like exact_write, for x the sum of count numbers; scale: the largest of theirs. If one of them was rounded, x is rounded
 * half-even to the digits that are right. */
char *exact_write_sum_any(const struct exact *x, int scale, uint64_t count, char *to);

static inline char *exact_write_sum(const struct exact *x, int scale, uint64_t count, char *to)
{
	return !x->is_long && scale == x->scale ? decimal_write(to, x->value, scale) : exact_write_sum_any(x, scale, count, to);
}

/* Writes the mean of count numbers, of which x is the sum, in no more than RATIO_TEXT_NBYTES, as ratio_format does; nothing of
 * none. scale: as above. Returns the text's end. */
char *exact_write_mean(const struct exact *x, int scale, uint64_t count, char *to);
