/* SPDX-License-Identifier: MIT
 *
 * big_decimal.h - exact arithmetic with numbers beyond the fast path of decimal.h: what computed
 * columns are made of where 18 digits do not do.
 *
 * A result has the scale that its operands give it: the larger one of a sum, both together of a
 * product. Numbers are those of wide.h: |x| < 10^400, at most 400 digits after the point.
 *
 * A quotient that does not end is rounded (quotient.h), and so is what is computed of it: a sum is known to the
 * place of its coarsest term, a product to as many digits as its coarsest factor. Where the digits after the
 * 17th, without those that are doubtful, come out as 0, the result is the exact number without them: x / 3 * 3
 * is x.
 */
#ifndef GPUSTAT_BIG_DECIMAL_H
#define GPUSTAT_BIG_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_arithmetic.h"
#include "number/integer.h"
#include "number/wide.h"

/* n x 10^-scale */
struct big_decimal {
	bool is_rounded; /* then n is not 0, and has QUOTIENT_NDIGITS digits at most */
	int scale; /* of an operand 0 .. WIDE_SCALE_MAX, of a rounded one also negative; of a product up to
		    * twice that */
	struct integer n;
};

/* Longest text of a number in range: sign, 400 digits, point, 400 digits, NUL. */
#define BIG_DECIMAL_TEXT_NBYTES 804

/* Longest quotient: 17 digits, up to 800 zeros, sign, 0, point, NUL. */
#define BIG_DECIMAL_QUOTIENT_NBYTES 832

/* Parses a number without quotes around it, in decimal.h's syntax, or what quotient_write wrote.
 * Errors: STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE. */
enum status big_decimal_parse(const char *text, size_t nbytes, struct big_decimal *x);

/* x = d */
void big_decimal_set(struct big_decimal *x, struct decimal d);

/* Whether x is in the range of numbers. */
bool big_decimal_is_in_range(const struct big_decimal *x);

/* a += b; a's and b's scales up to WIDE_SCALE_MAX. b is changed, but for its value. */
void big_decimal_add(struct big_decimal *a, struct big_decimal *b);

/* product = a x b; product is neither. */
void big_decimal_multiply(struct big_decimal *product, const struct big_decimal *a,
			  const struct big_decimal *b);

/* Makes x, which was computed of rounded numbers, or rounded, and is known to its last place, what its digits say it is: rounded,
 * or exact. */
void big_decimal_settle(struct big_decimal *x);

/* -1, 0 or 1 as a is less than, equal to or greater than b, whose scales are changed, not their values. */
int big_decimal_compare(struct big_decimal *a, struct big_decimal *b);

/* Rounds x half-even to at most nplaces digits after the point; nplaces < 0: to 10^-nplaces, which is then
 * what x->scale says, and others do not take. */
void big_decimal_round(struct big_decimal *x, int nplaces);

/* Rounds an exact x to nplaces digits after the point, or one that is rounded if the digits that are left are right: it is exact
 * then; else it stays as it is. nplaces >= 0. */
void big_decimal_round_to(struct big_decimal *x, int nplaces, enum decimal_rounding how);

/* a = a / b without its fraction, or rounded down; or the rest of a / b, with the sign of a. b is not 0, and is changed. */
void big_decimal_divide_whole(struct big_decimal *a, struct big_decimal *b, enum decimal_rounding how);
void big_decimal_modulo(struct big_decimal *a, struct big_decimal *b);

/* Writes a / b, b not 0, rounded half-even to 17 significant digits, as ratio_format does. Returns
 * the text's length. */
size_t big_decimal_divide(const struct big_decimal *a, const struct big_decimal *b,
			  char text[BIG_DECIMAL_QUOTIENT_NBYTES]);

/* *quotient = a / b, b not 0; quotient is neither. Returns false where it is beyond the range of
 * numbers. */
bool big_decimal_quotient(struct big_decimal *quotient, const struct big_decimal *a,
			  const struct big_decimal *b);

/* x, which is rounded, as a quotient, and back. */
void big_decimal_to_quotient(const struct big_decimal *x, struct quotient *q);
void big_decimal_set_quotient(struct big_decimal *x, const struct quotient *q);

/* Sets *out where the fast path holds x; else returns false. */
bool big_decimal_to_decimal(const struct big_decimal *x, struct decimal *out);

/* Writes x, which is in range, in plain decimal with just its scale's digits after the point, -0 as
 * 0, NUL-terminated; a rounded one as quotient_format does. Returns the text's length. */
size_t big_decimal_format(const struct big_decimal *x, char text[BIG_DECIMAL_TEXT_NBYTES]);

#endif
