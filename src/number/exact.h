/* SPDX-License-Identifier: MIT
 *
 * exact.h - the number that grows: 128 bits while it fits, then GMP's limbs; with a scale, which is the largest of the
 * numbers that were added, so its text depends on those numbers only, not on their order. All sums are made of it: of
 * numbers, of their squares and higher powers, of products, of running totals and windows.
 *
 * Functions that can fail return STATUS_NO_MEMORY, and leave the number's value as it was.
 */
#ifndef GPUSTAT_EXACT_H
#define GPUSTAT_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "number/integer.h"
#include "number/wide.h"

/* Longest text of a sum: sign, 441 digits, point, 405 digits, NUL. */
#define EXACT_TEXT_NBYTES 864

/* Zeroed: 0, owns nothing. */
struct exact {
	union {
		int128 value; /* x 10^scale, unless is_long */
		struct {
			unsigned long *limb; /* of the magnitude, as in struct integer; owned, but by a view */
			int32_t nlimbs, capacity;
		};
	};
	int32_t scale; /* never falls */
	bool is_long;  /* stays */
	bool negative; /* a long one */
};

/* Makes x 0, at scale 0, and frees what it owns. */
void exact_free(struct exact *x);

bool exact_is_zero(const struct exact *x);

/* Gives x a scale of at least `scale`. */
enum status exact_raise(struct exact *x, int scale);

/* x += significand x 10^-scale, scale >= 0 */
enum status exact_add_scaled(struct exact *x, int128 significand, int scale);

/* x += a magnitude of nlimbs limbs, the least significant first, x 10^-scale, or -= one. */
enum status exact_add_limbs(struct exact *x, const unsigned long *limb, int nlimbs, bool negative, int scale);

static inline enum status exact_add_integer(struct exact *x, const struct integer *n, int scale)
{
	return exact_add_limbs(x, n->limb, n->nlimbs, n->negative, scale);
}

/* The number n x 10^-scale, to be read: its limbs are n's. */
struct exact exact_view(struct integer *n, int scale);

/* Parses a number, quotes and blanks around it removed, or what quotient_write wrote, to be read: its limbs are in the room. *scale:
 * the number's, or of one that was rounded (wide.h). Returns STATUS_OK, STATUS_NOT_A_NUMBER, or STATUS_OUT_OF_RANGE. */
enum status exact_parse(const char *text, size_t nbytes, struct integer *room, struct exact *x, int *scale);

/* Whether exact_parse parses that. */
bool exact_is_number(const char *text, size_t nbytes);

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

void exact_to_wide(const struct exact *x, struct wide *out);

/* y's value becomes x's. */
enum status exact_copy(struct exact *x, const struct exact *y);

/* -1, 0 or 1 as x is less than, equal to or greater than y. */
int exact_compare(const struct exact *x, const struct exact *y);

/* Returns m with 10^(m - 1) <= |x| < 10^m; if x is 0, the smallest m that can be. */
#define EXACT_NPLACES_MAX 405 /* more digits after the point than any number has */
#define EXACT_MAGNITUDE_OF_0 (-EXACT_NPLACES_MAX)
int exact_magnitude(const struct exact *x);

/* Writes x in plain decimal, in at most EXACT_TEXT_NBYTES. scale: at least x's, or that of a rounded number (wide.h). No
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

#endif
