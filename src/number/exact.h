/* SPDX-License-Identifier: MIT
 *
 * exact.h - an exact number that grows: 128 bits while it fits, then limbs. Its scale is the largest of the
 * numbers that were added, so its text depends on those numbers only, not on their order.
 */
#ifndef GPUSTAT_EXACT_H
#define GPUSTAT_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "number/wide.h"

/* Zeroed: 0, owns nothing. */
struct exact {
	int scale;          /* never falls; that of a rounded number (wide.h) only if is_long */
	bool is_long;       /* stays until exact_clear or exact_set */
	int128 value;       /* x 10^scale, unless is_long */
	struct wide *limbs; /* the number, if is_long. Owned; NULL until needed */
};

/* Frees what x owns. */
void exact_free(struct exact *x);

/* x = 0, at scale 0. Keeps x's memory. */
void exact_clear(struct exact *x);

/* x = value, which has that scale; short if it fits. Keeps x's memory. Errors: STATUS_NO_MEMORY. */
enum status exact_set(struct exact *x, const struct wide *value, int scale);

/* Makes x long. Errors: STATUS_NO_MEMORY; x is then unchanged, as by all functions below. */
enum status exact_widen(struct exact *x);

/* Gives x a scale of at least `scale`. Errors: as above. */
enum status exact_raise(struct exact *x, int scale);

/* x += y, which has that scale. Errors: as above. */
enum status exact_add_wide(struct exact *x, const struct wide *y, int scale);

/* x += significand x 10^-scale; scale 0 .. WIDE_SCALE_MAX. Errors: as above. */
enum status exact_add_scaled(struct exact *x, int128 significand, int scale);

/* Like exact_add_scaled, with the common case inline: a sum that fits, of a number with no more digits after
 * the point than those before. */
static inline enum status exact_add(struct exact *x, struct decimal number)
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

/* Writes x, one of the numbers that it was given, in plain decimal at its scale. No terminator. Returns the text's end,
 * at most WIDE_TEXT_NBYTES on. */
static inline char *exact_write(const struct exact *x, char *to)
{
	return x->is_long ? to + wide_format(x->limbs, x->scale, to) : decimal_write(to, x->value, x->scale);
}

/* Like exact_write, for x the sum of count numbers. scale: the largest of theirs, if x is long; see
 * wide_format_sum. */
static inline char *exact_write_sum(const struct exact *x, int scale, uint64_t count, char *to)
{
	return x->is_long ? to + wide_format_sum(x->limbs, scale, count, to)
			  : decimal_write(to, x->value, x->scale);
}

/* Writes the mean of count numbers, of which x is the sum, in no more than RATIO_TEXT_NBYTES, as ratio_format does; nothing of
 * none. scale: as above. Returns the text's end. */
char *exact_write_mean(const struct exact *x, int scale, uint64_t count, char *to);

#endif
